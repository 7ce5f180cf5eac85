"""How long commands take: a histogram and percentiles of each, from LATENCY HISTOGRAM's counts."""

from __future__ import annotations

from collections.abc import Iterator

from server.metrics.exposition import Form, head, labels_text, number, with_label
from server.metrics.family import Family, Kind
from server.observe import command_facts
from server.parts.state import ServerState
from server.table.command import TABLE

HISTOGRAM = Family(
    "redis_commands_latencies_usec", Kind.HISTOGRAM, "µs",
    "How long the calls of the command took", ("cmd", "le"),
)  # fmt: skip
PERCENTILES = Family(
    "redis_latency_percentiles_usec", Kind.SUMMARY, "µs",
    "So many percent of the calls of the command took no longer", ("cmd", "quantile"),
)  # fmt: skip
FAMILIES = (HISTOGRAM, PERCENTILES)


def pieces(state: ServerState, form: Form) -> Iterator[bytes]:
    """Both families, a command at a time."""
    yield head(HISTOGRAM, form).encode()
    for name, count in state.command_stats.used(TABLE.all_rows()):
        latencies = count.latencies
        if latencies.calls:
            labels = labels_text(("cmd",), (name,))
            lines = [
                f"{HISTOGRAM.name}_bucket{with_label(labels, 'le', _bound(us, form))} {calls}"
                for us, calls in latencies.cumulative()
            ]
            lines += [
                f"{HISTOGRAM.name}_bucket{with_label(labels, 'le', '+Inf')} {latencies.calls}",
                f"{HISTOGRAM.name}_count{labels} {latencies.calls}",
                f"{HISTOGRAM.name}_sum{labels} {number(count.nanoseconds / 1000)}",
                "",
            ]
            yield "\n".join(lines).encode()
    yield from _percentiles(state, form)


def _bound(us: int, form: Form) -> str:
    """A number of us as the bound of a bucket; OpenMetrics wants a fraction."""
    return f"{us}.0" if form is Form.OPEN_METRICS else str(us)


def _percentiles(state: ServerState, form: Form) -> Iterator[bytes]:
    """The percentiles of latency-tracking-info-percentiles, as they are named there: 99.9.

    A summary of OpenMetrics has quantiles up to 1, so there the family is one of gauges.
    """
    is_summary = form is Form.TEXT
    family = PERCENTILES if is_summary else PERCENTILES._replace(kind=Kind.GAUGE)
    yield head(family, form).encode()
    percents = state.config.latency_tracking_info_percentiles
    counts = dict(state.command_stats.used(TABLE.all_rows()))
    for row in TABLE.all_rows():
        for name, spread in command_facts.spread(state.command_stats, [row], percents):
            labels = labels_text(("cmd",), (name,))
            lines = [
                f"{family.name}{with_label(labels, 'quantile', percent)} {number(us)}"
                for percent, us in spread.items()
            ]
            if is_summary:
                count = counts[name]
                lines.append(f"{family.name}_sum{labels} {number(count.nanoseconds / 1000)}")
                lines.append(f"{family.name}_count{labels} {count.latencies.calls}")
            yield "\n".join([*lines, ""]).encode()
