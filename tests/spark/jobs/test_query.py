"""SQL over streams and archives, also while the archive is trimmed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import redis

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.jobs import query as queries
from pyspark_penstock.jobs.failures import JobError
from pyspark_penstock.jobs.query import QueryJob, archived_field_types, mentioned, query
from pyspark_penstock.read.positions import Position
from tests.spark.marks import ONE_SERVER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_stream_can_be_used_twice_with_different_filters(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    for n in range(1, 7):
        client.xadd("orders", {"n": n}, id=f"{n}000-0")
    sql = """
        SELECT n FROM orders WHERE _ts < timestamp_millis(3000)
        UNION ALL SELECT n FROM orders WHERE _ts >= timestamp_millis(5000) ORDER BY n
    """
    assert [row.n for row in query(spark, QueryJob(sql, at)).collect()] == [1, 2, 5, 6]


@ONE_SERVER
@pytest.mark.parametrize("name", ["eu,orders", " orders "])
def test_a_table_name_is_not_split_or_stripped(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], name: str
) -> None:
    client.xadd(name, {"n": 1})
    client.xadd("eu", {"n": 2})
    client.xadd("orders", {"n": 3})
    assert [row.n for row in query(spark, QueryJob(f"SELECT n FROM `{name}`", at)).collect()] == [1]


def test_reserved_and_duplicate_field_names_get_no_archive_column(
    spark: SparkSession, tmp_path: Path
) -> None:
    entry = "'1-1' AS id, timestamp_millis(1) AS timestamp, 'in' AS stream, current_date() AS date"
    fields = (f"named_struct('name', '{name}', 'value', X'31')" for name in ("_id", "N", "n", "m"))
    rows = spark.sql(f"SELECT {entry}, array({', '.join(fields)}) AS fields")
    rows.write.partitionBy("stream", "date").parquet(str(tmp_path / "archive"))
    job = QueryJob("", archive=str(tmp_path / "archive"))
    assert archived_field_types(spark, job, "in").simpleString() == "struct<N:bigint,m:bigint>"


def test_table_names_ignore_case(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    client.xadd("orders", {"n": 1})
    client.xgroup_create("orders", "workers", id="0")
    client.xreadgroup("workers", "ann", {"orders": ">"})
    sql = "SELECT n, consumer FROM Orders CROSS JOIN PENDING"
    assert [tuple(row) for row in query(spark, QueryJob(sql, at)).collect()] == [(1, "ann")]


class Rows:
    """A data frame that has already been computed."""

    columns = ("n",)

    def collect(self) -> list[int]:
        return []


def positions(*ends: int) -> Iterator[dict[str, Position]]:
    """The positions of an archive of the entries 1-0, 2-0 ..., for each time it is asked."""
    return ({"in": Position(EntryId(n, 0), n)} for n in ends)


@ONE_SERVER
def test_a_query_overtaken_by_trims_is_repeated_a_few_times(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(1, 40):
        client.xadd("in", {"n": n}, id=f"{n}-0")
    job, no_spark = QueryJob("SELECT n FROM in", at, "archive"), cast("SparkSession", None)
    monkeypatch.setattr(queries, "query_from", lambda *_: Rows())

    def answer_while_the_archive_is_at(*ends: int) -> list[int]:
        left = positions(*ends)
        monkeypatch.setattr(queries, "archived_positions", lambda *_: next(left))
        queries.answer(no_spark, job)
        return [each["in"].n for each in left]

    assert answer_while_the_archive_is_at(4, 7, 0) == [0]  # nothing is trimmed
    client.xtrim("in", maxlen=31, approximate=False)
    assert answer_while_the_archive_is_at(8, 9, 0) == [0]  # nothing that was not archived
    assert answer_while_the_archive_is_at(4, 8, 8, 8, 0) == [0]
    with pytest.raises(JobError, match="trimmed of entries of in that were not read yet, 5 times"):
        answer_while_the_archive_is_at(*(4, 8) * 5)


def test_among_names_that_differ_in_case_the_one_in_the_sql_comes_last() -> None:
    streams = ("ORDERS", "Orders", "orders", "other", "Pending", "")
    assert mentioned("SELECT * FROM Orders, pending", streams) == ["ORDERS", "orders", "Orders"]
