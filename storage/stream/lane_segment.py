# cython: boundscheck=False, wraparound=False
"""A part of the table of lanes: places for items, found by their numbers.

    place    0     1     2     3     4     5     6     7      a power of two of them
    item     -     ann   -     bob   eve   -     -     dan    eve belongs to 3, which bob has

The lower bits of a number say to which place it belongs; numbers are hashes, so each is as likely.
If that place is taken, the next free one is it. A removal closes the gap: no item may be behind a
free place that a search for it would come to. Two thirds of the places are taken at most.

Source: Knuth, The Art of Computer Programming, volume 3, 6.4, algorithms L and R.

    LaneSegment      216 bytes, and 16 for each place
"""

from __future__ import annotations

from typing import Any

from storage import allocation
from storage.hash_table import mark_octets
from storage.stream import lane_octets

SEGMENT = 216  # bytes, as listed above
PLACE = 16
_SEGMENT, _PLACE = SEGMENT, PLACE  # as C numbers
FEW = 8  # places, at first

Item = Any  # a Lane, or a LanePending


class LaneSegment:
    """Items by their numbers, of which the first *depth* bits are the same. All is O(1).

    The table looks at *items*, *numbers* and *mask* itself, once for each entry that is delivered.
    """

    __slots__ = ("depth", "items", "mask", "numbers", "size")

    items: list[Item]  # one for each place; None if it is free
    numbers: bytearray  # see lane_octets.py
    mask: int  # the last place

    def __init__(self, depth: int = 0, places: int = FEW) -> None:
        self.depth = depth
        self.size = 0
        self._make_places(places)
        allocation.used += _SEGMENT

    def __del__(self) -> None:
        allocation.used -= _SEGMENT + _PLACE * (self.mask + 1)

    def place_of(self, number: int) -> int:
        """Where the item of *number* is, or else would be put; *number* is not 0."""
        return lane_octets.place_of(self.numbers, self.mask, number)

    def put(self, at: int, number: int, item: Item) -> None:
        """Let *item* be at the place *at*, which is that of its number."""
        self.items[at] = item
        lane_octets.put(self.numbers, at, number)

    def put_new(self, at: int, number: int, item: Item) -> None:
        """Put a new item at the place *at*, which is that of its number; another must be free."""
        self.items[at] = item
        lane_octets.put(self.numbers, at, number)
        self.size += 1

    def add(self, number: int, item: Item) -> None:
        """Put a new item at the place of its number."""
        self.put_new(self.place_of(number), number, item)

    def remove(self, gap: int) -> None:
        """Let the place *gap* be free, and move items back over it, up to the next free one."""
        items, numbers, mask = self.items, self.numbers, self.mask
        at = lane_octets.place_to_move(numbers, mask, gap)
        while at >= 0:
            items[gap] = items[at]
            lane_octets.put(numbers, gap, lane_octets.number_at(numbers, at))
            gap = at
            at = lane_octets.place_to_move(numbers, mask, gap)
        items[gap] = None
        lane_octets.put(numbers, gap, 0)
        self.size -= 1

    def grow(self) -> None:
        """Have twice as many places; unchanged if there is no memory. O(N)."""
        items, numbers = self.items, self.numbers
        self._make_places(2 * len(items))
        allocation.used -= _PLACE * len(items)
        for at, item in enumerate(items):
            if item is not None:
                number = lane_octets.number_at(numbers, at)
                self.put(self.place_of(number), number, item)

    def _make_places(self, places: int) -> None:
        """Have free places only; the old ones stay if there is no memory."""
        items: list[Item] = [None] * places
        numbers = bytearray(lane_octets.NUMBER * places)
        self.items = mark_octets.untracked(items)
        self.numbers = numbers
        self.mask = places - 1
        allocation.used += _PLACE * places
