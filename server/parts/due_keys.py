"""Keys of a database by the moment at which each is due.

    times   key  ->  unix ms       NEVER: it is only known to be here
    due     (unix ms, key) ...     a heap

What *times* does not say any more is stale in the heap: it is dropped when it comes up, or all at
once when such entries are the majority. It is O(log N) to put a key, and to take one; a key that
is put for the same moment again costs O(1).
"""

from __future__ import annotations

import heapq

NEVER = 2**62  # a time that does not come
MANY_STALE = 64  # below this many stale entries nobody minds
_NEVER, _MANY_STALE = NEVER, MANY_STALE  # as C numbers


class DueKeys:
    """Keys, and when each is due."""

    __slots__ = ("_due", "_times")

    def __init__(self) -> None:
        self._due: list[tuple[int, bytes]] = []
        self._times: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._times)

    def put(self, key: bytes, at_ms: int) -> None:
        """Let *key* be due at *at_ms*, not when it was before."""
        if self._times.get(key) == at_ms:
            return
        self._times[key] = at_ms
        if at_ms < _NEVER:
            heapq.heappush(self._due, (at_ms, key))
        self._drop_stale()

    def put_first(self, key: bytes, at_ms: int) -> None:
        """Let *key* be due at *at_ms*, unless it is due before."""
        self.put(key, min(at_ms, self._times.get(key, _NEVER)))

    def discard(self, key: bytes) -> None:
        """Forget *key*, if it is here."""
        if self._times.pop(key, None) is not None:
            self._drop_stale()

    def _drop_stale(self) -> None:
        if len(self._due) > _MANY_STALE + 2 * len(self._times):
            self._due = [(at_ms, key) for key, at_ms in self._times.items() if at_ms < _NEVER]
            heapq.heapify(self._due)

    def first(self) -> tuple[int, bytes] | None:
        """When the first is due, and its key; of several the least key. None: there is none."""
        while self._due:
            at_ms, key = self._due[0]
            if self._times.get(key) == at_ms:
                return self._due[0]
            heapq.heappop(self._due)
        return None

    def first_ms(self) -> int:
        """When the first is due; NEVER: none ever is."""
        found = self.first()
        return _NEVER if found is None else found[0]

    def take_due(self, now_ms: int, most: int) -> list[bytes]:
        """Up to *most* of those due by *now_ms*, the first first: they are here no longer."""
        found: list[bytes] = []
        while len(found) < most and self.first_ms() <= now_ms:
            _, key = heapq.heappop(self._due)
            del self._times[key]
            found.append(key)
        return found

    def take_all(self) -> list[bytes]:
        """All of them: none is here any longer. O(N)."""
        found = list(self._times)
        self.clear()
        return found

    def clear(self) -> None:
        """Forget all."""
        self._due.clear()
        self._times.clear()
