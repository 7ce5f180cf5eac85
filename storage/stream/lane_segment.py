# cython: boundscheck=False, wraparound=False
"""A part of the table of lanes: places for items, found by their numbers.

    place    0     1     2     3     4     5     6     7      a power of two of them
    item     -     ann   -     bob   eve   -     -     dan    eve belongs to 3, which bob has

The lower bits of a number say to which place it belongs; numbers are hashes, so each is as likely.
If that place is taken, the next free one is it. A removal closes the gap: no item may be behind a
free place that a search for it would come to. Two thirds of the places are taken at most.

Source: Knuth, The Art of Computer Programming, volume 3, 6.4, algorithms L and R.

    LaneSegment      208 bytes, and 16 for each place
"""

from __future__ import annotations

from typing import Any

from storage import allocation
from storage.hash_table import mark_octets
from storage.rdb import raw

SEGMENT = 208  # bytes, as listed above
PLACE = 16
_SEGMENT, _PLACE = SEGMENT, PLACE  # as C numbers
FEW = 8  # places, at first

Item = Any  # a Lane, or a LanePending


class LaneSegment:
    """Items by their numbers, of which the first *depth* bits are the same. All is O(1)."""

    __slots__ = ("_items", "_numbers", "depth", "size")

    def __init__(self, depth: int = 0, places: int = FEW) -> None:
        self.depth = depth
        self.size = 0
        self._make_places(places)
        allocation.used += _SEGMENT

    def __del__(self) -> None:
        allocation.used -= _SEGMENT + _PLACE * len(self._items)

    def places(self) -> int:
        """How many places it has."""
        return len(self._items)

    def is_full(self) -> bool:
        """Whether it needs more places before one more item is put there."""
        return 3 * (self.size + 1) > 2 * len(self._items)

    def item_at(self, at: int) -> Item:
        """The item at a place, or None."""
        return self._items[at]

    def number_at(self, at: int) -> int:
        """The number of the item at a place; 0 if it is free."""
        return raw.u64(raw.of_bytearray(self._numbers), 8 * at)

    def place_of(self, number: int) -> int:
        """Where the item of *number* is, or else would be put; *number* is not 0."""
        mask = len(self._items) - 1  # a number & mask is a place
        at = number & mask
        held = self.number_at(at)
        while held not in (0, number):
            at = at + 1 & mask
            held = self.number_at(at)
        return at

    def put(self, at: int, number: int, item: Item) -> None:
        """Let *item* be at the place *at*, which is that of its number."""
        self._items[at] = item
        raw.put_u64(self._numbers, 8 * at, number)

    def add(self, at: int, number: int, item: Item) -> None:
        """Put a new item at the place *at*, which is that of its number; it must not be full."""
        self.put(at, number, item)
        self.size += 1

    def remove(self, gap: int) -> None:
        """Let the place *gap* be free, and move items back over it, up to the next free one."""
        mask = len(self._items) - 1
        at = gap + 1 & mask
        number = self.number_at(at)
        while number:
            if at - number & mask >= at - gap & mask:  # the gap is not before its own place
                self.put(gap, number, self._items[at])
                gap = at
            at = at + 1 & mask
            number = self.number_at(at)
        self.put(gap, 0, None)
        self.size -= 1

    def grow(self) -> None:
        """Have twice as many places; unchanged if there is no memory. O(N)."""
        items, numbers = self._items, self._numbers
        self._make_places(2 * len(items))
        allocation.used -= _PLACE * len(items)
        for at, item in enumerate(items):
            if item is not None:
                number = raw.u64(raw.of_bytearray(numbers), 8 * at)
                self.put(self.place_of(number), number, item)

    def _make_places(self, places: int) -> None:
        """Have free places only; the old ones stay if there is no memory."""
        items: list[Item] = [None] * places
        numbers = bytearray(8 * places)
        self._items = mark_octets.untracked(items)
        self._numbers = numbers  # one for each place, 0 for a free one
        allocation.used += _PLACE * places
