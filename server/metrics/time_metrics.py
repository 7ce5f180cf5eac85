"""How long commands take: a histogram and percentiles of each, from LATENCY HISTOGRAM's counts."""

from __future__ import annotations

from collections.abc import Iterator

from server.metrics.exposition import Form, Writer, labels_text
from server.metrics.family import Family, Kind
from server.observe import command_facts
from server.observe.command_stats import CommandCount
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
OF_COMMAND = HISTOGRAM._replace(labels=("cmd",))  # of its sum and count


def pieces(state: ServerState, writer: Writer) -> Iterator[bytes]:
    """Both families, a command at a time."""
    is_first, name = True, HISTOGRAM.name
    used = list(state.command_stats.used(TABLE.all_rows()))
    for command, count in used:
        latencies = count.latencies
        if latencies.calls:
            buckets = list(latencies.cumulative())
            bounds = [*(_bound(us, writer.form) for us, _ in buckets), "+Inf"]
            lines = [
                writer.head(HISTOGRAM) if is_first else b"",
                writer.lines(
                    HISTOGRAM, f"{name}_bucket", [labels_text((command, le)) for le in bounds],
                    [*(calls for _, calls in buckets), latencies.calls],
                ),
                writer.lines(OF_COMMAND, f"{name}_count", [command], [latencies.calls]),
                writer.lines(OF_COMMAND, f"{name}_sum", [command], [count.nanoseconds / 1000]),
            ]  # fmt: skip
            yield b"".join(lines)
            is_first = False
    yield from _percentiles(used, state.config.latency_tracking_info_percentiles, writer)


def _bound(us: int, form: Form) -> str:
    """A number of us as the bound of a bucket; OpenMetrics wants a fraction."""
    return f"{us}.0" if form is Form.OPEN_METRICS else str(us)


def _percentiles(
    used: list[tuple[str, CommandCount]], percents: str, writer: Writer
) -> Iterator[bytes]:
    """The percentiles of latency-tracking-info-percentiles, as they are named there: 99.9.

    A summary of OpenMetrics has quantiles up to 1, so there the family is one of gauges.
    """
    is_summary = writer.form is Form.TEXT
    family = PERCENTILES if is_summary else PERCENTILES._replace(kind=Kind.GAUGE)
    whole = family._replace(labels=("cmd",))
    is_first, name = True, family.name
    for command, count in used:
        calls = count.latencies.calls
        if not calls:
            continue
        spread = command_facts.percentiles(count.latencies, percents)
        labels = [labels_text((command, percent)) for percent in spread]
        lines = writer.lines(family, name, labels, list(spread.values()))
        if is_summary:
            lines += writer.lines(whole, f"{name}_sum", [command], [count.nanoseconds / 1000])
            lines += writer.lines(whole, f"{name}_count", [command], [calls])
        if lines:
            yield writer.head(family) + lines if is_first else lines
            is_first = False
