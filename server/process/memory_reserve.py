"""Memory kept back, so that what was begun can be ended when the system gives no more.

    an allocation fails   the reserve goes back to the system, and the allocation is tried again: a
                          command in the midst of its changes can end
    short                 there is no reserve: what may need memory is refused until there is again
    a failure             an allocation has failed while there was none; these are counted

What is larger than the reserve fails at once: that happens to whole values and replies, never to
what data structures are made of. Uncompiled, the reserve is for the end of the server only.

Source: https://docs.python.org/3/c-api/memory.html#customize-memory-allocators
"""

from __future__ import annotations

from server.process import reserve_calls

BYTES = 32 * 1024 * 1024  # more than a turn of the loop needs: then it is looked at

_begun = False


def begin() -> None:
    """Keep it from now on, as far as it can be had."""
    global _begun  # noqa: PLW0603  (there is one for the process, as there is one memory)
    _begun = True
    reserve_calls.guard_allocations()
    reserve_calls.take(BYTES)


def is_gone() -> bool:
    """Whether it has been needed. To be asked when a turn of the loop ends."""
    return _begun and not reserve_calls.is_held()


def is_short() -> bool:
    """The same, but first it is tried to have it again."""
    return _begun and not reserve_calls.take(BYTES)


def give_back() -> None:
    """Give it back to the system: the server ends, and what that takes must not fail."""
    reserve_calls.give_back()


def failures() -> int:
    """How many allocations have failed so far that a data structure may have needed."""
    return reserve_calls.small_failures()
