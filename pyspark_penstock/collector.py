"""The collector: what the tasks of streaming queries count, on its way to the driver's program.

Spark has no metrics for sources and sinks in Python. But it brings a task's accumulators home, if
the data source was registered with ``spark.dataSource.register``: Spark finds others by itself, and
gives them none. So ``collect`` registers the data source again, with an accumulator in its class.

A task's figures arrive when it has ended well, before Spark reports the batch.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

from pyspark import TaskContext
from pyspark.accumulators import AccumulatorParam

from pyspark_penstock.figures import Sums

BATCH_ID, QUERY_ID = "streaming.sql.batchId", "sql.streaming.queryId"
# Batches that nobody has asked about: more of them would only fill the driver's memory, because of
# queries that no listener is told of.
MOST_BATCHES = 1_000

Batch = tuple[str, int]  # a query's id, and the number of the batch
Told = Mapping[Batch, Sums]


class Collector(Protocol):
    """Where a task or the sink's commit tells its figures."""

    def add(self, told: Told) -> None: ...


def tell_of_task(collector: Collector | None, sums: Sums) -> None:
    """Tell what a task has counted, if it is one of a streaming query."""
    context = TaskContext.get() if collector is not None else None
    if context is not None:
        batch, query = (context.getLocalProperty(name) for name in (BATCH_ID, QUERY_ID))
        if batch is not None and query is not None:
            tell(collector, (query, int(batch)), sums)


def tell(collector: Collector | None, batch: Batch, sums: Sums) -> None:
    """Tell what was counted for a batch."""
    if collector is not None and sums:
        collector.add({batch: sums})


class Collected:
    """What has arrived in the driver's program, until somebody takes it."""

    def __init__(self) -> None:
        self._batches: dict[Batch, Sums] = {}
        self._lock = threading.Lock()  # figures arrive on a thread of PySpark's

    def merge(self, told: Told) -> None:
        """Add what was told."""
        with self._lock:
            for batch, sums in told.items():
                self._batches.setdefault(batch, Sums()).merge(sums)
            while len(self._batches) > MOST_BATCHES:
                del self._batches[next(iter(self._batches))]

    def take(self, query: str, batch: int) -> Sums:
        """What was counted for a query, up to that batch, and not taken before."""
        taken = Sums()
        with self._lock:
            for one in [one for one in self._batches if one[0] == query and one[1] <= batch]:
                taken.merge(self._batches.pop(one))
        return taken

    def forget(self, query: str) -> None:
        """A query has ended."""
        with self._lock:
            for one in [one for one in self._batches if one[0] == query]:
                del self._batches[one]


class SumsParam(AccumulatorParam[Any]):
    """How figures are added: in a task they wait to be sent, in the driver they are collected."""

    def zero(self, value: Any) -> dict[Batch, Sums]:
        """What a task begins with."""
        return {}

    def addInPlace(self, value1: Any, value2: Told) -> Any:  # noqa: N802  (Spark's name)
        """Add what was told."""
        if isinstance(value1, Collected):
            value1.merge(value2)
            return value1
        for batch, sums in value2.items():
            value1.setdefault(batch, Sums()).merge(sums)
        return value1
