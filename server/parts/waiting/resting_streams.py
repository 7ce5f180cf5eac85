"""Streams that have nothing for a reader until something happens to them, or a moment comes.

    times   key  ->  unix ms       when the stream may have something again; NEVER: by an event only
    due     (unix ms, key) ...     a heap

What *times* does not say any more is stale in the heap: it is dropped when it comes up, or all at
once when such entries are the majority. It is O(log N) to put one, and to take one;
take_all() is O(N).
"""

from __future__ import annotations

import heapq

NEVER = 2**62  # a time that does not come
MANY_STALE = 64  # below this many stale entries nobody minds
_NEVER, _MANY_STALE = NEVER, MANY_STALE  # as C numbers


class RestingStreams:
    """Their keys, and when each may have something again."""

    __slots__ = ("_due", "_times")

    def __init__(self) -> None:
        self._due: list[tuple[int, bytes]] = []
        self._times: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._times)

    def put(self, key: bytes, at_ms: int) -> None:
        """Let *key* rest until *at_ms*, not until what was said before."""
        self._times[key] = at_ms
        if at_ms < _NEVER:
            heapq.heappush(self._due, (at_ms, key))
        self._drop_stale()

    def discard(self, key: bytes) -> None:
        """*key* rests no longer, if it did."""
        if self._times.pop(key, None) is not None:
            self._drop_stale()

    def _drop_stale(self) -> None:
        if len(self._due) > _MANY_STALE + 2 * len(self._times):
            self._due = [(at_ms, key) for key, at_ms in self._times.items() if at_ms < _NEVER]
            heapq.heapify(self._due)

    def first_ms(self) -> int:
        """When the first of them may have something again; NEVER: no time helps."""
        while self._due:
            at_ms, key = self._due[0]
            if self._times.get(key) == at_ms:
                return at_ms
            heapq.heappop(self._due)
        return _NEVER

    def take_due(self, now_ms: int, most: int) -> list[bytes]:
        """*most* of those due by *now_ms*, earliest first: they rest no longer."""
        found: list[bytes] = []
        while len(found) < most and self.first_ms() <= now_ms:
            _, key = heapq.heappop(self._due)
            del self._times[key]
            found.append(key)
        return found

    def take_all(self) -> list[bytes]:
        """All of them: none rests any longer. O(N)."""
        found = list(self._times)
        self.clear()
        return found

    def clear(self) -> None:
        """Forget all."""
        self._due.clear()
        self._times.clear()
