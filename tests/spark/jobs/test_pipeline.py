"""Pipelines from streams through SQL or a Python function to a stream."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
from pyspark.errors import AnalysisException

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import DataLossError, OptionError
from pyspark_penstock.jobs import pipeline
from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.job_file import PipelineJob, job_of, read_job
from pyspark_penstock.jobs.progress import Report, progress_of
from pyspark_penstock.jobs.runner import StopSignal
from pyspark_penstock.jobs.session import FILE_MANAGER, WITHOUT_PROCESSES, quick_checkpoint
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.positions import Position
from tests.spark.documented import PIPELINE, block
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Options = dict[str, str]

# One server is enough: the tests of source and sink run with both.
pytestmark = ONE_SERVER


def job_in(folder: Path, at: Options, **changes: Any) -> PipelineJob:
    """A job that reads the stream ``in``, doubles ``n``, and writes the stream ``out``."""
    data: dict[str, Any] = {
        "checkpoint": str(folder / "checkpoint"),
        "source": {
            "numbers": {
                "subscribe": "in",
                "startingOffsets": "earliest",
                "schema": "n int, _ts timestamp",
                "group": "spark",
            }
        },
        "sql": {"text": "SELECT n * 2 AS n FROM numbers"},
        "sink": {"stream": "out"},
        "trigger": {"once": True},
    }
    return job_of(data | changes, folder / "job.toml", at)


def fill(client: redis.Redis, *numbers: int) -> None:
    for n in numbers:
        client.xadd("in", {"n": n}, id=f"{n * 1000}-0")


def numbers(client: redis.Redis, stream: str = "out") -> list[int]:
    return sorted(int(fields[b"n"]) for _, fields in xrange(client, stream))


def group(client: redis.Redis) -> tuple[bytes, int]:
    (found,) = client.xinfo_groups("in")
    return found["last-delivered-id"], found["lag"]


def test_the_documented_job_file_runs(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """Only the server and the folder differ from the docs, and it ends."""
    for second, kind, size in ((1, ".py", 5), (1, ".py", 6), (1, ".h", 1), (2, ".h", 2)):
        client.xadd("files", {"kind": kind, "size": size}, id=f"{second}000-*")
    text = block(PIPELINE, "checkpoint =").replace("/var/lib/penstock", str(tmp_path))
    (tmp_path / "job.toml").write_text(text)
    job = replace(read_job(tmp_path / "job.toml", at), once=True)
    pipeline.run(spark, job)
    written = [
        (row[b"kind"], row[b"files"], row[b"bytes"]) for _, row in xrange(client, "files-by-kind")
    ]
    assert sorted(written) == [(b".h", b"1", b"1"), (b".py", b"2", b"11")]
    assert [found["name"] for found in client.xinfo_groups("files")] == [b"by-kind"]


def test_sql_from_stream_to_stream_moves_the_group(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1, 2, 3)
    reports: list[Report] = []
    (offset,) = pipeline.run(spark, job_in(tmp_path, at), on_batch=reports.append)
    assert numbers(client) == [2, 4, 6]
    assert offset.streams["in"].n == 3
    assert [p.entries for report in reports for p in progress_of(report)] == [3]
    assert group(client) == (b"3000-0", 0)


@pytest.mark.usefixtures("server")
def test_a_checkpoint_of_this_machine_is_written_without_processes(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As it is set for these tests, too. Elsewhere Spark's own way stays, and a user's setting."""
    before = spark.conf.get(FILE_MANAGER)
    assert before == WITHOUT_PROCESSES
    try:
        spark.conf.unset(FILE_MANAGER)
        quick_checkpoint(spark, "hdfs://127.0.0.1:1/checkpoint")
        assert spark.conf.get(FILE_MANAGER, None) is None
        quick_checkpoint(spark, str(tmp_path))
        assert spark.conf.get(FILE_MANAGER) == WITHOUT_PROCESSES
        quick_checkpoint(spark, "hdfs://127.0.0.1:1/checkpoint")
        assert spark.conf.get(FILE_MANAGER, None) is None
        spark.conf.set(FILE_MANAGER, "a.users.own")
        quick_checkpoint(spark, str(tmp_path))
        assert spark.conf.get(FILE_MANAGER) == "a.users.own"
    finally:
        spark.conf.set(FILE_MANAGER, before)


