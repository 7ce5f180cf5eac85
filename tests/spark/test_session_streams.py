"""Streaming queries through a Spark session: batches, restarts, data loss, sinks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
from pyspark.errors import StreamingQueryException

from pyspark_penstock.errors import CheckpointError, DataLossError, kind_of
from pyspark_penstock.write.sink_options import ATOMIC, EXACTLY_ONCE, ORDERED
from tests.polling import until
from tests.spark.documented import SPARK, block
from tests.spark.frames import forget_commit
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SCHEMA = "i long"


def fill(client: redis.Redis, *values: int) -> None:
    for i in values:
        client.xadd("in", {"i": i})


def frame_of(spark: SparkSession, at: dict[str, str], schema: str, **options: str) -> DataFrame:
    given = {"subscribe": "in", "startingOffsets": "earliest"} | at | options
    return spark.readStream.format("penstock").options(**given).schema(schema).load()


def run(frame: DataFrame, at: dict[str, str], checkpoint: Path, **options: str) -> StreamingQuery:
    """Write a frame to the stream ``out`` until nothing is left to read."""
    writer = frame.writeStream.format("penstock").options(**({"stream": "out"} | at | options))
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination()
    return query


def written(client: redis.Redis) -> Counter[int]:
    return Counter(int(fields[b"i"]) for _, fields in xrange(client, "out"))


@ONE_SERVER
def test_available_now_reads_in_batches_of_limited_size(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    fill(client, *range(25))
    query = run(frame_of(spark, at, SCHEMA, maxOffsetsPerTrigger="10"), at, tmp_path)
    assert [progress["numInputRows"] for progress in query.recentProgress] == [10, 10, 5]
    assert written(client) == Counter(range(25))


@ONE_SERVER
def test_asynchronous_progress_is_for_at_least_once_only(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """The query of the docs. Why no other may have it, ``write/test_exactly_once.py`` shows."""
    fill(client, *range(5))
    code = block(SPARK, "fast = (live.writeStream").replace("/var/lib/spark", str(tmp_path))
    code = code.replace('"fast")', f'"out").option("port", "{at["port"]}")')
    names: dict[str, Any] = {"live": frame_of(spark, at, SCHEMA)}
    exec(code.replace("at-least-once", "exactly-once").replace("/fast", "/refused"), names)
    with pytest.raises(StreamingQueryException, match="would leave these out"):
        names["fast"].awaitTermination()
    assert not written(client)
    exec(code, names)
    try:
        until(lambda: written(client) == Counter(range(5)), "the rows")
    finally:
        names["fast"].stop()


@ONE_SERVER
def test_a_restart_continues_at_the_checkpoint(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    fill(client, *range(10))
    run(frame_of(spark, at, SCHEMA), at, tmp_path)
    fill(client, *range(10, 15))
    query = run(frame_of(spark, at, SCHEMA), at, tmp_path)
    assert written(client) == Counter(range(15))
    assert [progress["numInputRows"] for progress in query.recentProgress] == [5]
    run(frame_of(spark, at, SCHEMA), at, tmp_path)
    assert written(client) == Counter(range(15))


@pytest.mark.parametrize("delivery", [EXACTLY_ONCE, ORDERED, ATOMIC])
def test_a_batch_whose_commit_is_missing_is_not_written_again(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path, delivery: str
) -> None:
    fill(client, *range(10))
    frame = frame_of(spark, at, SCHEMA, maxOffsetsPerTrigger="5", minPartitions="1")
    run(frame, at, tmp_path, delivery=delivery)
    entries = xrange(client, "out")
    forget_commit(tmp_path, 1)
    run(frame, at, tmp_path, delivery=delivery)
    assert written(client) == Counter(range(10))
    assert xrange(client, "out") == entries
    assert client.keys("*:spark:*:1:*") == []


@ONE_SERVER
def test_ordered_delivery_writes_a_stream_in_one_task(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """Ids are computed from rows, so a second query over the same rows gives the same entries."""
    fill(client, *range(10))
    frame = frame_of(spark, at, "i long").selectExpr("i", "CONCAT('out', i % 2) AS _stream")
    for run_of_it in ("one", "two"):
        ordered = {"stream": "", "delivery": ORDERED}
        run(frame.repartition(2, "_stream"), at, tmp_path / run_of_it, **ordered)
        assert [(e, f[b"i"]) for e, f in xrange(client, "out0")] == [
            (b"1-%d" % i, b"%d" % (2 * i)) for i in range(5)
        ]
        client.delete("out0", "out1", *client.keys("*:spark:writer"))


@ONE_SERVER
def test_a_shuffle_keeps_its_number_of_partitions(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """Otherwise a replay could have rows in another partition, whose marker does not count them."""
    fill(client, *range(10))
    run(frame_of(spark, at, SCHEMA).repartition("i"), at, tmp_path)
    keys: Any = client.keys("{out}:spark:*")
    markers = sorted(key.rsplit(b":", 1)[1] for key in keys)
    assert markers == [b"0", b"1"]  # spark.sql.shuffle.partitions of the tests


@ONE_SERVER
def test_the_rows_of_an_aggregate_are_written_once(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """Windows use the time of entries. The last batch closes them, and is replayed."""
    for second in (1, 1, 1, 2, 2, 30):
        client.xadd("in", {"i": second}, id=f"{second * 1000}-*")
    frame = frame_of(spark, at, "i long, _ts timestamp").withWatermark("_ts", "0 seconds")
    frame = frame.groupBy("_ts").count().selectExpr("count AS i")
    run(frame, at, tmp_path)
    assert written(client) == Counter([3, 2, 1])
    forget_commit(tmp_path, 1)
    run(frame, at, tmp_path)
    assert written(client) == Counter([3, 2, 1])


def test_the_position_group_shows_the_query_s_position(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """It includes the last batch, although Spark commits a batch only when it plans the next."""
    fill(client, *range(10))
    frame = frame_of(spark, at, SCHEMA, group="spark", maxOffsetsPerTrigger="4")
    run(frame, at, tmp_path)
    (group,) = client.xinfo_groups("in")
    assert (group["name"], group["entries-read"], group["lag"]) == (b"spark", 10, 0)


def failure(frame: DataFrame, at: dict[str, str], checkpoint: Path) -> Any:
    with pytest.raises(StreamingQueryException) as caught:
        run(frame, at, checkpoint)
    return caught.value


@ONE_SERVER
def test_data_loss_stops_the_query_with_the_exact_count(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    fill(client, *range(10))
    run(frame_of(spark, at, SCHEMA), at, tmp_path)
    fill(client, *range(10, 20))
    client.xtrim("in", maxlen=3, approximate=False)
    problem = failure(frame_of(spark, at, SCHEMA), at, tmp_path)
    assert "7 entries after" in str(problem)
    assert kind_of(str(problem)) is DataLossError
    run(frame_of(spark, at, SCHEMA, failOnDataLoss="false"), at, tmp_path)
    assert written(client) == Counter([*range(10), 17, 18, 19])


@ONE_SERVER
def test_a_checkpoint_of_other_streams_is_refused_with_both_lists(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    fill(client, 1)
    run(frame_of(spark, at, SCHEMA), at, tmp_path)
    problem = failure(frame_of(spark, at, SCHEMA, subscribe="in,more"), at, tmp_path)
    assert kind_of(str(problem)) is CheckpointError
    assert "['in']" in str(problem)
    assert "['in', 'more']" in str(problem)


@ONE_SERVER
def test_complete_mode_is_refused(
    spark: SparkSession, client: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    fill(client, 1)
    frame = frame_of(spark, at, SCHEMA).groupBy("i").count()
    writer = frame.writeStream.outputMode("complete").format("penstock")
    writer = writer.options(**at, stream="out", checkpointLocation=str(tmp_path))
    query = writer.trigger(availableNow=True).start()
    with pytest.raises(StreamingQueryException, match=r"OptionError: .*can only be appended"):
        query.awaitTermination()
