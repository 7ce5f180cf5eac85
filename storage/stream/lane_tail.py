"""The entries of a lane after its first one, by their ids.

_run   [gone, gone | first ... last]   as they come and go mostly: after the last, from the front
                     ^ _begin
                     after() has found the one at _found
_tree  id key -> Pending               of a lane that got one that was not after its last, or lost
                                       one from the middle of many
"""

from __future__ import annotations

from typing import Any

from storage import allocation
from storage.rax.rax import Rax
from storage.stream import pending as pendings
from storage.stream.pending import Pending

TAIL = 144  # bytes, compiled: the object, and the list, which begins with room for four
PLACE = 9  # bytes in the list, which grows by an eighth
FEW = 64  # places that are gone, and stay in the list; and that are near its front
MANY = 1024  # places from the end: so many are moved in memory, and no more
_TAIL, _PLACE, _FEW, _MANY = TAIL, PLACE, FEW, MANY  # as C numbers


class LaneTail:
    """Pending entries by their ids; no two have one. It keeps them alive."""

    __slots__ = ("_begin", "_found", "_run", "_tree")

    def __init__(self) -> None:
        self._run: list[Any] = []  # Pending; None in the places that are gone
        self._begin = 0  # where the first one is
        self._found = 0  # where to look first: who walks over all does not search for each
        self._tree: Rax | None = None  # then it has all, and _run has none
        allocation.used += _TAIL

    def __del__(self) -> None:
        allocation.used -= _TAIL + _PLACE * len(self._run)

    def size(self) -> int:
        """How many there are. O(1)."""
        return len(self._run) - self._begin if self._tree is None else self._tree.size

    def add(self, pending: Pending) -> None:
        """Add one. O(1) after the last, else O(log N); but O(N log N) if that makes the tree."""
        if self._tree is None and self.size() and is_before(pending, self._at(-1)):
            self._make_tree()
        if self._tree is not None:
            self._tree.insert(key_of(pending), pending)
        else:
            self._run.append(pending)
            allocation.used += _PLACE

    def remove(self, pending: Pending) -> None:
        """Remove one that is here. O(1) in front, else O(log N); but as add() for the tree."""
        if self._tree is not None:
            self._tree.remove(key_of(pending))
        else:
            at = self._place_after(pending) - 1
            if at >= self._begin and self._run[at] is pending:
                self._leave(at)

    def _leave(self, at: int) -> None:
        """Take one out of _run. Near the front it is what is before it that moves."""
        run, begin = self._run, self._begin
        if at - begin > _FEW and len(run) - at > _MANY:
            pending: Pending = run[at]
            self._make_tree().remove(key_of(pending))
        elif at - begin > _FEW:
            del run[at]
            allocation.used -= _PLACE
        else:
            while at > begin:
                run[at] = run[at - 1]
                at -= 1
            run[begin] = None
            begin += 1
            if begin > _FEW and begin > len(run) - begin:
                del run[:begin]
                allocation.used -= _PLACE * begin
                begin = 0
            self._begin = begin

    def pop(self) -> Pending | None:
        """Remove the first one, and return it; None if there is none."""
        first = self.first()
        if first is not None and self._tree is not None:
            self._tree.remove(key_of(first))
        elif first is not None:
            self._leave(self._begin)
        return first

    def first(self) -> Pending | None:
        """The one with the smallest id, or None. O(1)."""
        if self._tree is None:
            return self._at(0) if self.size() else None
        found = self._tree.first()
        first: Pending | None = None if found is None else found[1]
        return first

    def after(self, pending: Pending) -> Pending | None:
        """The first one whose id is greater than that of *pending*, or None.

        O(1) if *pending* is what it has returned last, and there is no tree; else O(log N).
        """
        found: Pending | None = None
        if self._tree is not None:
            place = self._tree.seek(">", key_of(pending))
            found = place.value if place.next() else None
        else:
            run, at = self._run, self._found
            is_here = at < len(run) and run[at] is pending
            at = at + 1 if is_here else self._place_after(pending)
            if at < len(run):
                found = run[at]
                self._found = at
        return found

    def _at(self, place: int) -> Pending:
        """The one at *place* of those that are here; -1 is the last."""
        found: Pending = self._run[len(self._run) - 1 if place < 0 else self._begin + place]
        return found

    def _place_after(self, pending: Pending) -> int:
        """Where in _run the first one is that is after *pending*, or would be."""
        low, high, step = self._begin, len(self._run), 1
        while low + step <= high:  # most often it is one of the first
            if is_before(pending, self._run[low + step - 1]):
                high = low + step - 1
                break
            low += step
            step += step
        while low < high:
            middle = (low + high) >> 1
            if is_before(pending, self._run[middle]):
                high = middle
            else:
                low = middle + 1
        return low

    def _make_tree(self) -> Rax:
        """Keep all in a tree from now on. O(N log N)."""
        tree = Rax()
        for pending in self._run[self._begin :]:
            tree.insert(key_of(pending), pending)
        allocation.used -= _PLACE * len(self._run)
        self._run, self._begin, self._tree = [], 0, tree
        return tree


def is_before(one: Pending, other: Pending) -> bool:
    """Whether *one* has the smaller id."""
    return one.ms < other.ms or (one.ms == other.ms and one.seq < other.seq)


def key_of(pending: Pending) -> bytes:
    """The key of a pending entry."""
    key: bytes = pendings.id_of(pending).key()
    return key
