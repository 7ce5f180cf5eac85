"""Which removed values Redis frees in another thread: here all are freed at once, but counted."""

from __future__ import annotations

from typing import Any

from storage import types

MANY_PARTS = 64  # a value of so many, or of fewer, is freed by the thread that removes it


class LazyFreeing:
    """The server sets these by its parameters.

    of_expired     keys whose time is over: lazyfree-lazy-expire
    of_evicted     keys that make room: lazyfree-lazy-eviction
    of_replaced    values that a command replaces: lazyfree-lazy-server-del
    """

    __slots__ = ("count", "of_evicted", "of_expired", "of_replaced")

    def __init__(self) -> None:
        self.of_expired = False
        self.of_evicted = False
        self.of_replaced = False
        self.count = 0  # lazyfreed_objects

    def note(self, value: Any) -> None:
        """Count *value*, which is about to be removed lazily; None: there is no value."""
        if value is not None and types.of(value).parts(value) > MANY_PARTS:
            self.count += 1
