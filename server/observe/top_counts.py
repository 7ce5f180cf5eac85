"""A bounded sketch of the greatest counts: space-saving, in batches.

    counts      key -> what is known of it, at most 2 * KEPT keys
    floor       what a key may have that is not among them, at most

A key that is new begins at the floor. When there are twice as many as are KEPT, the KEPT greatest
stay, and the floor becomes the greatest of the others. So no count is too low, and a key that has
more than a KEPT-th part of all is among them.

Source: Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k elements in
data streams", 2005
"""

from __future__ import annotations

from heapq import nlargest

KEPT = 1024


class TopCounts:
    """Counts by key. add() is O(1) in the mean."""

    __slots__ = ("_counts", "_floor")

    def __init__(self) -> None:
        self._counts: dict[bytes, float] = {}
        self._floor = 0.0

    def add(self, key: bytes, amount: float) -> None:
        """*key* has so much more."""
        counts = self._counts
        counts[key] = counts.get(key, self._floor) + amount
        if len(counts) > 2 * KEPT:
            self._let_go()

    def _let_go(self) -> None:
        ordered = nlargest(KEPT + 1, self._counts.items(), key=lambda item: item[1])
        self._floor = ordered[KEPT][1]
        self._counts = dict(ordered[:KEPT])

    def greatest(self, count: int) -> list[tuple[bytes, float]]:
        """The *count* keys that have most, and how much; the greatest first. O(KEPT)."""
        return nlargest(count, self._counts.items(), key=lambda item: item[1])

    def total(self) -> float:
        """What is known of all of them."""
        return sum(self._counts.values())
