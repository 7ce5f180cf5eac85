# cython: boundscheck=False, wraparound=False
"""The lanes of a group with ORDERBY, by the numbers that stand for their values.

    place    0     1     2     3     4     5     6     7      a power of two of them
    item     -     ann   -     bob   eve   -     -     dan    eve belongs to 3, which bob has

An item is a Lane, or the LanePending that is the only entry of its lane. A number is multiplied by
one of this process's own; the upper bits of the product say to which place it belongs. If that is
taken, the next free one is it. A removal closes the gap: no item may be behind a free place that a
search for it would come to. Two thirds of the places are taken at most.

Source: Knuth, The Art of Computer Programming, volume 3, 6.4, algorithms L and R.

    LaneTable        192 bytes, and 16 for each place: 24 to 48 for each lane while they become more
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from storage import allocation
from storage.hash_table import mark_octets
from storage.rdb import raw

TABLE = 192  # bytes, as listed above
PLACE = 16
KEPT = 1024  # places: a table of no more is not made smaller, since it is soon as full again
_TABLE, _PLACE, _KEPT = TABLE, PLACE, KEPT  # as C numbers
_BITS = 64
_FEW_BITS = 3  # of the number of places at first
_U64 = 2**64 - 1
FACTOR = hash(b"lanes") & _U64 | 1  # Python keys its hashes: nobody outside knows which place
_FACTOR = FACTOR

Item = Any  # a Lane, or a LanePending


class LaneTable:
    """Items by their numbers. All is O(1), but for a change of its size."""

    __slots__ = ("_items", "_numbers", "_shift", "size")

    def __init__(self) -> None:
        self.size = 0
        self._make_places(_BITS - _FEW_BITS)
        allocation.used += _TABLE

    def __del__(self) -> None:
        allocation.used -= _TABLE + _PLACE * len(self._items)

    def items(self) -> list[Item]:
        """All items, in no order. O(N)."""
        return [item for item in self._items if item is not None]

    def find(self, number: int) -> Item:
        """The item of that number, which is not 0; or None."""
        return self._items[self._place_of(number)]

    def add(self, number: int, item: Item) -> Item:
        """Put *item* there, unless *number* has an item; return the one that it has now."""
        at = self._place_of(number)
        held = self._items[at]
        if held is not None:
            return held
        if 3 * (self.size + 1) > 2 * len(self._items):
            self._resize(self._shift - 1)  # first: if there is no memory, nothing has changed
            at = self._place_of(number)
        self._put(at, number, item)
        self.size += 1
        return item

    def replace(self, number: int, item: Item) -> None:
        """Let *item* have the place of the one that *number* has; it must have one."""
        self._items[self._place_of(number)] = item

    def remove(self, number: int, item: Item) -> bool:
        """Remove *item*, if *number* has it; return whether it had."""
        at = self._place_of(number)
        if self._items[at] is not item:
            return False
        self.size -= 1
        self._close(at)
        if len(self._items) > _KEPT and 8 * self.size < len(self._items):
            self._shrink()
        return True

    def _shrink(self) -> None:
        """Have half the places, unless there is no memory to move to."""
        with suppress(MemoryError):
            self._resize(self._shift + 1)

    # ------------------------------------------------------------------ places

    def _make_places(self, shift: int) -> None:
        """Have free places only, as many as *shift* says; the old ones stay if memory is out."""
        places = 1
        places <<= _BITS - shift
        items: list[Item] = [None] * places
        numbers = bytearray(8 * places)
        self._shift = shift
        self._items = mark_octets.untracked(items)
        self._numbers = numbers  # one for each place, 0 for a free one
        allocation.used += _PLACE * places

    def _first_place(self, number: int) -> int:
        return (number * _FACTOR & _U64) >> self._shift

    def _number_at(self, at: int) -> int:
        """The number of the item at a place; 0 if it is free."""
        return raw.u64(raw.of_bytearray(self._numbers), 8 * at)

    def _put(self, at: int, number: int, item: Item) -> None:
        self._items[at] = item
        raw.put_u64(self._numbers, 8 * at, number)

    def _place_of(self, number: int) -> int:
        """Where the item of *number* is, or else would be put."""
        mask = len(self._items) - 1  # a number & mask is a place
        at = self._first_place(number)
        held = self._number_at(at)
        while held not in (0, number):
            at = at + 1 & mask
            held = self._number_at(at)
        return at

    def _close(self, gap: int) -> None:
        """Let the place *gap* be free, and move items back over it, up to the next free one."""
        mask = len(self._items) - 1
        at = gap + 1 & mask
        number = self._number_at(at)
        while number:
            first = self._first_place(number)
            if at - first & mask >= at - gap & mask:  # the gap is not before its first place
                self._put(gap, number, self._items[at])
                gap = at
            at = at + 1 & mask
            number = self._number_at(at)
        self._put(gap, 0, None)

    def _resize(self, shift: int) -> None:
        """Move all to places of another number. O(N)."""
        items, numbers = self._items, self._numbers
        self._make_places(shift)
        allocation.used -= _PLACE * len(items)
        for at, item in enumerate(items):
            if item is not None:
                number = raw.u64(raw.of_bytearray(numbers), 8 * at)
                self._put(self._place_of(number), number, item)
