"""rdb-key-save-delay and key-load-delay: parameters that let tests catch a server at its work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

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
