"""The clocks that are read for every command: plain versions of the C functions in ticks.pxd.

The CPU's counter is read in a quarter of the time of the system's clock, but its pace is unknown:
see server.dispatch.timekeeper.
"""

from __future__ import annotations

from time import perf_counter_ns, time_ns


def now_ns() -> int:
    """A monotonic clock, in ns."""
    return perf_counter_ns()


def cpu_ticks() -> int:
    """The CPU's own counter; the monotonic clock in ns, where there is none for programs."""
    return perf_counter_ns()


def unix_ns() -> int:
    """Unix time in ns."""
    return time_ns()
