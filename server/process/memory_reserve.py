"""Memory kept back: a reserve for the moment when the system gives no more, and a spare block.

The reserve is there so that what was begun can be ended:

    an allocation fails   the reserve goes back to the system, and the allocation is tried again: a
                          command halfway through its changes can end
    short                 there is no reserve: what may need memory is refused until there is again
    a failure             an allocation has failed while there was none; these are counted

What is larger than the reserve fails at once: that happens to whole values and replies, never to
what data structures are made of. Uncompiled, the reserve is for the end of the server only.

The spare block is the last large one that was freed, of 4 to 256 MB, and serves the next allocation
of that size, or up to an eighth less; or up to a half less, if a smaller block grows. Otherwise the
system would clear new pages for each large value that takes the place of another, which takes as
long as to receive it. Four bounds defend the operator from a process that holds what it does not
use: there is one block, none is larger than 256 MB, it goes after SPARE_MS without use (Redis's
allocator keeps all that is freed about as long), and at once if an allocation fails or MEMORY PURGE
asks. It does not count as used memory, since no data are in it; the process's resident memory has
it. Uncompiled there is none.

Source: https://docs.python.org/3/c-api/memory.html#customize-memory-allocators
"""

from __future__ import annotations

from server.process import reserve_calls

BYTES = 32 * 1024 * 1024  # more than a turn of the loop needs: then it is looked at
SPARE_MS = 10_000

_begun = False
_spares = 0  # blocks that were kept up to the last tick ...
_kept_ms = 0  # ... and when the last of them was


def begin() -> None:
    """Keep it from now on, as far as it can be obtained."""
    global _begun  # noqa: PLW0603  (there is one for the process, as there is one memory)
    _begun = True
    reserve_calls.guard_allocations()
    reserve_calls.take(BYTES)


def is_gone() -> bool:
    """Whether it has been needed. To be asked when a turn of the loop ends."""
    return _begun and not reserve_calls.is_held()


def is_short() -> bool:
    """Whether it is gone, after trying to reacquire it."""
    return _begun and not reserve_calls.take(BYTES)


def give_back() -> None:
    """Give it back to the system: the server ends, and what that takes must not fail."""
    reserve_calls.give_back()


def failures() -> int:
    """How many allocations have failed so far that a data structure may have needed."""
    return reserve_calls.small_failures()


def tick(now_ms: int) -> None:
    """Give the spare block back if it has not been used for SPARE_MS. To be called by cron."""
    global _spares, _kept_ms
    spares = reserve_calls.spares()
    if spares != _spares:
        _spares, _kept_ms = spares, now_ms
    elif now_ms - _kept_ms >= SPARE_MS:
        drop_spare()


def drop_spare() -> None:
    """Give the spare block back to the system, if there is one."""
    reserve_calls.drop_spare()


def has_spare() -> bool:
    """Whether a block is kept."""
    return reserve_calls.has_spare()
