"""Options of reading through a Spark session, in batches and streams; options of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
from pyspark.errors import PySparkException

from pyspark_penstock.connect.stream_info import ask
from tests.ports import free_port
from tests.spark.frames import Options, fill, live, numbers, read, run, write, writer
from tests.spark.marks import ONE_SERVER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEN = range(1, 11)
AT_LAST = {"startingOffsetsByTimestampStrategy": "latest"}


def collected(frame: DataFrame) -> list[int]:
    return sorted(row.n for row in frame.collect())


# ------------------------------------------------------------------ the server


@ONE_SERVER
def test_the_first_address_that_answers_is_used_by_driver_and_tasks(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    fill(client, *TEN)
    addresses = f"127.0.0.1:{free_port()},127.0.0.1:{at['port']}"
    assert collected(read(spark, {"bootstrap.servers": addresses}, subscribe="in")) == [*TEN]


@ONE_SERVER
def test_another_database_can_be_read_and_written(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    with redis.Redis(port=int(at["port"]), db=3) as third:
        fill(third, *TEN)
        write(read(spark, at, subscribe="in", db="3"), at, db="3")
        assert numbers(third) == [*TEN]
    assert client.dbsize() == 0


@ONE_SERVER
def test_tasks_read_user_and_password_from_a_file(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """The file and the server's password change between two batches."""
    content = 'username = "default"\npassword = "secret"'
    fill(client, *TEN)
    file = tmp_path / "credentials"
    guarded = at | {"credentialsFile": str(file)}
    client.config_set("requirepass", "secret")
    with redis.Redis(port=int(at["port"]), password="secret") as admitted:
        try:
            file.write_text(content)
            run(live(spark, guarded), guarded, tmp_path / "c")
            admitted.config_set("requirepass", "changed")
            file.write_text(content.replace("secret", "changed"))
            fill(admitted, 11)
            run(live(spark, guarded), guarded, tmp_path / "c")
            file.write_text("hunter2\nhunter2\n")
            with pytest.raises(PySparkException, match="OptionError: credentialsFile=") as refused:
                read(spark, guarded, subscribe="in").collect()
        finally:
            admitted.config_set("requirepass", "")
    assert "hunter2" not in str(refused.value)
    assert numbers(client) == [*TEN, 11]
    written = [path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert written
    assert not any(b"secret" in data or b"changed" in data for data in written)


@ONE_SERVER
def test_the_password_can_come_from_a_variable(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    """The workers have the environment in which Spark was started, with HOME in it."""
    fill(client, *TEN)
    password = str(Path.home())
    client.config_set("requirepass", password)
    with redis.Redis(port=int(at["port"]), password=password) as admitted:
        try:
            frame = read(spark, at, subscribe="in", passwordEnv="HOME", username="default")
            assert collected(frame) == [*TEN]
            with pytest.raises(PySparkException, match=r"OptionError: passwordEnv='NONE'"):
                read(spark, at, subscribe="in", passwordEnv="NONE").collect()
        finally:
            admitted.config_set("requirepass", "")


def test_driver_and_tasks_use_tls(
    spark: SparkSession, tls_port: int, certificate: Path, tmp_path: Path
) -> None:
    encrypted = {"host": "127.0.0.1", "port": str(tls_port)}
    at = encrypted | {"tls.caFile": str(certificate / "cert.pem")}
    write(spark.sql("SELECT id AS n FROM range(10)"), at, stream="in")
    run(live(spark, at), at, tmp_path)
    assert collected(read(spark, at, subscribe="out")) == [*range(10)]
    unverified = encrypted | {"tls.verify": "false"}
    assert read(spark, unverified, subscribe="out").count() == 10
    with pytest.raises(PySparkException, match="certificate verify failed"):
        read(spark, encrypted | {"tls": "true"}, subscribe="out").collect()


# ------------------------------------------------------------------ which entries are read


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"subscribe": "in,more"}, [*TEN, 11]),
        ({"subscribePattern": "[im]*"}, [*TEN, 11]),
        ({"assign": '{"in": ["3000-0", "5000-0"], "more": ["-", "+"]}'}, [3, 4, 5, 11]),
        ({"subscribe": "in", "startingOffsets": "(3000-0", "endingOffsets": "5000"}, [4, 5]),
        ({"subscribe": "in,more", "startingOffsets": '{"in": "9000-0", "more": "latest"}',
          "endingOffsets": '{"in": "(10000-0"}'}, [9]),
        ({"subscribe": "in", "startingOffsets": "group:g"}, [8, 9, 10]),
        ({"subscribe": "in", "endingOffsets": "group:g"}, [*range(1, 8)]),
        ({"subscribe": "in", "startingTimestamp": "4000", "endingTimestamp": "6000"}, [4, 5]),
        ({"subscribe": "in", "startingOffsetsByTimestamp": '{"in": 9000}'}, [9, 10]),
        ({"subscribe": "in", "endingOffsetsByTimestamp": '{"in": 3000}'}, [1, 2]),
        ({"subscribe": "in", "startingTimestamp": "10001", **AT_LAST}, []),
    ],
    ids=str,
)  # fmt: skip
def test_a_batch_reads_what_its_options_say(
    spark: SparkSession, client: redis.Redis, at: Options, options: Options, expected: list[int]
) -> None:
    fill(client, *TEN)
    fill(client, 11, stream="more")
    client.xgroup_create("in", "g", id="7000-0")
    assert collected(read(spark, at, **options)) == expected