def test_a_second_run_continues_and_an_idle_one_still_moves_the_group(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    job = job_in(tmp_path, at)
    fill(client, 1, 2)
    pipeline.run(spark, job)
    fill(client, 3)
    pipeline.run(spark, job)
    assert numbers(client) == [2, 4, 6]
    client.xgroup_setid("in", "spark", "0")
    pipeline.run(spark, job)
    assert group(client) == (b"3000-0", 0)


def test_a_job_can_run_in_another_thread(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1, 2)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(pipeline.run, spark, job_in(tmp_path, at)).result()
    assert numbers(client) == [2, 4]


def test_a_window_is_written_when_it_has_ended(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1, 2, 3, 11, 21)
    job = job_in(tmp_path, at, sql={"text": "SELECT sum(n) AS n FROM numbers "
                                            "GROUP BY window(_ts, '10 seconds')"})  # fmt: skip
    source = replace(job.sources[0], watermark="0 seconds")
    pipeline.run(spark, replace(job, sources=(source,)))
    assert numbers(client) == [6, 11]


def test_a_job_can_call_a_function_of_a_module_beside_its_file(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "")
    (tmp_path / "minus.py").write_text("def negated(numbers):\n  return numbers.selectExpr('-n n')")
    job = replace(job_in(tmp_path, at), sql="", python="minus:negated")
    fill(client, 1, 2)
    pipeline.run(spark, job)
    assert numbers(client) == [-2, -1]
    with pytest.raises(UsageError, match="nothing"):
        pipeline.run(spark, replace(job, python="minus:nothing"))
    with pytest.raises(UsageError, match="module:function"):
        pipeline.run(spark, replace(job, python="minus"))


def test_a_static_table_can_be_joined(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    spark.sql("SELECT 2 AS n, 'two' AS name").write.parquet(str(tmp_path / "names"))
    job = job_in(tmp_path, at, sql={"text": "SELECT * FROM numbers JOIN names USING (n)"})
    names = job_in(tmp_path, at, source={
        "x": {"subscribe": "in"},
        "names": {"format": "parquet", "static": True, "path": str(tmp_path / "names")},
    }).sources[1]  # fmt: skip
    fill(client, 1, 2)
    pipeline.run(spark, replace(job, sources=(*job.sources, names)))
    ((_, fields),) = xrange(client, "out")
    assert fields == {b"n": b"2", b"name": b"two"}


def test_a_continuous_job_ends_at_a_signal(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    stop = StopSignal()
    fill(client, 1)

    def after_batch(report: Report) -> None:
        if len(numbers(client)) == 1:
            fill(client, 2)
        else:
            signal.raise_signal(signal.SIGINT)

    job = replace(job_in(tmp_path, at), once=False)
    with stop.on_signals():
        (offset,) = pipeline.run(spark, job, on_batch=after_batch, stop=stop)
    assert numbers(client) == [2, 4]
    assert offset.streams["in"].n == 2
    assert group(client)[1] == 0


def test_lost_entries_raise_data_loss_error(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1, 2)
    pipeline.run(spark, job_in(tmp_path, at))
    fill(client, 3, 4, 5)
    client.xtrim("in", maxlen=1, approximate=False)
    with pytest.raises(DataLossError, match="2 entries after 2000-0"):
        pipeline.run(spark, job_in(tmp_path, at))


def test_a_group_is_moved_on_the_server_of_its_source(
    client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """The job's own server may have another group of that name."""
    fill(client, 1, 2)
    source = {"subscribe": "in", "Group": "spark", **at}
    job = job_in(tmp_path, {"bootstrap.servers": "127.0.0.1:1"}, source={"numbers": source})
    offset = Offset({"subscribe": ["in"]}, {"in": Position(EntryId(1000, 0), 1)})
    pipeline.publish_groups(job, [offset])
    assert group(client) == (b"1000-0", 1)


def test_groups_of_two_sources_with_the_same_stream_are_not_moved(
    client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """An offset does not name the server of its streams. The readers move such groups."""
    fill(client, 1)
    sources = {name: {"subscribe": "in", "group": name} for name in ("left", "right")}
    offset = Offset({"subscribe": ["in"]}, {"in": Position(EntryId(1000, 0), 1)})
    pipeline.publish_groups(job_in(tmp_path, at, source=sources), [offset])
    assert not client.xinfo_groups("in")


def test_a_dry_run_refuses_another_query_s_group(
    client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1)
    job = job_in(tmp_path, at)
    offset = Offset({"subscribe": ["in"]}, {"in": Position(EntryId(1000, 0), 1)}, "3f9a1c2b")
    pipeline.publish_groups(job, [offset])
    pipeline.check_groups(job, [offset])
    with pytest.raises(OptionError, match="is another query's"):  # without the checkpoint
        pipeline.check_groups(job, [])
    source = {"subscribe": "in", "group": "spark", "groupTakeover": True}
    pipeline.check_groups(job_in(tmp_path, at, source={"numbers": source}), [])


def test_from_needs_a_new_checkpoint(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1, 2, 3)
    job = pipeline.starting_from(job_in(tmp_path, at), spark, "2500")
    pipeline.run(spark, job)
    assert numbers(client) == [6]
    with pytest.raises(UsageError, match="new checkpoint"):
        pipeline.starting_from(job, spark, "earliest")


def test_a_plan_checks_the_job_and_starts_nothing(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1)
    job = job_in(tmp_path, at)
    found = pipeline.plan(spark, job)
    assert (found.schema, found.resumes) == ("n int", False)
    assert not client.exists("out")
    assert not Path(job.checkpoint).exists()
    bad = replace(job, sink=replace(job.sink, options={**job.sink.options, "maxLem": "3"}))
    with pytest.raises(OptionError, match="did you mean 'maxLen'"):
        pipeline.plan(spark, bad)
    with pytest.raises(UsageError, match="every='soon' must be a time"):
        pipeline.plan(spark, replace(job, once=False, every="soon"))
    assert "writeStream.start" not in found.explained
    assert "SubqueryAlias numbers" in found.explained


@pytest.mark.parametrize(
    ("source", "sql", "sink", "error"),
    [
        ({}, "SELECT n FROM numbers", {}, "which stream"),
        ({}, "SELECT array(n) AS a FROM numbers", {"stream": "out"}, "write to_json"),
        ({"schema": "x array<int>"}, "SELECT 1 AS n FROM numbers", {"stream": "out"}, "from_json"),
        ({"columnNameOfCorruptRecord": "c"}, "SELECT n FROM numbers", {"stream": "out"}, "no such"),
        ({}, "SELECT n FROM numbers", {"stream": "out", "txnAppId": "a", "txnVersion": "1"},
         "is for batch writes"),
        ({}, "SELECT count(*) AS n FROM numbers", {"stream": "out"}, "[Aa]ppend"),
        ({}, "SELECT 1 AS n", {"stream": "out"}, "streaming"),
    ],
)  # fmt: skip
def test_a_plan_refuses_what_a_run_would_refuse(
    spark: SparkSession, at: Options, tmp_path: Path,
    source: Options, sql: str, sink: Options, error: str,
) -> None:  # fmt: skip
    numbers = {"subscribe": "in", "schema": "n int"} | source
    changes = {"source": {"numbers": numbers}, "sql": {"text": sql}, "sink": {"x": "y"} | sink}
    job = job_in(tmp_path, at, **changes)
    options = {name: value for name, value in job.sink.options.items() if name != "x"}
    with pytest.raises((OptionError, UsageError, AnalysisException), match=error):
        pipeline.plan(spark, replace(job, sink=replace(job.sink, options=options)))


@pytest.mark.parametrize(
    ("static", "option", "error"),
    [
        (False, {"maxOfsetsPerTrigger": "1"}, "did you mean 'maxOffsetsPerTrigger'"),
        (True, {"maxOffsetsPerTrigger": "1"}, "it is one for stream reading"),
    ],
)
def test_source_options_are_checked_for_batch_or_stream_reading(
    at: Options, tmp_path: Path, static: bool, option: Options, error: str
) -> None:
    job = job_in(tmp_path, at)
    source = replace(job.sources[0], static=static, options={**at, "subscribe": "in", **option})
    with pytest.raises(OptionError, match=error):
        pipeline.check_options(replace(job, sources=(source,)))
