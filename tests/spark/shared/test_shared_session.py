"""Queries that share a consumer group, through a Spark session."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
from pyspark.errors import StreamingQueryException

from pyspark_penstock.errors import DataLossError, OptionError, kind_of
from pyspark_penstock.jobs.job_file import PipelineJob, Sink, Source
from pyspark_penstock.jobs.pipeline import run as run_job
from pyspark_penstock.jobs.progress import progress_of
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange, xreadgroup

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

GROUP = "workers"
SHARED = {"subscribe": "in", "startingOffsets": "earliest", "group": GROUP, "groupMode": "shared"}


def fill(client: redis.Redis, *values: int) -> None:
    for i in values:
        client.xadd("in", {"i": i})


def frame_of(spark: SparkSession, at: dict[str, str], **options: str) -> DataFrame:
    reader = spark.readStream.format("penstock").options(**(SHARED | at | options))
    return reader.schema("i long").load()


def run(frame: DataFrame, at: dict[str, str], checkpoint: Path) -> StreamingQuery:
    """Write a frame to the stream ``out`` until nothing is left to read."""
    writer = frame.writeStream.format("penstock").options(**at, stream="out")
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination()
    return query


def written(client: redis.Redis) -> Counter[int]:
    return Counter(int(fields[b"i"]) for _, fields in xrange(client, "out"))


def pending(client: redis.Redis) -> int:
    (group,) = client.xinfo_groups("in")
    return int(group["pending"])


def test_available_now_acknowledges_its_last_batch_too(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """Spark commits a batch when it plans the next one, and it also plans one after the last."""
    fill(client, *range(25))
    query = run(frame_of(spark, at, maxOffsetsPerTrigger="10"), at, tmp_path)
    assert [progress["numInputRows"] for progress in query.recentProgress] == [10, 10, 5]
    assert written(client) == Counter(range(25))
    assert (pending(client), client.xinfo_consumers("in", GROUP)) == (0, [])


def test_a_restart_continues_beside_another_consumer(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    fill(client, *range(10))
    run(frame_of(spark, at), at, tmp_path)
    fill(client, *range(10, 15))
    client.xreadgroup(GROUP, "rival", {"in": ">"}, 2)
    run(frame_of(spark, at), at, tmp_path)
    assert written(client) == Counter([*range(10), 12, 13, 14])
    assert pending(client) == 2


def test_a_failed_batch_is_replayed_with_its_entries_and_then_acknowledged(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """Others keep reading meanwhile. While a batch runs, only its entries are pending."""
    fill(client, *range(10))
    seen: list[tuple[int, list[int], int]] = []

    def see(batch: DataFrame, number: int) -> None:
        seen.append((number, sorted(row.i for row in batch.collect()), pending(client)))
        if [number for number, *_ in seen] == [0, 1]:
            ((_, ((entry, _),)),) = xreadgroup(client, GROUP, "rival", "in", 1)
            client.xack("in", GROUP, entry)
            raise RuntimeError("not this time")

    writer = frame_of(spark, at, maxOffsetsPerTrigger="4").writeStream.foreachBatch(see)
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    with pytest.raises(StreamingQueryException, match="not this time"):
        writer.start().awaitTermination()
    writer.start().awaitTermination()
    assert seen == [
        (0, [0, 1, 2, 3], 4), (1, [4, 5, 6, 7], 4), (1, [4, 5, 6, 7], 4), (2, [9], 1),
    ]  # fmt: skip
    assert pending(client) == 0


@ONE_SERVER
def test_a_batch_acknowledged_before_its_replay_fails_with_the_count(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """As with a checkpoint that is older than the last acknowledgement."""
    fill(client, *range(5))
    run(frame_of(spark, at), at, tmp_path)
    for name in ("0", ".0.crc"):
        (tmp_path / "commits" / name).unlink()
    with pytest.raises(StreamingQueryException) as caught:
        run(frame_of(spark, at), at, tmp_path)
    assert "5 of 5 entries" in str(caught.value)
    assert kind_of(str(caught.value)) is DataLossError


@ONE_SERVER
def test_a_job_shares_a_group_and_reports_its_lag(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """The job must not move the group, which would take entries from other consumers."""
    fill(client, *range(10))
    source = Source("in", SHARED | at | {"maxOffsetsPerTrigger": "6"}, schema="i long")
    sink = Sink(at | {"stream": "out"})
    job = PipelineJob(
        "copy", tmp_path, str(tmp_path / "checkpoint"), (source,), sink, at,
        sql="SELECT i FROM in", once=True,
    )  # fmt: skip
    lines: list[tuple[str, int, int | None]] = []
    run_job(
        spark, job,
        on_batch=lambda report: lines.extend(
            (found.stream, found.entries, found.lag) for found in progress_of(report)
        ),
    )  # fmt: skip
    assert lines == [("in", 6, 4), ("in", 4, 0)]
    assert written(client) == Counter(range(10))
    assert client.xinfo_groups("in")[0]["entries-read"] == 10


@ONE_SERVER
def test_contradictory_options_are_refused(
    spark: SparkSession, at: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(StreamingQueryException) as caught:
        run(frame_of(spark, at, maxBytesPerTrigger="5"), at, tmp_path)
    assert "'maxBytesPerTrigger' contradicts" in str(caught.value)
    assert kind_of(str(caught.value)) is OptionError
