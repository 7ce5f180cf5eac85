"""The memory that is kept back: plain versions of the C functions in reserve_calls.pxd.

Here it is given back only by give_back(), and no freed block is kept. Compiled, an allocation of
Python's that fails gives it back, and is retried.
"""

from __future__ import annotations

import mmap
from itertools import count

_reserve: list[mmap.mmap] = []
_asked = count(1)


def take(size: int) -> bool:
    """Whether there is a reserve of *size* bytes, taken now if needed."""
    if not _reserve:
        try:
            _reserve.append(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        except (OSError, MemoryError):
            return False
    return True


def give_back() -> None:
    """Give it back to the system."""
    _reserve.clear()


def is_held() -> bool:
    """Whether there is a reserve."""
    return bool(_reserve)


def small_failures() -> int:
    """How many allocations failed that were smaller than the reserve: nobody knows, so one more."""
    return next(_asked)


def guard_allocations() -> None:
    """From now on, let allocations that fail use the reserve."""


def has_spare() -> bool:
    """Whether a freed block is kept."""
    return False


def spares() -> int:
    """How many blocks have been kept so far."""
    return 0


def drop_spare() -> None:
    """Give the freed block back to the system, if one is kept."""
