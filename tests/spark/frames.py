"""Data frames of the tests' Spark session, and entries for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import redis

from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Options = dict[str, str]
SCHEMA = "n long"
SECOND = 1_000


def fill(client: redis.Redis, *numbers: int, stream: str = "in") -> None:
    """Add an entry for each number *n*, with the id of *n* seconds after 1970."""
    pipeline = client.pipeline(transaction=False)
    for n in numbers:
        pipeline.xadd(stream, {"n": n}, id=f"{n * SECOND}-0")
    pipeline.execute()


def numbers(client: redis.Redis, stream: str = "out") -> list[int]:
    """The numbers in a stream, sorted."""
    return sorted(int(fields[b"n"]) for _, fields in xrange(client, stream))


def read(spark: SparkSession, at: Options, schema: str = SCHEMA, **options: str) -> DataFrame:
    """A batch read; the schema ``""`` means none."""
    reader = spark.read.format("penstock").options(**at, **options)
    return (reader.schema(schema) if schema else reader).load()


def write(frame: DataFrame, at: Options, **options: str) -> None:
    """A batch write, by default to the stream ``out``."""
    given = at | ({} if "_stream" in frame.columns else {"stream": "out"}) | options
    frame.write.format("penstock").options(**given).mode("append").save()


def live(spark: SparkSession, at: Options, **options: str) -> DataFrame:
    """A streaming read, by default of the stream ``in`` from its beginning."""
    chosen = {"subscribe", "subscribePattern", "assign"} & options.keys()
    given = at | ({} if chosen else {"subscribe": "in"}) | options
    if not any(name.startswith(("starting", "assign")) for name in options):
        given["startingOffsets"] = "earliest"
    return spark.readStream.format("penstock").options(**given).schema(SCHEMA).load()


def writer(frame: DataFrame, at: Options, checkpoint: Path, **options: str) -> DataStreamWriter:
    """A writer that starts a query to the stream ``out``."""
    given = {"stream": "out"} | at | options
    stream = frame.writeStream.format("penstock").options(**given)
    return stream.option("checkpointLocation", str(checkpoint))


def run(frame: DataFrame, at: Options, checkpoint: Path, **options: str) -> StreamingQuery:
    """Run a query until it has read everything."""
    query = writer(frame, at, checkpoint, **options).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def forget_commit(checkpoint: Path, batch: int) -> None:
    """Remove the last commit, as if the driver had been killed before writing it."""
    (checkpoint / "commits" / str(batch)).unlink()
    (checkpoint / "commits" / f".{batch}.crc").unlink()
