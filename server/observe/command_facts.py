"""Facts of the commands: how often each was called, how long that took, which errors came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from server.observe.command_stats import CommandCount, CommandStats
from server.observe.fact import (
    COUNT,
    MICROSECONDS,
    MILLISECONDS,
    Fact,
    Family,
    Kind,
    Spread,
    counter,
    gauge,
)
from server.observe.latency_histogram import LatencyHistogram
from server.table.command import Command

UNSAFE = str.maketrans("#:\n\r", "____")  # in the name of a field

CALLS = Family[CommandCount](
    "cmdstat_", "command",
    counter("calls", COUNT, lambda count: count.calls, "Times that the command has run"),
    counter("usec", MICROSECONDS, lambda count: count.nanoseconds // 1000,
            "What all runs of the command took together"),
    gauge("usec_per_call", MICROSECONDS,
          lambda count: count.nanoseconds / 1000 / count.calls if count.calls else 0.0,
          "What a run of the command took on average", "%.2f"),
    counter("rejected_calls", COUNT, lambda count: count.rejected,
            "Times that the command was refused before it ran"),
    counter("failed_calls", COUNT, lambda count: count.failed,
            "Times that the command has run into an error"),
    rare=(
        counter("slowlog_count", COUNT, lambda count: count.slow,
                "Times that the command was slow enough for SLOWLOG; shown once it was"),
        counter("slowlog_time_ms_sum", MILLISECONDS, lambda count: count.slow_us // 1000,
                "What the command took together when it was slow enough for SLOWLOG"),
        gauge("slowlog_time_ms_max", MILLISECONDS, lambda count: count.slowest_us // 1000,
              "What the command took when it was slowest, and slow enough for SLOWLOG"),
    ),
)  # fmt: skip

ERRORS = Family[int](
    "errorstat_", "error",
    counter("count", COUNT, lambda count: count, "Errors that begin with this code"),
)  # fmt: skip

LATENCIES = Spread(
    "latency_percentiles_usec_", "command", "percentile",
    Fact("p", MICROSECONDS, Kind.GAUGE, lambda us: us,
         "So many percent of the runs of the command took no longer", "%.3f"),
)  # fmt: skip


def spread(
    stats: CommandStats, rows: Iterable[Command], percents: str
) -> Iterator[tuple[str, dict[str, float]]]:
    """What the calls of *rows* took, in us, at these *percents*, which spaces stand between."""
    for row in rows:
        latencies = stats.of(row).latencies
        if latencies.calls:
            yield row.name, percentiles(latencies, percents)


def percentiles(latencies: LatencyHistogram, percents: str) -> dict[str, float]:
    """What calls took, in us, at these *percents*, which spaces stand between."""
    names = percents.split()
    times_ns = latencies.percentiles(list(map(float, names)))
    return {name: ns / 1000 for name, ns in zip(names, times_ns, strict=True)}


def codes(errors: dict[str, int]) -> list[tuple[str, int]]:
    """The codes of *errors*, as names of fields have them, and how often each was given."""
    return [(code.translate(UNSAFE), count) for code, count in sorted(errors.items())]
