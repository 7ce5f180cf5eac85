"""The figures of streaming queries, summed over their batches, for Prometheus and other readers."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from pyspark_penstock.figures import ROWS_WRITTEN, Place, Sums
from pyspark_penstock.jobs.seen import SeenBatch

PHASES = {"latestOffset": "plan", "getBatch": "plan", "addBatch": "run", "walCommit": "log",
          "commitOffsets": "log"}  # fmt: skip


@dataclass
class QueryFigures:
    """What is known of one query, since this process began."""

    name: str
    batches: int = 0
    sums: Sums = field(default_factory=Sums)
    lag: dict[Place, int] = field(default_factory=dict)
    rows_written: int = 0
    phase_ms: dict[str, int] = field(default_factory=dict)
    observed: dict[tuple[str, str], float] = field(default_factory=dict)

    def add(self, batch: SeenBatch) -> None:
        """Add a batch."""
        self.batches += 1
        self.sums.merge(batch.sums)
        self.lag |= {read.place: read.lag for read in batch.reads if read.lag is not None}
        self.rows_written += rows_written(batch)
        for phase, ms in batch.report.get("durationMs", {}).items():
            if phase in PHASES:
                name = PHASES[phase]
                self.phase_ms[name] = self.phase_ms.get(name, 0) + ms
        for observation, values in (batch.report.get("observedMetrics") or {}).items():
            for name, value in values.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    key = (observation, name)
                    self.observed[key] = self.observed.get(key, 0) + value


def rows_written(batch: SeenBatch) -> int:
    """The rows that a batch has written, as our sink tells, or any other."""
    told = int(batch.sums.total(ROWS_WRITTEN))
    return told or max(0, (batch.report.get("sink") or {}).get("numOutputRows") or 0)


class Figures:
    """The figures of all queries that run."""

    def __init__(self) -> None:
        self._queries: dict[str, QueryFigures] = {}
        self.lock = threading.Lock()  # they are asked for on another thread than Spark's reports

    def add(self, batch: SeenBatch) -> None:
        """Add a batch of a query."""
        report = batch.report
        with self.lock:
            known = self._queries.setdefault(
                report["id"], QueryFigures(report.get("name") or report["id"])
            )
            known.add(batch)

    def forget(self, query: str) -> None:
        """A query has ended: its lag is not known any more."""
        with self.lock:
            self._queries.pop(query, None)

    def queries(self) -> list[QueryFigures]:
        """All queries. The caller holds the lock while it reads them."""
        return list(self._queries.values())
