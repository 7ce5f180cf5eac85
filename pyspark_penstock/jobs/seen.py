"""What is seen of a batch: Spark's report, and what planner, tasks and sink have counted of it.

    Spark, after a batch     --progress JSON-->  offsets, and the planner's sums since it began
    tasks, the sink's commit --Collected-->      their sums, by batch

A batch that is replayed after a crash is counted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from pyspark_penstock.collector import Collected, SumsParam
from pyspark_penstock.figures import ENTRIES_READ, Sums
from pyspark_penstock.jobs.progress import (
    Report,
    SinkProgress,
    StreamProgress,
    StreamRead,
    reads_of,
    sink_progress,
    stream_progress,
)
from pyspark_penstock.names import readable
from pyspark_penstock.source import PenstockDataSource

MOST_LINES = 20  # of a batch: who reads the log is spared a line for each of ten thousand streams


@dataclass(frozen=True)
class SeenBatch:
    """A batch: what it has read of each stream, and all that was counted of it."""

    report: Report
    reads: list[StreamRead]
    sums: Sums

    def progress(self) -> Iterator[StreamProgress | SinkProgress]:
        """The streams that it has read, then its sink."""
        for read in self.reads:
            if read.entries:
                yield stream_progress(self.report, read, self.sums)
        sink = sink_progress(self.report, self.sums)
        if sink is not None:
            yield sink

    def lines(self) -> list[str]:
        """Its lines for people: of many streams those that are furthest behind."""
        streams, left = [read for read in self.reads if read.entries], list[StreamRead]()
        if len(streams) > MOST_LINES:
            streams.sort(key=lambda read: -(read.lag or 0))
            streams, left = streams[:MOST_LINES], streams[MOST_LINES:]
        lines = [stream_progress(self.report, read, self.sums).line() for read in streams]
        if left:
            lines.append(others(self.report["batchId"], left))
        sink = sink_progress(self.report, self.sums)
        if sink is not None:
            lines.append(sink.line())
        return [readable(line) for line in lines]


def others(batch: int, reads: list[StreamRead]) -> str:
    """The line of the streams that have none of their own."""
    entries, lag = sum(read.entries for read in reads), sum(read.lag or 0 for read in reads)
    return f"batch {batch}  {len(reads):,} other streams  +{entries:,}  lag {lag:,}"


class Seen:
    """Puts together what is seen of each batch. *collected* is what ``collect`` has returned."""

    def __init__(self, collected: Collected | None = None) -> None:
        self._collected = collected
        self._planned: dict[str, Sums] = {}  # by query: what its planners had counted

    def batch(self, report: Report) -> SeenBatch:
        """The batch that Spark reports."""
        query = report.get("id", "")
        reads = list(reads_of(report))
        sums = self._of_planner(query, report)
        for read in reads:
            sums.add(read.place, ENTRIES_READ, read.entries)
        if self._collected is not None:
            sums.merge(self._collected.take(query, report["batchId"]))
        return SeenBatch(report, reads, sums)

    def _of_planner(self, query: str, report: Report) -> Sums:
        """What the planners of a query have counted since the last report."""
        now = Sums()
        for source in report["sources"]:
            now.merge(Sums.from_json(figures_in(source.get("latestOffset"))))
        before, self._planned[query] = self._planned.get(query, Sums()), now
        return now.since(before)

    def forget(self, query: str) -> None:
        """A query has ended."""
        self._planned.pop(query, None)
        if self._collected is not None:
            self._collected.forget(query)


def figures_in(latest: Any) -> Any:
    """What ``reportLatestOffset`` of one of our sources says beside the ends of the streams."""
    return latest.get("figures") if isinstance(latest, dict) else None


def collect(spark: SparkSession) -> Collected:
    """Collect what tasks of streaming queries count, which are started from now on."""
    collected = Collected()
    accumulator = spark.sparkContext.accumulator(collected, SumsParam())

    class CountedDataSource(PenstockDataSource):  # a class of its own: it is sent with its values
        collector = accumulator

    spark.dataSource.register(CountedDataSource)
    return collected
