"""Keys that clients have given a time to expire at on a replica that they may write to.

A replica removes no key that has expired: its primary says when. Of these keys the primary knows
nothing, so nobody else would ever remove them. A key is forgotten here when it is gone, or has no
time any more, and when the server is a primary: the active expiry cycle takes over then.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace

PAGE = 100  # keys looked at between two looks at the clock
SHARE_S = 0.001  # of a tick
WORTHWHILE = 10  # percent of a page that must have been due for the next page to be looked at


class ReplicaExpiry:
    """The keys, by database; those that have waited longest are looked at first."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: OrderedDict[tuple[int, bytes], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._keys)

    def note(self, db: int, key: bytes) -> None:
        """A client has given *key* a time to expire at."""
        self._keys[db, key] = None

    def clear(self) -> None:
        """Forget all of them."""
        self._keys.clear()

    def run(self, databases: list[Keyspace], now_ms: int, monotonic_s: Callable[[], float]) -> None:
        """Remove those that are due, as far as there is time. O(keys looked at)."""
        deadline_s = monotonic_s() + SHARE_S
        left = len(self._keys)
        while left and monotonic_s() < deadline_s:
            count = min(left, PAGE)
            left -= count
            if self._run_on_page(databases, now_ms, count) * 100 <= count * WORTHWHILE:
                return

    def _run_on_page(self, databases: list[Keyspace], now_ms: int, count: int) -> int:
        """Look at the first *count* keys; how many of them are forgotten."""
        left = len(self._keys)
        for _ in range(count):
            place, _ = self._keys.popitem(last=False)
            index, key = place
            when_ms = databases[index].expiry(key)
            if NO_EXPIRY != when_ms < now_ms:
                databases[index].expire_now(key)
            elif when_ms != NO_EXPIRY:
                self._keys[place] = None
        return left - len(self._keys)
