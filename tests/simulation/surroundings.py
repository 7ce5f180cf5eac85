"""What a process has of its machine besides disk and network: clocks, randomness, its own name.

They are replaced while a world runs, for the whole interpreter; nothing else may run meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from unittest.mock import patch

from server.process.faults import _reported_s

BEGUN_S = 1_700_000_000.0  # unix time when a world begins
UPTIME_S = 1000.0  # the monotonic clock then
PID = 4000
RESIDENT = 50_000_000


def no_sleep(_seconds: float) -> None:
    raise AssertionError("somebody blocks the loop of a world")


@contextmanager
def replaced(now: Callable[[], float], random: Random) -> Iterator[None]:
    """Let time be *now*() for all who ask, and randomness be *random*'s."""
    clocks = {
        "time": lambda: BEGUN_S + now(),
        "time_ns": lambda: int((BEGUN_S + now()) * 1e9),
        "monotonic": lambda: UPTIME_S + now(),
        "monotonic_ns": lambda: int((UPTIME_S + now()) * 1e9),
        "clock_gettime_ns": lambda _clock: int((UPTIME_S + now()) * 1e9),
        "sleep": no_sleep,
    }
    _reported_s.clear()  # faults.report tells each fault once in a while
    with ExitStack() as stack:
        for name, clock in clocks.items():
            stack.enter_context(patch.object(time, name, clock))
        stack.enter_context(patch.object(os, "urandom", random.randbytes))
        stack.enter_context(patch.object(os, "getpid", lambda: PID))
        stack.enter_context(
            patch("server.parts.persistence.snapshot_file.resident_bytes", lambda: RESIDENT)
        )
        yield
