"""A lane of a group with ORDERBY: its pending entries with one value, by their ids.

Most lanes have one entry; only the others have a tree.
"""

from __future__ import annotations

from typing import Any

from storage.rax.rax import Rax
from storage.stream import links
from storage.stream import pending as pendings
from storage.stream.pending import Pending


class Lane:
    """The pending entries with one value. Most lanes have one."""

    __slots__ = ("_others", "first", "in_chain", "key", "number", "ready_as", "taken", "turn")

    number: int  # what stands for its value, never 0
    first: Pending | None  # the one with the smallest id
    key: bytes | None  # its key
    _others: Rax | None  # id key -> Pending
    in_chain: Any  # what follows it: see lane_chains.py
    taken: int  # how many entries a consumer has
    turn: int  # in which reading it was given something last
    ready_as: int  # its number in the order's ``ready``; 0: it is not ready

    def begin(self, number: int, turn: int) -> None:
        """Be a new one, without entries."""
        self.number = number
        self.first = self.key = self._others = None
        self.in_chain = links.link_to(None)
        self.taken = 0
        self.turn = turn
        self.ready_as = 0

    def size(self) -> int:
        """How many entries it has."""
        others = 0 if self._others is None else self._others.size
        return others + (self.first is not None)

    def waiting(self) -> int:
        """How many of its entries have no owner."""
        return self.size() - self.taken

    def add(self, key: bytes, pending: Pending) -> None:
        """Add an entry that it has not."""
        first, first_key = self.first, self.key
        if first is None or first_key is None:
            self.first, self.key = pending, key
        else:
            if self._others is None:
                self._others = Rax()
            if key < first_key:  # the group was set back
                self._others.insert(first_key, first)
                self.first, self.key = pending, key
            else:
                self._others.insert(key, pending)

    def remove(self, key: bytes) -> None:
        """Remove an entry that it has."""
        others = self._others
        if key != self.key:
            if others is not None:
                others.remove(key)
        elif others is None or others.size == 0:
            self.first = self.key = None
        else:
            next_one = others.first()
            assert next_one is not None
            self.key, self.first = next_one
            others.remove(self.key)

    def after(self, pending: Pending) -> Pending | None:
        """The entry that follows *pending*, or None."""
        if self._others is None:
            return None
        place = self._others.seek(">", key_of(pending))
        found: Pending | None = place.value if place.next() else None
        return found


def key_of(pending: Pending) -> bytes:
    """The key of a pending entry."""
    key: bytes = pendings.id_of(pending).key()
    return key
