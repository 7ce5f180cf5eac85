"""The clocks that are read for every command: plain versions of the C functions in ticks.pxd."""

from __future__ import annotations

from time import perf_counter_ns, time_ns


def now_ns() -> int:
    """A monotonic clock, in ns."""
    return perf_counter_ns()


def wall_ns() -> int:
    """Unix time in ns."""
    return time_ns()
