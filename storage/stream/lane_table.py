# cython: boundscheck=False, wraparound=False
"""The lanes of a group with ORDERBY, by the numbers that stand for their values.

    upper bits of a number    0..         10.         11.
    directory                 first       second      third       segments of at most 1024 places

An item is a Lane, or the LanePending that is the only entry of its lane. A segment that is full
becomes two, of which each has the numbers with one more bit; two that have few items become one.
So no call moves more than some hundred items, however many lanes there are.

Source: extendible hashing, https://doi.org/10.1145/320083.320092

    LaneTable        128 bytes, and 8 for each part of the directory; its segments
                     24 to 48 bytes for each lane in all, while they become more
"""

from __future__ import annotations

from contextlib import suppress

from storage import allocation
from storage.hash_table import mark_octets
from storage.stream import lane_octets
from storage.stream.lane_segment import Item, LaneSegment

TABLE = 128  # bytes, as listed above
MOST = 1024  # places of a segment; a smaller one gets more
FEW = 128  # items of two segments that become one
DEEPEST = 20  # bits by which segments are told apart: a fuller one has more than MOST places
_TABLE, _MOST, _FEW, _DEEPEST = TABLE, MOST, FEW, DEEPEST  # as C numbers


class LaneTable:
    """Items by their numbers. All is O(1)."""

    __slots__ = ("_depth", "_directory", "_free_at", "_free_for", "_free_in", "size")

    def __init__(self) -> None:
        self.size = 0
        self._depth = 0  # bits: the directory has 2 ** depth parts
        self._directory: list[LaneSegment] = [LaneSegment()]
        # What find() has not found last, and where add() puts it: who adds has looked before.
        self._free_for = 0  # 0: nothing, or something has changed since
        self._free_in = self._directory[0]
        self._free_at = 0
        allocation.used += _TABLE

    def __del__(self) -> None:
        allocation.used -= _TABLE + 8 * (len(self._directory) - 1)

    def items(self) -> list[Item]:
        """All items, in no order. O(N)."""
        found = []
        at = 0
        while at < len(self._directory):
            segment = self._directory[at]
            found += [item for item in segment.items if item is not None]
            at += 1 << (self._depth - segment.depth)
        return found

    def find(self, number: int) -> Item:
        """The item of that number, which is not 0; or None."""
        segment = self._segment_of(number)
        at = lane_octets.place_of(segment.numbers, segment.mask, number)
        item = segment.items[at]
        if item is None:
            self._free_for, self._free_in, self._free_at = number, segment, at
        return item

    def add(self, number: int, item: Item) -> Item:
        """Put *item* there, unless *number* has an item; return the one that it has now."""
        if number == self._free_for:
            segment, at = self._free_in, self._free_at
        else:
            segment = self._segment_of(number)
            at = segment.place_of(number)
            held = segment.items[at]
            if held is not None:
                return held
        self._free_for = 0
        # First: if there is no memory, nothing has changed.
        while 3 * (segment.size + 1) > 2 * (segment.mask + 1):
            if segment.mask < _MOST - 1 or segment.depth == _DEEPEST:
                segment.grow()
            else:
                self._split(number)
            segment = self._segment_of(number)
            at = segment.place_of(number)
        segment.put_new(at, number, item)
        self.size += 1
        return item

    def replace(self, number: int, item: Item) -> None:
        """Let *item* have the place of the one that *number* has; it must have one."""
        segment = self._segment_of(number)
        segment.put(segment.place_of(number), number, item)

    def remove(self, number: int, item: Item) -> bool:
        """Remove *item*, if *number* has it; return whether it had."""
        segment = self._segment_of(number)
        at = lane_octets.place_of(segment.numbers, segment.mask, number)
        if segment.items[at] is not item:
            return False
        self._free_for = 0
        segment.remove(at)
        self.size -= 1
        if segment.depth and segment.size < _FEW:
            with suppress(MemoryError):
                self._merge(number)
        return True

    # ------------------------------------------------------------------ segments

    def _place_of(self, number: int) -> int:
        """Where in the directory the segment of *number* is."""
        return (number >> 1) >> (63 - self._depth)

    def _segment_of(self, number: int) -> LaneSegment:
        return self._directory[self._place_of(number)]

    def _split(self, number: int) -> None:
        """Make two of the segment that *number* belongs to."""
        full = self._segment_of(number)
        depth = full.depth
        parts = [LaneSegment(depth + 1, _MOST), LaneSegment(depth + 1, _MOST)]
        if depth == self._depth:
            self._double()
        for at in range(full.mask + 1):
            each = lane_octets.number_at(full.numbers, at)
            if each:
                part = parts[each >> (63 - depth) & 1]
                part.add(each, full.items[at])
        width = 1 << (self._depth - depth - 1)  # in the directory, of each of the two
        start = self._place_of(number) // (2 * width) * (2 * width)
        for at in range(width):
            self._directory[start + at] = parts[0]
            self._directory[start + width + at] = parts[1]
        self._free_in = parts[0]  # so that the old one is not kept

    def _double(self) -> None:
        """Let the directory tell one more bit."""
        old = self._directory
        new = [old[at >> 1] for at in range(2 * len(old))]
        allocation.used += 8 * len(old)
        self._directory = mark_octets.untracked(new)
        self._depth += 1

    def _merge(self, number: int) -> None:
        """Make one of the segment that *number* belongs to and its neighbour, if both have few."""
        one = self._segment_of(number)
        width = 1 << (self._depth - one.depth)
        start = self._place_of(number) // (2 * width) * (2 * width)
        first, second = self._directory[start], self._directory[start + width]
        if first.depth != second.depth or first.size + second.size >= _FEW:
            return
        both = LaneSegment(one.depth - 1, _MOST)
        for part in (first, second):
            for at in range(part.mask + 1):
                each = lane_octets.number_at(part.numbers, at)
                if each:
                    both.add(each, part.items[at])
        if both.depth == 0:
            allocation.used -= 8 * (len(self._directory) - 1)
            self._directory, self._depth = [both], 0
        else:
            for at in range(start, start + 2 * width):
                self._directory[at] = both
        self._free_in = both  # so that the old ones are not kept
