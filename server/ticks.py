"""The monotonic clock in nanoseconds, read once a command."""

from __future__ import annotations

from time import perf_counter_ns


def now_ns() -> int:
    return perf_counter_ns()
