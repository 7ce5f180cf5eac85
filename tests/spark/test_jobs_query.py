"""SQL over streams: what a query may do with the tables that it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import redis

from pyspark_penstock.jobs.query import QueryJob, query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_stream_may_be_used_twice_with_different_filters(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    for n in range(1, 7):
        client.xadd("orders", {"n": n}, id=f"{n}000-0")
    sql = """
        SELECT n FROM orders WHERE _ts < timestamp_millis(3000)
        UNION ALL SELECT n FROM orders WHERE _ts >= timestamp_millis(5000) ORDER BY n
    """
    assert [row.n for row in query(spark, QueryJob(sql, at)).collect()] == [1, 2, 5, 6]
