"""What a server counts of each command: COMMANDSTATS, LATENCYSTATS, LATENCY HISTOGRAM.

The command table is declared once for a process; a server counts for itself what its clients do.
"""

from __future__ import annotations

from collections.abc import Iterable

from server.observe.latency_histogram import LatencyHistogram
from server.observe.part import Part
from server.table.command import Command


class CommandCount:
    """The calls of one command since the start or the last CONFIG RESETSTAT."""

    __slots__ = (
        "calls", "failed", "latencies", "nanoseconds", "rejected", "slow", "slow_us", "slowest_us",
    )  # fmt: skip

    def __init__(self) -> None:
        self.latencies = LatencyHistogram()
        self.reset()

    def reset(self) -> None:
        self.calls = 0
        self.nanoseconds = 0
        self.rejected = 0  # refused before it ran
        self.failed = 0  # answered an error
        self.slow = 0  # were long enough for SLOWLOG
        self.slow_us = self.slowest_us = 0  # of these: all together, and the longest
        self.latencies.reset()


class CommandStats(Part):
    """A CommandCount for each command."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: list[CommandCount] = []  # by Command.number

    def of(self, command: Command) -> CommandCount:
        """The counts of *command*. O(1)."""
        number, counts = command.number, self._counts
        while number >= len(counts):  # commands are declared while the server serves
            counts.append(CommandCount())
        return counts[number]

    def used(self, rows: Iterable[Command]) -> list[tuple[str, CommandCount]]:
        """Those of *rows* that were called or refused, by name."""
        counts = [(row.name, self.of(row)) for row in rows]
        return [(name, each) for name, each in counts if each.calls or each.rejected or each.failed]

    def all_ns(self) -> int:
        """The time that all commands took; a script's has that of its own commands in it."""
        return sum([count.nanoseconds for count in self._counts])

    def statistics_reset(self) -> None:
        for count in self._counts:
            count.reset()
