"""Archive, trim, restore and query: a restored stream equals the archived one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis

from pyspark_penstock.connect.stream_info import ask
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError, OptionError
from pyspark_penstock.jobs import query as queries
from pyspark_penstock.jobs.archive import ArchiveJob, archive, settle, source_options
from pyspark_penstock.jobs.archive_layout import checkpoint_of
from pyspark_penstock.jobs.query import QueryJob, query
from pyspark_penstock.jobs.restore import RestoreJob, restore
from pyspark_penstock.jobs.runner import StopSignal
from pyspark_penstock.jobs.trim import Trimmed
from pyspark_penstock.read.bounds import EARLIEST
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.position_group import PositionGroup
from pyspark_penstock.read.positions import Position
from pyspark_penstock.read.source_options import stream_options
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.compat.processes import ServerProcess

Options = dict[str, str]
DAY_MS = 86_400_000
STEP_MS = DAY_MS // 10
ENTRIES = 40


def fill(client: redis.Redis, first: int = 1, last: int = ENTRIES, stream: str = "in") -> None:
    """Add entries a tenth of a day apart.

    Some of their fields repeat, are empty, or are not UTF-8.
    """
    pipeline: Any = client.pipeline()  # one transaction: no batch can begin between two entries
    for number in range(first, last + 1):
        words: list[Any] = ["n", number, "data", b"\x00\xff\r\n", "", "", "n", number % 3]
        pipeline.execute_command("XADD", stream, f"{number * STEP_MS}-{number % 5}", *words)
    pipeline.execute()


def content(client: redis.Redis, stream: str) -> list[Any]:
    """The entries with their fields as lists; redis-py would make dicts of them."""
    connection: Any = client.connection_pool.get_connection()
    try:
        connection.send_command("XRANGE", stream, "-", "+")
        return list(connection.read_response())
    finally:
        client.connection_pool.release(connection)


def test_a_restored_stream_equals_the_archived_and_trimmed_one(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client)
    before = content(client, "in")
    trims: list[Trimmed] = []
    job = ArchiveJob(("in",), str(tmp_path / "a"), at, trim=True)
    (offset,) = archive(spark, job, on_trim=trims.append)
    assert offset.streams["in"].n == ENTRIES
    assert [trimmed.removed for trimmed in trims] == [ENTRIES]
    assert client.xlen("in") == 0
    days: list[str] = []
    back = RestoreJob(job.to, "in", "again", at)
    assert restore(spark, back, on_day=lambda date, _: days.append(date)) == ENTRIES
    assert days == sorted(days)
    assert len(days) == 5
    assert content(client, "again") == before


@ONE_SERVER
def test_field_names_of_any_bytes_are_restored_exactly(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """Names that are not UTF-8 are also kept as bytes; all entries can be read as text."""
    halves = [b"\xc3", b"1", b"\xa9", b"2"]  # joined they would be one letter
    odd = [b"\xff", b"1", b"a", b"2", b"\xff", b"3", b"\xed\xa0\x80", b"4", b"", b"5", b"\xff", b""]
    plain = ["\N{LATIN SMALL LETTER E WITH ACUTE}", b"\xff", "a,b", "", "", "x"]
    all_words: list[Any] = [odd, plain, halves]
    for number, words in enumerate(all_words, start=1):
        ask(client, "XADD", "in", f"{number}-0", *words)
    before = content(client, "in")
    archive(spark, ArchiveJob(("in",), str(tmp_path), at, trim=True))
    rows = spark.read.parquet(str(tmp_path)).orderBy("id").collect()
    assert [row["names"] is None for row in rows] == [False, True, False]
    assert [field["name"] for field in rows[2]["fields"]] == ["\ufffd", "\ufffd"]
    assert restore(spark, RestoreJob(str(tmp_path), "in", "again", at)) == 3
    assert content(client, "again") == before


@ONE_SERVER
def test_a_stream_whose_name_is_not_utf_8_is_refused_before_it_is_trimmed(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """Two such streams would share a folder."""
    for name in (b"in\xfe", b"in\xff"):
        client.xadd(name, {"n": 1})
    with pytest.raises(OptionError, match=r"stream b'in\\xfe' has a name that is not UTF-8"):
        archive(spark, ArchiveJob(("in*",), str(tmp_path), at, trim=True))
    assert [client.xlen(name) for name in (b"in\xfe", b"in\xff")] == [1, 1]
    assert not list(tmp_path.iterdir())


@ONE_SERVER
def test_a_stream_whose_name_is_not_utf_8_and_that_appears_later_is_not_trimmed(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, last=3)
    job = ArchiveJob(("in*",), str(tmp_path), at, trim=True, every="1 millisecond")

    def add_another(_: Trimmed) -> None:
        client.xadd(b"in\xff", {"n": 1}, id="1-0")

    with pytest.raises(OptionError, match="not UTF-8"):
        archive(spark, job, on_trim=add_another)
    assert client.xlen(b"in\xff") == 1


@ONE_SERVER
@pytest.mark.parametrize(("name", "asked"), [("", ""), ("__HIVE_DEFAULT_PARTITION__", "__HIVE*")])
def test_a_stream_whose_folder_spark_would_read_as_null_is_refused(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path, name: str, asked: str
) -> None:
    """It could not be restored once it is trimmed."""
    client.xadd(name, {"n": 1})
    with pytest.raises(OptionError, match="a name that stands for none"):
        archive(spark, ArchiveJob((asked,), str(tmp_path), at, trim=True))
    assert client.xlen(name) == 1


@ONE_SERVER
@pytest.mark.parametrize("name", ["jobs[1]", "eu,orders"])
def test_an_existing_stream_s_name_is_not_read_as_a_glob_or_a_list(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path, name: str
) -> None:
    """Otherwise other streams would be archived and trimmed."""
    others = ("jobs1", "eu", "orders")
    for stream in (name, *others):
        fill(client, last=3, stream=stream)
    archive(spark, ArchiveJob((name,), str(tmp_path), at, trim=True))
    assert [client.xlen(stream) for stream in (name, *others)] == [0, 3, 3, 3]
    assert restore(spark, RestoreJob(str(tmp_path), name, "again", at)) == 3


def test_the_source_options_of_an_archive_hold_exact_names(
    client: redis.Redis, at: Options
) -> None:
    """The checkpoints of existing archives hold the same options, so they can continue."""
    client.xadd("jobs[1]", {"n": 1})
    for streams, said in (
        (("b", "a,c"), {"subscribe": ["a,c", "b"]}),
        (("jobs[1]",), {"subscribe": ["jobs[1]"]}),
        (("jobs[2]",), {"subscribePattern": "jobs[2]"}),
    ):
        options = stream_options(source_options(ArchiveJob(streams, "x", at)))
        assert options.subscription.source() == said
        assert options.starting.of(streams[0]) == EARLIEST


def test_an_archive_takes_over_another_query_s_group_only_with_group_takeover(
    client: redis.Redis, at: Options
) -> None:
    fill(client, last=1)
    client.xgroup_create("in", "g", "0")
    offset = Offset({}, {"in": Position(EntryId(1, 0), 1)}, "3f9a1c2b")
    job = ArchiveJob(("in",), "x", at, group="g")
    with pytest.raises(OptionError, match="was not made by this query"):
        settle([offset], job, lambda _: None)
    taking = replace(job, group_takeover=True)
    assert stream_options(source_options(taking)).position_group == PositionGroup(
        "g", takeover=True
    )
    settle([offset], taking, lambda _: None)
    assert client.xinfo_groups("in")[0]["last-delivered-id"] == b"1-0"


def test_a_continuous_archive_trims_after_each_batch(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    stop = StopSignal()
    fill(client, last=3)
    left: list[int] = []

    def on_trim(_: Trimmed) -> None:
        left.append(client.xlen("in"))
        if len(left) == 1:
            fill(client, first=4, last=5)
        else:
            stop.ask()

    job = ArchiveJob(("in*",), str(tmp_path), at, trim=True, every="1 millisecond", group="g")
    (offset,) = archive(spark, job, on_trim=on_trim, stop=stop)
    assert offset.streams["in"].n == 5
    assert left[:2] == [0, 0]
    assert client.xlen("in") == 0
    assert client.xinfo_groups("in")[0]["lag"] == 0


@ONE_SERVER
def test_entries_younger_than_keep_are_archived_and_not_trimmed(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, last=3)
    client.xadd("in", {"n": 4})
    archive(spark, ArchiveJob(("in",), str(tmp_path), at, trim=True, keep_ms=DAY_MS))
    assert client.xlen("in") == 1
    assert spark.read.parquet(str(tmp_path)).count() == 4


@pytest.fixture(scope="module")
def first_half(
    spark: SparkSession, server: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of an archive of the first half, and a copy in ``kept`` beside it."""
    folder = tmp_path_factory.mktemp("archived") / "archive"
    with redis.Redis(port=server.port) as client:
        client.flushall()
        fill(client, last=ENTRIES // 2)
    at = {"host": "127.0.0.1", "port": str(server.port)}
    archive(spark, ArchiveJob(("in",), str(folder), at))
    shutil.copytree(folder, folder.with_name("kept"))
    return folder


@pytest.fixture
def archived(first_half: Path, client: redis.Redis) -> str:
    """That folder as it was, for Spark's list of files has their paths; all is in the stream."""
    shutil.rmtree(first_half)
    shutil.copytree(first_half.with_name("kept"), first_half)
    fill(client)
    return str(first_half)


@ONE_SERVER
def test_a_second_run_archives_the_new_entries(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    assert archive(spark, ArchiveJob(("in",), archived, at))[0].streams["in"].n == ENTRIES
    assert sorted(row["id"] for row in spark.read.parquet(archived).collect()) == sorted(
        entry.decode() for entry, _ in xrange(client, "in")
    )


@ONE_SERVER
def test_an_archive_refuses_other_streams(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    fill(client, stream="other")
    with pytest.raises(CheckpointError, match="other"):
        archive(spark, ArchiveJob(("other",), archived, at))


@ONE_SERVER
def test_an_archive_refuses_starting_offsets(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client)
    job = ArchiveJob(("in",), str(tmp_path), at, source={"startingOffsets": "latest"})
    with pytest.raises(OptionError, match="an archive has no 'startingOffsets'"):
        archive(spark, job)


@ONE_SERVER
def test_an_uncommitted_batch_is_read_only_from_the_stream(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """As after a kill between Spark's writes to its log of files and its commit log."""
    folder = str(tmp_path)
    fill(client)
    archive(spark, ArchiveJob(("in",), folder, at))
    fill(client, ENTRIES + 1, ENTRIES + 10)
    archive(spark, ArchiveJob(("in",), folder, at))
    commits = Path(checkpoint_of(folder)) / "commits"
    for name in ("1", ".1.crc"):
        (commits / name).unlink()
    sql = "SELECT count(*) AS n, count(DISTINCT _id) AS ids FROM `in`"
    (row,) = query(spark, QueryJob(sql, at, folder)).collect()
    assert (row.n, row.ids) == (ENTRIES + 10, ENTRIES + 10)


def test_one_table_has_the_archive_and_the_live_stream(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    job = QueryJob("SELECT count(*), count(DISTINCT _id), sum(n) FROM in", at, archived)
    client.xtrim(
        "in", minid=f"{ENTRIES // 4 * STEP_MS}"
    )  # some entries are in both, some in one only
    total = sum(number % 3 for number in range(1, ENTRIES + 1))
    assert tuple(query(spark, job).first() or ()) == (ENTRIES, ENTRIES, total)


@ONE_SERVER
def test_a_query_sees_entries_that_are_archived_and_trimmed_while_it_runs(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    begun: list[int] = []
    build = queries.query_from

    def build_before_a_trim(
        spark: SparkSession, job: QueryJob, positions: queries.Positions
    ) -> DataFrame:
        frame = build(spark, job, positions)
        begun.append(positions["in"].n)
        archive(spark, ArchiveJob(("in",), archived, at, trim=True))
        return frame

    monkeypatch.setattr(queries, "query_from", build_before_a_trim)
    sql = "SELECT count(*), count(DISTINCT _id) FROM in"
    _, ((count, ids),) = queries.answer(spark, QueryJob(sql, at, archived))
    assert (count, ids, begun) == (ENTRIES, ENTRIES, [ENTRIES // 2, ENTRIES])


@ONE_SERVER
def test_types_are_inferred_from_the_archive_if_the_stream_is_gone(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    client.delete("in")
    answer = query(spark, QueryJob("SELECT * FROM in", at, archived))
    assert dict(answer.dtypes)["n"] == "bigint"
    assert dict(answer.dtypes)["data"] == "binary"
    assert answer.count() == ENTRIES // 2


@ONE_SERVER
def test_types_can_be_given(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    job = QueryJob("SELECT * FROM in", at, archived, {"in": "n string"})
    assert [name for name, _ in query(spark, job).dtypes] == ["_stream", "_id", "_ts", "n"]


def test_entries_and_views_of_the_server_are_tables(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    client.xadd("in", {"n": "7"}, id="5-1")
    client.xgroup_create("in", "g", id="0")
    client.xreadgroup("g", "ann", {"in": ">"})
    sql = "SELECT e.id, e.fields['n'], p.consumer FROM entries e JOIN pending p ON e.id = p.id"
    assert [tuple(row) for row in query(spark, QueryJob(sql, at)).collect()] == [
        ("5-1", "7", "ann")
    ]


@ONE_SERVER
def test_a_stream_name_can_be_quoted_in_backticks(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    client.xadd("eu:orders-1", {"n": 3})
    job = QueryJob("SELECT n FROM `eu:orders-1`", at)
    assert [row["n"] for row in query(spark, job).collect()] == [3]


@ONE_SERVER
def test_a_part_of_an_archive_can_be_restored_by_time(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    job = RestoreJob(archived, "in", "part", at, from_ms=DAY_MS, to_ms=2 * DAY_MS)
    assert restore(spark, job) == 10
    assert [entry for entry, _ in content(client, "part")] == [
        entry for entry, _ in content(client, "in")[9:19]
    ]


def test_an_interrupted_restore_continues_with_resume(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str
) -> None:
    job = RestoreJob(archived, "in", "again", at)
    fill(client, last=7, stream="again")
    with pytest.raises(OptionError, match="--resume"):
        restore(spark, job)
    resumed = RestoreJob(archived, "in", "again", at, resume=True)
    assert restore(spark, resumed) == ENTRIES // 2 - 7
    assert content(client, "again") == content(client, "in")[: ENTRIES // 2]


@ONE_SERVER
def test_a_folder_without_that_archive_or_stream_is_refused(
    spark: SparkSession, client: redis.Redis, at: Options, archived: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match="no such entries of stream 'other'"):
        restore(spark, RestoreJob(archived, "other", "again", at))
    with pytest.raises(OptionError, match="is not an archive"):
        restore(spark, RestoreJob(str(tmp_path / "nowhere"), "in", "again", at))
