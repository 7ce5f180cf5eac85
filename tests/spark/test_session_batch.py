"""Batch reads and writes through a Spark session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import redis
from pyspark.errors import PySparkException

from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "item string, n long, _id string"


def read(spark: SparkSession, at: dict[str, str], schema: str = "", **options: str) -> DataFrame:
    reader = spark.read.format("penstock").options(**at, **options)
    return (reader.schema(schema) if schema else reader).load()


def fill(client: redis.Redis, count: int = 10, stream: str = "orders") -> None:
    for i in range(1, count + 1):
        client.xadd(stream, {"item": f"cup {i}", "n": i}, id=f"{1763000000000 + i}-0")


def test_without_a_schema_the_columns_are_stream_id_timestamp_and_fields(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client, 1)
    frame = read(spark, at, subscribe="orders")
    assert frame.dtypes == [
        ("stream", "string"),
        ("id", "string"),
        ("timestamp", "timestamp"),
        ("fields", "map<string,binary>"),
    ]
    row = frame.selectExpr("stream", "id", "unix_millis(timestamp) AS ms", "fields").first()
    assert row is not None
    assert (row.stream, row.id, row.ms) == ("orders", "1763000000001-0", 1763000000001)
    assert row.fields == {"item": bytearray(b"cup 1"), "n": bytearray(b"1")}


@ONE_SERVER
def test_a_schema_chooses_the_columns(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    frame = read(spark, at, SCHEMA, subscribe="orders", minPartitions="3")
    assert frame.selectExpr("sum(n)", "min(item)", "max(_id)").collect() == [
        (55, "cup 1", "1763000000010-0")
    ]


@ONE_SERVER
def test_sql_can_query_a_view_of_the_source(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    read(spark, at, SCHEMA, subscribe="orders").createOrReplaceTempView("orders")
    assert spark.sql("SELECT count(*) FROM orders WHERE n > 7").collect() == [(3,)]


@ONE_SERVER
def test_a_missing_stream_and_an_empty_range_give_no_rows(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    assert read(spark, at, SCHEMA, subscribe="nothing").collect() == []
    assert read(spark, at, SCHEMA, subscribe="orders", startingOffsets="latest").collect() == []


@ONE_SERVER
def test_filters_become_ranges_and_change_no_result(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    fill(client, stream="other")
    schema = "n long, _ts timestamp, _id string, _stream string"
    plain = read(spark, at, schema, subscribe="orders,other")
    for condition in (
        "_ts >= timestamp_millis(1763000000004) AND _ts < timestamp_millis(1763000000006)",
        "_id = '1763000000003-0'",
        "_id IN ('1763000000003-0', '1763000000009-0') AND _stream = 'other'",
        "_id > '1763000000003-0'",
        "_stream = 'orders' AND n = 3",
        "_stream = 'none'",
        "_ts > timestamp_millis(1763000000004) OR n = 1",
        "NOT _stream = 'orders'",
    ):
        expected = sorted(plain.where(condition).collect())
        pushed = read(spark, at, schema, subscribe="orders,other", pushDownFilters="true")
        assert sorted(pushed.where(condition).collect()) == expected, condition


@ONE_SERVER
def test_a_schema_can_be_inferred_with_metadata_columns(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    client.xadd("orders", {"price": "1.5", "paid": "true", "when": "2026-11-21T10:00:00Z"})
    options = {"subscribe": "orders", "inferSchema": "true"}
    frame = read(spark, at, **options)
    assert frame.schema.simpleString() == (
        "struct<item:string,n:bigint,price:double,paid:boolean,when:timestamp>"
    )
    frame = read(spark, at, includeMetadata="true", **options)
    assert frame.columns[:4] == ["_stream", "_id", "_ts", "item"]
    assert frame.count() == 11


def test_views_are_tables_of_the_server(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client, 5)
    client.xgroup_create("orders", "pay", "0")
    client.xreadgroup("pay", "alice", {"orders": ">"}, count=3)

    def rows(view: str, *columns: str) -> list[tuple[object, ...]]:
        frame = read(spark, at, view=view).select(*columns)
        return [tuple(row) for row in frame.collect()]

    assert rows("streams", "stream", "length", "entries_added", "first_id", "groups") == [
        ("orders", 5, 5, "1763000000001-0", 1)
    ]
    assert rows("groups", "stream", "group", "pending", "lag") == [("orders", "pay", 3, 2)]
    assert rows("consumers", "group", "consumer", "pending") == [("pay", "alice", 3)]
    assert rows("pending", "consumer", "id", "deliveries")[2] == ("alice", "1763000000003-0", 1)


def test_rows_are_read_back_as_written(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    frame = spark.sql("SELECT id AS n, CAST(id AS string) AS item FROM range(100)")
    frame.write.format("penstock").options(**at, stream="out").mode("append").save()
    assert client.xlen("out") == 100
    written = read(spark, at, "n long, item string", subscribe="out")
    assert sorted(written.collect()) == [(i, str(i)) for i in range(100)]


@pytest.mark.parametrize("fails", [False, True], ids=["whole", "failed"])
def test_an_atomic_write_is_all_or_nothing(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], fails: bool
) -> None:
    """Also when one task is done before another fails."""
    row = "IF(id = 9, NULL, id) AS n" if fails else "id AS n"
    frame = spark.range(0, 10, 1, 2).selectExpr(row)
    options = at | {"stream": "out", "delivery": "atomic"}
    writer = frame.write.format("penstock").options(**options).mode("append")
    if fails:
        with pytest.raises(PySparkException, match="no field that is not null"):
            writer.save()
    else:
        writer.save()
    assert [fields[b"n"] for _, fields in xrange(client, "out")] == (
        [] if fails else [b"%d" % i for i in range(10)]
    )
    staged = client.keys("{out}:spark:*:0:*")  # a task that Spark stops can leave some
    assert all(client.ttl(key) > 0 for key in staged) if fails else staged == []


@ONE_SERVER
def test_a_stream_can_be_copied_with_its_ids_in_one_partition(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    frame = read(spark, at, subscribe="orders", fieldsFormat="array").coalesce(1)
    frame.write.format("penstock").options(**at, stream="copy").mode("append").save()
    assert xrange(client, "copy") == xrange(client, "orders")


@ONE_SERVER
def test_a_write_with_the_same_app_and_version_is_done_once(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    frame = spark.range(10)
    app = at | {"stream": "out", "txnAppId": "load"}
    with pytest.raises(PySparkException, match="'txnAppId' of a batch write needs a 'txnVersion'"):
        frame.write.format("penstock").options(**app).mode("append").save()
    for version in (1, 1, 2):
        options = at | {"stream": "out", "txnAppId": "load", "txnVersion": str(version)}
        frame.write.format("penstock").options(**options).mode("append").save()
    assert client.xlen("out") == 20


@ONE_SERVER
def test_a_retried_task_writes_nothing_twice(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    """As in foreachBatch: the same app and version again, after a failure in one partition."""
    frame = spark.range(0, 10, 1, 2).selectExpr("IF(id = 9, NULL, id) AS n")
    options = at | {"stream": "out", "txnAppId": "app", "txnVersion": "1"}
    writer = frame.write.format("penstock").options(**options).mode("append")
    with pytest.raises(PySparkException, match=r"SinkError: a row .* no field that is not null"):
        writer.save()
    writer.options(nullFields="empty").save()
    assert sorted(fields[b"n"] for _, fields in xrange(client, "out")) == sorted(
        [b"", *(b"%d" % i for i in range(9))]
    )


@ONE_SERVER
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "s", "startingOffset": "latest"}, "did you mean 'startingOffsets'"),
        ({"subscribe": "s", "subscribePattern": "t"}, "contradict each other"),
        ({}, "which streams"),
        ({"subscribe": "s", "maxLen": "5"}, r"'maxlen' is no option for batch reading .*writing"),
        ({"subscribe": "s", "fetchSize": "0"}, "fetchSize='0': must be a whole number"),
    ],
)
def test_wrong_options_are_refused_by_name(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], options: dict[str, str],
    message: str,
) -> None:  # fmt: skip
    with pytest.raises(PySparkException, match=f"OptionError: .*{message}"):
        read(spark, at, SCHEMA, **options).collect()


@ONE_SERVER
def test_failfast_names_the_value(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    client.xadd("orders", {"n": "many"})
    with pytest.raises(PySparkException, match=r"ValueMismatchError: .*n=b'many' is not int64"):
        read(spark, at, SCHEMA, subscribe="orders", mode="FAILFAST").collect()
    frame = read(
        spark, at, "n long, bad string", subscribe="orders", columnNameOfCorruptRecord="bad"
    )
    (row,) = frame.where("bad IS NOT NULL").collect()
    assert json.loads(row.bad) == {"n": "many"}


@ONE_SERVER
def test_overwriting_is_refused(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    writer = spark.range(1).write.format("penstock").options(**at, stream="out")
    with pytest.raises(PySparkException, match=r"OptionError: .*can only be appended"):
        writer.mode("overwrite").save()


def test_an_unreachable_server_is_named(spark: SparkSession) -> None:
    refused = r"ServerError: planning a read at 127\.0\.0\.1:1 failed: .*refused"
    with pytest.raises(PySparkException, match=refused):
        read(
            spark, {"host": "127.0.0.1", "port": "1", "retryTimeout": "0"}, SCHEMA, subscribe="s"
        ).collect()


def test_an_error_of_the_server_is_reported(
    spark: SparkSession, client: redis.Redis, at: dict[str, str]
) -> None:
    client.rpush("out", "x")
    with pytest.raises(
        PySparkException, match=r"SinkError: 'out' is no stream but of the type list"
    ):
        spark.range(1).write.format("penstock").options(**at, stream="out").mode("append").save()
