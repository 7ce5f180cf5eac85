"""rdb-key-save-delay and key-load-delay: parameters that let tests catch a server at its work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from server.parts.persistence.child_job import Report

SLICE_S = 0.003  # how long clients wait, unless a single key takes longer


def delay(keys: int, delay_us: Callable[[], int]) -> Iterator[None]:
    """Wait for so many *keys*, yielding now and then; *delay_us* may change meanwhile."""
    while keys > 0 and (each_s := seconds(delay_us())):
        some = max(1, min(keys, int(SLICE_S / each_s)))
        time.sleep(some * each_s)
        keys -= some
        yield


def seconds(delay_us: int) -> float:
    """How long to wait after each key; *delay_us* -n is one microsecond after every n keys."""
    return delay_us / 1e6 if delay_us >= 0 else -1e-6 / delay_us


def slowed(report: Report, delay_us: int) -> Report:
    """*report* with a delay of *delay_us* after each key: rdb-key-save-delay, for tests.

    A negative delay of -n is one microsecond after every n keys.
    """
    if not delay_us:
        return report
    each_s = seconds(delay_us)
    before = 0

    def wait_and_report(keys: int) -> None:
        nonlocal before
        time.sleep((keys - before) * each_s)
        before = keys
        report(keys)

    return wait_and_report