@ONE_SERVER
def test_a_starting_time_after_the_last_entry_is_an_error_unless_latest(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, *TEN)
    late = {"startingTimestamp": "10001"}
    for frame in (read(spark, at, subscribe="in", **late), live(spark, at, **late)):
        with pytest.raises(PySparkException, match=r"OptionError: .*no entry at or after 10001 ms"):
            run(frame, at, tmp_path) if frame.isStreaming else frame.collect()


@ONE_SERVER
def test_no_task_has_more_entries_than_max_records_per_partition(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """Batch reads have a partition for each task, and streaming queries a marker.

    Penstock divides what waits into equal parts (XSPLIT); where a batch ends inside a part, it has
    a task more.
    """
    fill(client, *TEN)
    frame = read(spark, at, subscribe="in", maxRecordsPerPartition="3")
    assert [len(part) for part in frame.rdd.glom().collect()] == [3, 3, 3, 1]
    run(live(spark, at, maxRecordsPerPartition="3", maxOffsetsPerTrigger="9"), at, tmp_path)
    assert 3 <= len(client.keys("{out}:spark:*")) <= 4
    assert numbers(client) == [*TEN]


@ONE_SERVER
def test_a_page_has_fetch_size_entries(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    fill(client, *TEN)
    client.config_resetstat()
    assert collected(read(spark, at, subscribe="in", fetchSize="3")) == [*TEN]
    assert client.info("commandstats")["cmdstat_xrange"]["calls"] == 4


@ONE_SERVER
def test_a_large_read_has_min_partitions_tasks(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    fill(client, *range(1, 20_002))
    for parts in (1, 3):
        frame = read(spark, at, subscribe="in", minPartitions=str(parts))
        sizes = [len(part) for part in frame.rdd.glom().collect()]
        assert sizes == pytest.approx([20_001 / parts] * parts, abs=1)


# ------------------------------------------------------------------ columns


@ONE_SERVER
def test_fields_can_be_text_and_have_repeated_names(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    ask(client, "XADD", "in", "1-0", "n", "1", "m", "x", "n", "2")
    by_name = read(spark, at, "", subscribe="in", valueFormat="string").first()
    in_order = read(spark, at, "", subscribe="in", fieldsFormat="array").first()
    assert by_name is not None
    assert in_order is not None
    assert by_name.fields == {"m": "x", "n": "2"}
    assert [tuple(pair) for pair in in_order.fields] == [("n", b"1"), ("m", b"x"), ("n", b"2")]


@ONE_SERVER
def test_every_metadata_column_can_be_read(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    fill(client, 5)
    schema = "_stream string, _id string, _ts timestamp, _ms long, _seq long, n long, "
    schema += "_fields map<string,string>, lacking int"
    frame = read(spark, at, schema, subscribe="in", includeMetadata="true")
    row = frame.withColumn("_ts", frame["_ts"].cast("long")).first()
    assert tuple(row or ()) == ("in", "5000-0", 5, 5000, 0, 5, {"n": "5"}, None)
    with pytest.raises(PySparkException, match=r"OptionError: includeMetadata=true .* name _id"):
        read(spark, at, "n long, _stream string", subscribe="in", includeMetadata="true").collect()


@ONE_SERVER
def test_no_schema_can_be_inferred_from_an_empty_stream(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    with pytest.raises(PySparkException, match=r"OptionError: inferSchema=true: .*no entry"):
        read(spark, at, "", subscribe="in", inferSchema="true")


@ONE_SERVER
def test_inference_leaves_out_fields_that_cannot_be_columns(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    client.xadd("in", {"n": "1", "N": "2", "_id": "3", b"\xff": "4", b"\xfe": "5"}, id="7-1")
    options = {"subscribe": "in", "inferSchema": "true", "includeMetadata": "true"}
    frame = read(spark, at, "", **options).select("n", "_id")
    assert [tuple(row) for row in frame.collect()] == [(1, "7-1")]


@ONE_SERVER
def test_null_in_a_not_null_column_is_an_error_with_the_entry(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    fill(client, 1)
    client.xadd("in", {"m": "x"}, id="2000-0")
    said = r"ValueMismatchError: stream 'in', entry 2000-0: the column 'n' is NOT NULL"
    with pytest.raises(PySparkException, match=said):
        read(spark, at, "n long not null", subscribe="in").collect()


@ONE_SERVER
@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("PERMISSIVE", [(1, None), (None, {"n": "many", "m": "x"}), (3, None)]),
        ("DROPMALFORMED", [(1, None), (3, None)]),
    ],
)
def test_the_mode_decides_about_bad_values(
    spark: SparkSession, client: redis.Redis, at: Options, mode: str, rows: list[object]
) -> None:
    """FAILFAST is tested in test_session_failures.py."""
    fill(client, 1)
    client.xadd("in", {"n": "many", "m": "x"}, id="2000-0")
    fill(client, 3)
    options = {"mode": mode, "columnNameOfCorruptRecord": "bad"}
    found = read(spark, at, "n long, bad string", subscribe="in", **options).collect()
    assert [(row.n, row.bad and json.loads(row.bad)) for row in found] == rows


# ------------------------------------------------------------------ streaming


@ONE_SERVER
def test_a_query_starts_at_the_end_of_a_stream_by_default(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, *TEN)
    frame = spark.readStream.format("penstock").options(**at, subscribe="in").schema("n long")
    query = writer(frame.load(), at, tmp_path).start()
    try:
        query.processAllAvailable()
        fill(client, 11)
        query.processAllAvailable()
    finally:
        query.stop()
    assert numbers(client) == [11]


@ONE_SERVER
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": '{"in": "group:g"}'}, [8, 9, 10]),
        ({"startingOffsetsByTimestamp": '{"in": 9000}'}, [9, 10]),
        ({"assign": '{"in": ["(9000", "latest"]}'}, [10]),
    ],
    ids=str,
)
def test_a_query_starts_where_its_options_say(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path, options: Options,
    expected: list[int],
) -> None:  # fmt: skip
    fill(client, *TEN)
    client.xgroup_create("in", "g", id="7000-0")
    run(live(spark, at, **options), at, tmp_path)
    assert numbers(client) == expected


@ONE_SERVER
def test_a_pattern_finds_new_streams(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1, 2)
    run(live(spark, at, subscribePattern="in*"), at, tmp_path)
    fill(client, 3, 4, stream="in2")
    run(live(spark, at, subscribePattern="in*"), at, tmp_path)
    assert numbers(client) == [1, 2, 3, 4]


@ONE_SERVER
def test_batches_are_limited_in_bytes(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    for n in TEN:
        client.xadd("in", {"n": n, "more": b"x" * 1_000})
    query = run(live(spark, at, maxBytesPerTrigger="5000", fetchSize="1"), at, tmp_path)
    assert len([p for p in query.recentProgress if p["numInputRows"]]) >= 2
    assert numbers(client) == [*TEN]


@ONE_SERVER
@pytest.mark.parametrize(("delay", "meanwhile"), [("1h", [1]), ("1ms", [1, 2, 3])])
def test_a_small_batch_waits_for_more_entries_up_to_the_delay(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path, delay: str,
    meanwhile: list[int],
) -> None:  # fmt: skip
    fill(client, 1)
    frame = live(spark, at, minOffsetsPerTrigger="3", maxTriggerDelay=delay)
    query = writer(frame, at, tmp_path).start()
    try:
        query.processAllAvailable()  # the first batch does not wait
        fill(client, 2, 3)
        query.processAllAvailable()
        assert numbers(client) == meanwhile
        fill(client, 4, 5, 6)
        query.processAllAvailable()
    finally:
        query.stop()
    assert numbers(client) == [1, 2, 3, 4, 5, 6]
