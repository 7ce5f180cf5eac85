"""A listener of streaming queries that writes a line a batch, and serves figures to Prometheus.

    spark.streams.addListener(PenstockListener(port=9464))

    Spark, after each batch --progress JSON--> Figures --http, 127.0.0.1 only--> Prometheus
                                               ' lines, to *write*

What is exact: rows read and lag come from the offsets, which count entries; a batch that is
replayed after a crash is counted again. Times are Spark's, by its phases. What tasks alone know,
such as bad values, reaches the driver only by an observation: what
``df.observe("quality", count_if(...).alias("bad"))`` counts is summed here under its names.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from pyspark.sql.streaming.listener import StreamingQueryListener

from pyspark_penstock.jobs.progress import Report, claims_read, progress_of, ranges_read
from pyspark_penstock.names import readable, utf8

LOOPBACK = "127.0.0.1"  # the page has names of streams, and asks for no password
MOST_STREAMS = 200  # of a query by name: more would be too many series; the sums are of all
PHASES = {"latestOffset": "plan", "getBatch": "plan", "addBatch": "run", "walCommit": "log",
          "commitOffsets": "log"}  # fmt: skip


@dataclass
class QueryFigures:
    """What is known of one query, since this process began."""

    name: str
    batches: int = 0
    read: dict[str, int] = field(default_factory=dict)  # entries by stream
    lag: dict[str, int] = field(default_factory=dict)
    written: int = 0
    phase_ms: dict[str, int] = field(default_factory=dict)
    observed: dict[tuple[str, str], float] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        """Add a batch."""
        self.batches += 1
        for source in report["sources"]:
            for stream, entries, _, lag in (*ranges_read(source), *claims_read(source)):
                self.read[stream] = self.read.get(stream, 0) + entries
                if lag is not None:
                    self.lag[stream] = lag
        self.written += max(0, (report.get("sink") or {}).get("numOutputRows") or 0)
        for phase, ms in report.get("durationMs", {}).items():
            if phase in PHASES:
                name = PHASES[phase]
                self.phase_ms[name] = self.phase_ms.get(name, 0) + ms
        for observation, values in (report.get("observedMetrics") or {}).items():
            for name, value in values.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    key = (observation, name)
                    self.observed[key] = self.observed.get(key, 0) + value


class Figures:
    """The figures of all queries that run, as Prometheus collects them."""

    def __init__(self) -> None:
        self._queries: dict[str, QueryFigures] = {}
        self._lock = threading.Lock()  # Prometheus asks on another thread than Spark tells

    def add(self, report: Report) -> None:
        """Add a batch of a query."""
        with self._lock:
            known = self._queries.setdefault(
                report["id"], QueryFigures(report.get("name") or report["id"])
            )
            known.add(report)

    def forget(self, query: str) -> None:
        """A query has ended: its lag is not known any more."""
        with self._lock:
            self._queries.pop(query, None)

    def collect(self) -> Iterator[Metric]:
        """The families of the page."""
        with self._lock:
            yield from families(list(self._queries.values()))


def families(queries: list[QueryFigures]) -> list[Metric]:
    """The families of the page, for *queries*."""
    batches = CounterMetricFamily("penstock_query_batches", "Batches run", labels=["query"])
    written = CounterMetricFamily(
        "penstock_query_rows_written", "As the sink says", labels=["query"]
    )
    read = CounterMetricFamily("penstock_query_entries_read", "Of all streams", labels=["query"])
    lag = GaugeMetricFamily("penstock_query_lag", "Entries not read, of all", labels=["query"])
    by_stream = GaugeMetricFamily(
        "penstock_query_stream_lag",
        f"Entries of a stream that are not read yet; of the {MOST_STREAMS} largest",
        labels=["query", "stream"],
    )
    seconds = CounterMetricFamily(
        "penstock_query_seconds", "Time in batches, by phase", labels=["query", "phase"]
    )
    observed = CounterMetricFamily(
        "penstock_query_observed", "Sums of observations", labels=["query", "observation", "name"]
    )
    for one in queries:
        name = utf8(one.name)
        batches.add_metric([name], one.batches)
        written.add_metric([name], one.written)
        read.add_metric([name], sum(one.read.values()))
        lag.add_metric([name], sum(one.lag.values()))
        worst = sorted(one.lag.items(), key=lambda pair: -pair[1])[:MOST_STREAMS]
        for stream, entries in worst:
            by_stream.add_metric([name, utf8(stream)], entries)
        for phase, ms in one.phase_ms.items():
            seconds.add_metric([name, phase], ms / 1_000)
        for (observation, field_name), value in one.observed.items():
            observed.add_metric([name, utf8(observation), utf8(field_name)], value)
    return [batches, written, read, lag, by_stream, seconds, observed]


class PenstockListener(StreamingQueryListener):
    """See above. Without *port* nothing is served; 0 is any port. *write* is given each line."""

    def __init__(self, port: int | None = None, write: Callable[[str], None] | None = None) -> None:
        self.figures = Figures()
        self.port = port
        self._write = write
        self._server: Any = None
        if port is not None:
            registry = CollectorRegistry()
            registry.register(self.figures)
            self._server, _ = start_http_server(port, addr=LOOPBACK, registry=registry)
            self.port = self._server.server_port

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """Nothing is known of it yet."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """A batch has ended."""
        report = json.loads(event.progress.json)
        self.figures.add(report)
        if self._write is not None:
            for one in progress_of(report):
                self._write(readable(one.line()))

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """There was nothing to read."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """A query has ended."""
        self.figures.forget(str(event.id))

    def close(self) -> None:
        """Serve no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
