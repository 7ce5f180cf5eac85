# cython: boundscheck=False, wraparound=False
"""The lanes of a group with ORDERBY, by the numbers that stand for their values.

    chain    00     01     10     100    101      how the numbers end that a chain has
             ann    -      bob    fay    dan      00 and 01 are split already: what ended in 100
             eve                                  and 101 has left them

An item is a Lane, or the LanePending that is the only entry of its lane: see lane_chains.py. If
there are more items than chains, the next chain is split into two by one more bit; up to KEPT
chains, there are four for each item: most are empty, so who looks for a lane seldom looks at one.
If there are four times as many chains as items, the last ones are joined to those they came from.
So no call moves more than the items of a few chains, however many lanes there are.

Source: W. Litwin, Linear hashing: a new tool for file and table addressing, VLDB 1980.

    LaneTable        64 bytes; and 8 for each chain there is room for, at most twice as many as are
"""

from __future__ import annotations

from storage import allocation
from storage.stream import lane_chains
from storage.stream.lane_chains import Item

TABLE = 64  # bytes, as listed above
CHAIN = 8
FEW = 8  # chains, at first: a power of two
KEPT = 1024  # so many, but for a few, are never joined
SPARSE = 4  # for each item, while there are no more than KEPT
JOINED = 4  # chains, when an item is removed from a table that has too many
_TABLE, _CHAIN, _FEW, _KEPT, _JOINED = TABLE, CHAIN, FEW, KEPT, JOINED  # as C numbers
_SPARSE = SPARSE


class LaneTable:
    """Items by their numbers, which are hashes and not 0. All is O(1)."""

    __slots__ = ("_chains", "_count", "_half", "_missed", "size")

    def __init__(self) -> None:
        self.size = 0
        self._missed = 0  # what has() has not found last: who adds has looked before
        self._count = 0  # chains
        self._half = _FEW // 2  # a power of two; there is room for twice as many chains
        self._chains = lane_chains.none()
        self._chains = lane_chains.resized(self._chains, _FEW)
        while self._count < _FEW:
            lane_chains.begin(self._chains, self._count)
            self._count += 1
        allocation.used += _TABLE + _CHAIN * _FEW

    def __del__(self) -> None:
        if self._count:
            self.clear()
            lane_chains.free(self._chains)
            allocation.used -= _TABLE + _CHAIN * 2 * self._half

    def clear(self) -> None:
        """Remove all items: they may come into another table. O(N)."""
        for chain in range(self._count):
            item = lane_chains.first(self._chains, chain)
            while item is not None:
                lane_chains.take(self._chains, chain, item)
                item = lane_chains.first(self._chains, chain)
        self.size = 0
        self._missed = 0

    def items(self) -> list[Item]:
        """All items, in no order. O(N)."""
        found: list[Item] = []
        for chain in range(self._count):
            lane_chains.list_all(self._chains, chain, found)
        return found

    def has(self, number: int) -> bool:
        """Whether there is an item of that number."""
        if lane_chains.has(self._chains, self._chain_of(number), number):
            return True
        self._missed = number
        return False

    def find(self, number: int) -> Item:
        """The item of that number; or None."""
        return lane_chains.find(self._chains, self._chain_of(number), number)

    def add(self, number: int, item: Item) -> bool:
        """Put *item* there. False if *number* has an item already."""
        if number != self._missed and self.has(number):
            return False
        lane_chains.put(self._chains, self._chain_of(number), item)
        self._missed = 0
        self.size += 1
        if self.size > self._count:
            self._split()
        elif self._count + _SPARSE <= _KEPT and _SPARSE * self.size > self._count:
            for _ in range(_SPARSE):
                self._split()
        return True

    def remove(self, number: int, item: Item) -> bool:
        """Remove *item*, if *number* has it; return whether it had."""
        if not lane_chains.take(self._chains, self._chain_of(number), item):
            return False
        self.size -= 1
        if 4 * self.size < self._count and self._count > _KEPT:
            self._join()
        return True

    # ------------------------------------------------------------------ chains

    def _chain_of(self, number: int) -> int:
        """Which chain has that number."""
        chain = number & (2 * self._half - 1)
        return chain if chain < self._count else chain - self._half

    def _split(self) -> None:
        """Make two of the first chain that is not split yet. Nothing, if there is no memory."""
        if self._count == 2 * self._half:
            try:
                self._make_room(2 * self._count)
            except MemoryError:
                return
        new = self._count
        lane_chains.begin(self._chains, new)
        lane_chains.move(self._chains, new - self._half, new, self._half)
        self._count += 1

    def _join(self) -> None:
        """Join some chains to those they were split from: the last ones."""
        for _ in range(_JOINED):
            if self._count == self._half:
                try:
                    self._make_room(self._half)
                except MemoryError:
                    return
            last = self._count - 1
            lane_chains.move(self._chains, last, last - self._half, self._half)
            self._count = last

    def _make_room(self, chains: int) -> None:
        """Have room for twice as many as there were, or for half."""
        self._chains = lane_chains.resized(self._chains, chains)
        allocation.used += _CHAIN * (chains - 2 * self._half)
        self._half = chains // 2
