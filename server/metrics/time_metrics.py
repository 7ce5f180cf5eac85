"""How long commands take: a histogram and percentiles of each, from LATENCY HISTOGRAM's counts."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.samples import Sample

from server.metrics.exposition import Form, written
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
    is_first = True
    for command, count in state.command_stats.used(TABLE.all_rows()):
        latencies, name = count.latencies, HISTOGRAM.name
        if latencies.calls:
            bounds = [(_bound(us, form), calls) for us, calls in latencies.cumulative()]
            samples = [
                Sample(f"{name}_bucket", {"cmd": command, "le": bound}, calls)
                for bound, calls in [*bounds, ("+Inf", latencies.calls)]
            ]
            of_command = {"cmd": command}
            samples.append(Sample(f"{name}_count", of_command, latencies.calls))
            samples.append(Sample(f"{name}_sum", of_command, count.nanoseconds / 1000))
            yield written(HISTOGRAM, samples, form, is_first)
            is_first = False
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
    percents = state.config.latency_tracking_info_percentiles
    counts = dict(state.command_stats.used(TABLE.all_rows()))
    is_first = True
    for row in TABLE.all_rows():
        for command, spread in command_facts.spread(state.command_stats, [row], percents):
            samples = [
                Sample(family.name, {"cmd": command, "quantile": percent}, us)
                for percent, us in spread.items()
            ]
            if is_summary:
                count, of_command = counts[command], {"cmd": command}
                samples.append(Sample(f"{family.name}_sum", of_command, count.nanoseconds / 1000))
                samples.append(Sample(f"{family.name}_count", of_command, count.latencies.calls))
            if samples:
                yield written(family, samples, form, is_first)
                is_first = False
