"""Fleets, many streams and bad rows in a Spark session: what the docs show, what Spark keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis

from pyspark_penstock.read.offsets import FleetOffset
from tests.compat.processes import ServerProcess, redis_tool
from tests.spark.documented import SPARK, block
from tests.spark.frames import SCHEMA, Options, run
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A second server."""
    process = ServerProcess([redis_tool("redis-server")], tmp_path_factory.mktemp("other"))
    yield process
    process.stop()


def frame_of(spark: SparkSession, code: str, name: str) -> DataFrame:
    """The data frame that a block of the docs makes, read from the beginning of its streams."""
    names: dict[str, Any] = {"spark": spark}
    exec(code.replace(".load()", ".option('startingOffsets', 'earliest').load()"), names)
    frame: DataFrame = names[name]
    return frame


def test_the_fleet_of_the_docs(
    spark: SparkSession,
    client: redis.Redis,
    at: Options,
    other: ServerProcess,
    tmp_path: Path,
) -> None:
    places = f"127.0.0.1:{at['port']}", f"127.0.0.1:{other.port}"
    code = block(SPARK, "fleet = (spark.readStream")
    for written, place in zip(("10.0.0.1:6379", "10.0.0.2:6379"), places, strict=True):
        assert written in code
        code = code.replace(written, place)
    client.xadd("orders:1", {"item": "pen"})
    with redis.Redis(port=other.port) as second:
        second.flushall()
        second.xadd("orders:1", {"item": "ink"})
    frame = frame_of(spark, code, "fleet").selectExpr("item", "_server AS at", "_stream AS of")
    run(frame, at, tmp_path)
    found = [
        (fields[b"item"], fields[b"at"].decode(), fields[b"of"])
        for _, fields in xrange(client, "out")
    ]
    assert sorted(found) == [(b"ink", places[1], b"orders:1"), (b"pen", places[0], b"orders:1")]


def test_the_bad_rows_of_the_docs(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    code = block(SPARK, "checked = (spark.readStream").replace(
        ".option(", f".options(**{at!r}).option(", 1
    )
    for item, count in (("pen", "1"), ("ink", "many"), ("cap", "3")):
        client.xadd("orders", {"item": item, "count": count})
    client.xadd("orders", {"count": "4"})
    run(frame_of(spark, code, "checked"), at, tmp_path)
    assert [fields[b"item"] for _, fields in xrange(client, "out")] == [b"pen", b"cap"]
    bad = [fields[b"_error"] for _, fields in xrange(client, "orders:bad")]
    assert bad == [
        b"count=b'many' is not int32",
        b"item is NOT NULL, and there is no string for it",
    ]


def test_a_checkpoint_of_many_streams_holds_the_compact_text(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    """A thousand streams of an entry each are one batch, and the text is what the reader gave."""
    pipeline = client.pipeline(transaction=False)
    for n in range(1_000):
        pipeline.xadd(f"m:{n}", {"n": n})
    pipeline.execute()
    given = at | {"subscribePattern": "m:*", "startingOffsets": "earliest"}
    frame = spark.readStream.format("penstock").options(**given).schema(SCHEMA).load()
    run(frame, at, tmp_path)
    assert sorted(int(f[b"n"]) for _, f in xrange(client, "out")) == list(range(1_000))
    text = (tmp_path / "offsets/0").read_text("utf-8").split("\n")[2]
    assert len(text) < 20_000
    offset = FleetOffset.from_json(json.loads(text))
    assert len(offset.servers[""]) == 1_000
    assert json.dumps(offset.to_json()) == json.dumps(json.loads(text))
