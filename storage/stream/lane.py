"""A lane of a group with ORDERBY: its pending entries with one value, by their ids.

Most lanes have one entry; only the others have a tail.
"""

from __future__ import annotations

from typing import Any

from storage.stream import lane_tail, links
from storage.stream.lane_tail import LaneTail
from storage.stream.pending import Pending


class Lane:
    """The pending entries with one value. Most lanes have one."""

    __slots__ = ("_tail", "first", "in_chain", "number", "ready_as", "taken", "turn")

    number: int  # what stands for its value, never 0
    first: Pending | None  # the one with the smallest id
    _tail: LaneTail | None  # the others
    in_chain: Any  # what follows it: see lane_chains.py
    taken: int  # how many entries a consumer has
    turn: int  # in which reading it was given something last
    ready_as: int  # its number in the order's ``ready``; 0: it is not ready

    def begin(self, number: int, turn: int) -> None:
        """Be a new one, without entries."""
        self.number = number
        self.first = self._tail = None
        self.in_chain = links.link_to(None)
        self.taken = 0
        self.turn = turn
        self.ready_as = 0

    def size(self) -> int:
        """How many entries it has."""
        others = 0 if self._tail is None else self._tail.size()
        return others + (self.first is not None)

    def waiting(self) -> int:
        """How many of its entries have no owner."""
        return self.size() - self.taken

    def add(self, pending: Pending) -> None:
        """Add an entry that it has not."""
        first, tail = self.first, self._tail
        if first is None:
            self.first = pending
        else:
            if tail is None:
                tail = self._tail = LaneTail()
            if lane_tail.is_before(pending, first):  # the group was set back
                self.first, pending = pending, first
            tail.add(pending)

    def remove(self, pending: Pending) -> None:
        """Remove an entry that it has."""
        tail = self._tail
        if pending is self.first:
            self.first = None if tail is None else tail.pop()
        elif tail is not None:
            tail.remove(pending)

    def after(self, pending: Pending) -> Pending | None:
        """The entry that follows *pending*, which may have left the lane, or None."""
        first = self.first
        if first is not None and lane_tail.is_before(pending, first):
            return first
        return None if self._tail is None else self._tail.after(pending)
