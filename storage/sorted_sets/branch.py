# cython: boundscheck=False, wraparound=False
"""An inner node of a score tree: up to 64 children, and what must be known of each.

    children   [child, child, ...]            leaves if the height is 1, else branches
    marks      score count leaf | ...         bytearray, 16 bytes a child (score_octets.py)

*score* is that of the child's first member, *leaf* the number of the leaf which has that member,
and *count* how many members there are below the child. A search compares scores here, and looks at
the leaf only where they are equal.
"""

from __future__ import annotations

from typing import Any, Final

from storage import allocation, octets
from storage.hash_table import packed_octets
from storage.sorted_sets import score_octets
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.leaf import Leaf

MOST: Final = 64  # children
MERGE_UP_TO: Final = 32
OBJECT: Final = 112  # bytes of a branch and its bytearray, without what is in it and its list


class Branch:
    """Children in their order, numbered from 0. *size* is the number of all members below."""

    __slots__ = ("children", "height", "marks", "size")

    def __init__(self, height: int) -> None:
        self.height = height
        self.size = 0
        self.children: list[Any] = []
        self.marks = bytearray()
        allocation.used += OBJECT + self._room()

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._room()

    def _room(self) -> int:
        return octets.capacity(self.marks) + packed_octets.list_room(self.children)

    # ------------------------------------------------------------------ searching

    def child_before(self, bound: Bound, leaves: list[Any]) -> int:
        """The last child that begins before *bound*, or the first child. O(log children).

        All members of the children before it are before the bound, too.
        """
        low, high = 0, score_octets.count(self.marks)
        while low < high:
            middle = (low + high) >> 1
            if self._begins_before(bound, middle, leaves):
                low = middle + 1
            else:
                high = middle
        return low - 1 if low > 0 else 0

    def _begins_before(self, bound: Bound, at: int, leaves: list[Any]) -> bool:
        score = score_octets.score_at(self.marks, at)
        if bound.by_score and score != bound.score:
            return score < bound.score
        if bound.member is None:
            return bound.after
        leaf: Leaf = leaves[score_octets.place_at(self.marks, at)]
        return bound.is_behind(leaf.marks, leaf.data, 0)

    def members_before(self, at: int) -> int:
        """How many members are below the children before number *at*. O(children)."""
        members = 0
        for child in range(at):
            members += score_octets.tag_at(self.marks, child)
        return members

    def child_of(self, rank: int) -> int:
        """The child below which the member of that *rank* is. O(children)."""
        at = 0
        while rank >= score_octets.tag_at(self.marks, at):
            rank -= score_octets.tag_at(self.marks, at)
            at += 1
        return at

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, child: Any) -> None:
        """Insert *child*, which has members, as number *at*."""
        before = self._room()
        self.children.insert(at, child)
        score_octets.insert_mark(self.marks, at, 0.0, 0, 0)
        allocation.used += self._room() - before
        self.refresh(at)

    def remove(self, at: int) -> None:
        """Remove the child number *at*."""
        before = self._room()
        self.size -= score_octets.tag_at(self.marks, at)
        self.children.pop(at)
        score_octets.remove_marks(self.marks, at, at + 1)
        allocation.used += self._room() - before

    def refresh(self, at: int) -> None:
        """Note what has become of the child number *at*, which has members. O(1)."""
        self.size -= score_octets.tag_at(self.marks, at)
        if self.height == 1:
            leaf: Leaf = self.children[at]
            members = score_octets.count(leaf.marks)
            score = score_octets.score_at(leaf.marks, 0)
            score_octets.put_mark(self.marks, at, score, members, leaf.number)
        else:
            branch: Branch = self.children[at]
            members = branch.size
            score = score_octets.score_at(branch.marks, 0)
            first = score_octets.place_at(branch.marks, 0)
            score_octets.put_mark(self.marks, at, score, members, first)
        self.size += members

    def split(self) -> Branch:
        """Move the second half of the children to a new branch, which is returned."""
        moved = Branch(self.height)
        half = len(self.children) // 2
        while len(self.children) > half:
            child = self.children[half]
            self.remove(half)
            moved.insert(len(moved.children), child)
        return moved

    def take(self, after: Branch) -> None:
        """Take all children of *after*, the next branch."""
        for child in after.children:
            self.insert(len(self.children), child)

    def is_long(self) -> bool:
        """Whether the branch is to be split."""
        return len(self.children) > MOST

    def may_join(self, after: Branch) -> bool:
        """Whether this branch and *after*, the next one, should be one."""
        return len(self.children) + len(after.children) <= MERGE_UP_TO
