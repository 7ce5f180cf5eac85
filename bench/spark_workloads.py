"""The workloads that ``bench.spark`` times, all on the same entries of five small fields.

- redis-py read: ``xrange`` in pages of 1,000; the entries are not used.
- batch: a typed read of all five fields into Spark's ``noop`` sink.
- stream: the same as one micro-batch, from the call of addBatch to its end.
- tuples: a batch read by a source that yields a Python tuple for each row, as most sources do.
- redis-py write: pipelines of 1,000 XADD.
- load, load at least once: a Parquet file is written into a stream, exactly or at least once.
- at least once, exactly once, ordered, atomic: a streaming query copies the entries from stream to
  stream, in batches of at most 100,000. Only addBatch is timed. Ordered uses one task.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import redis
from pyspark.sql import DataFrame, SparkSession

from bench.spark_tuples import TupleSource
from pyspark_penstock.jobs.session import session

PAGE = 1_000
SCHEMA = "device string, temp double, seq long, ok boolean, site string"
SOURCE, TARGET = "bench", "target"
WRITER = f"{{{TARGET}}}:spark:writer"  # the marker of ordered delivery
BATCH = 100_000
FIRST_MS = 1_763_000_000_000
ENTRIES_PER_MS = 4


def spark_session() -> SparkSession:
    """The session of the command line, with two cores."""
    spark = session("bench", master="local[2]")
    spark.dataSource.register(TupleSource)
    return spark


def fields(i: int) -> dict[str, str]:
    """The fields of the *i*-th entry."""
    return {
        "device": f"d{i % 10_000}",
        "temp": f"{20 + i % 100 / 10:.1f}",
        "seq": str(i),
        "ok": "true" if i % 3 else "false",
        "site": f"site-{i % 16}",
    }


class Workloads:
    """The workloads of one server, on a stream that is filled first."""

    def __init__(
        self, spark: SparkSession, port: int, folder: Path, entries: int, rounds: int
    ) -> None:
        self._spark = spark
        self._client = redis.Redis(port=port)
        self._at = {"host": "127.0.0.1", "port": str(port)}
        self._folder = folder
        self._entries = entries
        self._rounds = rounds
        self._runs = 0
        self._parquet = str(folder / "parquet")
        self.write(SOURCE, ids=True)
        self._frame("penstock").coalesce(2).write.parquet(self._parquet)

    def median_rates(self, step: Callable[[str], None]) -> dict[str, float]:
        """The median rate of each workload over all rounds; a round runs each workload once.

        *step* is called with the name of each before it runs.

        The best round does not count: with four processes on two CPUs a round may be lucky, too.
        Every other round is in reverse order, so that a machine that slows down favours none.
        """
        rates: dict[str, list[float]] = {name: [] for name in WORKLOADS}
        for turn in range(self._rounds):
            for name in reversed(WORKLOADS) if turn % 2 else WORKLOADS:
                step(f"{name}, round {turn + 1} of {self._rounds}")
                rates[name].append(self._entries / WORKLOADS[name](self))
                self._client.delete(TARGET, WRITER)
        return {name: median(of_rounds) for name, of_rounds in rates.items()}

    def read(self) -> float:
        """Seconds of redis-py's read loop."""
        started = time.perf_counter()
        start = "-"
        redis_py: Any = self._client
        while page := redis_py.xrange(SOURCE, start, "+", PAGE):
            start = f"({page[-1][0].decode()}"
        return time.perf_counter() - started

    def write(self, stream: str = TARGET, ids: bool = False) -> float:
        """Seconds of redis-py's pipelines."""
        started, entries = time.perf_counter(), self._entries
        for first in range(0, entries, PAGE):
            with self._client.pipeline(transaction=False) as pipeline:
                for i in range(first, min(first + PAGE, entries)):
                    entry_id = (
                        f"{FIRST_MS + i // ENTRIES_PER_MS}-{i % ENTRIES_PER_MS}" if ids else "*"
                    )
                    pipeline.xadd(stream, fields(i), id=entry_id)  # type: ignore[arg-type]
                pipeline.execute()
        return time.perf_counter() - started

    def _frame(self, source: str) -> DataFrame:
        reader = self._spark.read.format(source).options(**self._at, subscribe=SOURCE)
        return reader.schema(SCHEMA).load()

    def to_noop(self, source: str) -> float:
        """Seconds of a batch read with the data source *source*."""
        frame = self._frame(source)
        started = time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - started

    def stream(self, batch: int = 0, sink: str = "noop", **options: str) -> float:
        """Seconds in addBatch of a query over all entries, by default in one batch."""
        self._runs += 1
        reader = self._spark.readStream.format("penstock").options(**self._at, subscribe=SOURCE)
        most = batch or self._entries
        reader = reader.options(startingOffsets="earliest", maxOffsetsPerTrigger=most)
        if options.get("delivery") == "ordered":
            reader = reader.option("minPartitions", "1")
        writer = reader.schema(SCHEMA).load().writeStream.format(sink).options(**options)
        writer = writer.option("checkpointLocation", str(self._folder / f"stream-{self._runs}"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        progress: list[Any] = query.recentProgress
        assert sum(each["numInputRows"] for each in progress) == self._entries, progress
        took_ms: float = sum(each["durationMs"].get("addBatch", 0) for each in progress)
        return took_ms / 1_000

    def copy(self, delivery: str) -> float:
        """Seconds in addBatch of a query that copies the stream."""
        sink = self._at | {"stream": TARGET, "delivery": delivery}
        return self.stream(BATCH, "penstock", **sink)

    def load(self, delivery: str) -> float:
        """Seconds to write a Parquet file into a stream."""
        frame = self._spark.read.parquet(self._parquet)
        writer = frame.write.format("penstock").options(**self._at, stream=TARGET)
        started = time.perf_counter()
        writer.option("delivery", delivery).mode("append").save()
        taken = time.perf_counter() - started
        assert self._client.xlen(TARGET) == self._entries
        return taken


WORKLOADS: dict[str, Callable[[Workloads], float]] = {
    "redis-py read": Workloads.read,
    "batch": lambda work: work.to_noop("penstock"),
    "stream": lambda work: work.stream(),
    "tuples": lambda work: work.to_noop("penstock_tuples"),
    "redis-py write": lambda work: work.write(),
    "load": lambda work: work.load("exactly-once"),
    "load at least once": lambda work: work.load("at-least-once"),
    "at least once": lambda work: work.copy("at-least-once"),
    "exactly once": lambda work: work.copy("exactly-once"),
    "ordered": lambda work: work.copy("ordered"),
    "atomic": lambda work: work.copy("atomic"),
}
