"""The page of metrics: the figures of streaming queries for Prometheus, at 127.0.0.1 only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from pyspark_penstock import figures as f
from pyspark_penstock.figures import MOST_STREAMS, OTHERS, Place
from pyspark_penstock.jobs.query_figures import Figures, QueryFigures
from pyspark_penstock.names import utf8

LOOPBACK = "127.0.0.1"  # the page has names of streams, and asks for no password

# Each is a series for each stream of MOST_STREAMS, and for the others of a server together.
BY_STREAM = {
    f.ENTRIES_READ: "Entries read, by the offsets",
    f.BYTES_READ: "Bytes received by tasks that read",
    f.BAD_VALUES: "Values that were not of their column's type, or missing",
    f.ROWS_DROPPED: "Entries that were left out, because of bad values",
    f.ENTRIES_LOST: "Entries that were trimmed or deleted unread; at most so many",
    f.ENTRIES_REDELIVERED: "Entries taken over from other consumers of a shared group",
    f.ROWS_WRITTEN: "Rows written",
    f.BYTES_WRITTEN: "Bytes of the commands that write them",
    f.ROWS_REPEATED: "Rows written that were there already, from an earlier attempt",
    f.WRITE_RETRIES: "How often a connection was lost while rows were written",
}
WORK = {f.PLAN_MS: "plan", f.READ_MS: "read", f.WRITE_MS: "write"}


class MetricsPage:
    """Serves *figures*; port 0 is any port."""

    def __init__(self, figures: Figures, port: int) -> None:
        self._figures = figures
        registry = CollectorRegistry()
        registry.register(self)
        self._server: Any
        self._server, self._thread = start_http_server(port, addr=LOOPBACK, registry=registry)
        self.port: int = self._server.server_port

    def collect(self) -> Iterator[Metric]:
        """The families of the page."""
        with self._figures.lock:
            yield from families(self._figures.queries())

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def families(queries: list[QueryFigures]) -> list[Metric]:
    """The families of the page, for *queries*."""
    return [*of_queries(queries), lags(queries), *of_streams(queries), work(queries)]


def of_queries(queries: list[QueryFigures]) -> list[Metric]:
    """What is said of a query as a whole."""
    batches = CounterMetricFamily("penstock_query_batches", "Batches run", labels=["query"])
    written = CounterMetricFamily(
        "penstock_query_rows_written", "As the sink says", labels=["query"]
    )
    read = CounterMetricFamily("penstock_query_entries_read", "Of all streams", labels=["query"])
    lag = GaugeMetricFamily("penstock_query_lag", "Entries not read, of all", labels=["query"])
    seconds = CounterMetricFamily(
        "penstock_query_seconds", "Time in batches, by phase", labels=["query", "phase"]
    )
    observed = CounterMetricFamily(
        "penstock_query_observed", "Sums of observations", labels=["query", "observation", "name"]
    )
    for one in queries:
        name = utf8(one.name)
        batches.add_metric([name], one.batches)
        written.add_metric([name], one.rows_written)
        read.add_metric([name], one.sums.total(f.ENTRIES_READ))
        lag.add_metric([name], sum(one.lag.values()))
        for phase, ms in one.phase_ms.items():
            seconds.add_metric([name, phase], ms / 1_000)
        for (observation, field_name), value in one.observed.items():
            observed.add_metric([name, utf8(observation), utf8(field_name)], value)
    return [batches, written, read, lag, seconds, observed]


def lags(queries: list[QueryFigures]) -> Metric:
    """The lag of the streams that are furthest behind, and of the others of each server."""
    family = GaugeMetricFamily(
        "penstock_query_stream_lag",
        f"Entries of a stream that are not read yet; of the {MOST_STREAMS} largest",
        labels=["query", "server", "stream"],
    )
    for one in queries:
        add_all(family, one, largest(one.lag.items()).items())
    return family


def largest(values: Iterable[tuple[Place, int]]) -> dict[Place, int]:
    """The MOST_STREAMS largest, and the others of each server together."""
    ordered = sorted(values, key=lambda pair: -pair[1])
    found = dict(ordered[:MOST_STREAMS])
    for (server, _), entries in ordered[MOST_STREAMS:]:
        found[server, OTHERS] = found.get((server, OTHERS), 0) + entries
    return found


def of_streams(queries: list[QueryFigures]) -> list[Metric]:
    """What is counted by server and stream. What was never more than zero has no series."""
    found = {
        name: CounterMetricFamily(
            f"penstock_query_stream_{name}", meaning, labels=["query", "server", "stream"]
        )
        for name, meaning in BY_STREAM.items()
    }
    for one in queries:
        for name, family in found.items():
            values = [(place, value) for place, known, value in one.sums if known == name]
            add_all(family, one, values)
    return list(found.values())


def work(queries: list[QueryFigures]) -> Metric:
    """The time of planner and tasks, by server."""
    family = CounterMetricFamily(
        "penstock_query_work_seconds",
        "Time that planning, reading and writing take; that of all tasks together",
        labels=["query", "server", "work"],
    )
    for one in queries:
        for (server, _), name, ms in one.sums:
            if name in WORK:
                family.add_metric([utf8(one.name), utf8(server), WORK[name]], ms / 1_000)
    return family


def add_all(
    family: CounterMetricFamily | GaugeMetricFamily,
    query: QueryFigures,
    values: Iterable[tuple[Place, float]],
) -> None:
    """Add the series of streams. Names that are the same as UTF-8 have one: two are refused."""
    by_labels: dict[tuple[str, str], float] = {}
    for (server, stream), value in values:
        names = utf8(server), utf8(stream)
        by_labels[names] = by_labels.get(names, 0) + value
    for names, value in by_labels.items():
        family.add_metric([utf8(query.name), *names], value)
