# cython: boundscheck=False, wraparound=False
"""The index of the members of a score tree: a hash table that tells in which leaf a member is.

It takes 8 bytes a member, and spare room. When a member moves to another leaf, because leaves are
split or joined, its mark is changed: that is found by prefix and old leaf, so no member is hashed.
What the table is made of: index_segment.py. How it grows and is scanned: directory.py.
"""

from __future__ import annotations

from typing import Any, Final

from storage.hash_table import mark_octets
from storage.hash_table.directory import Directory
from storage.sorted_sets.index_segment import IndexSegment
from storage.sorted_sets.leaf import Leaf

NONE: Final = -1
LEAF_SHIFT: Final = 32
MERGE_FROM: Final = 64  # members; a segment that has more joins no other


class MemberIndex(Directory):
    """Hash prefixes of members with the numbers of their leaves. *used* is how many members."""

    __slots__ = ("_leaves",)

    def __init__(self, leaves: list[Any]) -> None:
        """*leaves* are those of the tree, by their numbers; the list must stay the same object."""
        super().__init__()
        self._leaves = leaves
        self._begin(IndexSegment(0, leaves))

    def find(self, member: bytes, prefix: int) -> int:
        """Where *member* is: the number of its leaf << 32 | its number there; -1 if it is nowhere.

        O(1) expected.
        """
        segment = self._segment_of(prefix)
        marks = segment.marks
        end = mark_octets.count(marks)
        mark = segment.first_from(prefix)
        while mark < end and mark_octets.prefix_at(marks, mark) == prefix:
            number = mark_octets.number_at(marks, mark)
            leaf: Leaf = self._leaves[number]
            at = leaf.find(member, prefix)
            if at != NONE:
                return number << LEAF_SHIFT | at
            mark += 1
        return NONE

    def add(self, prefix: int, leaf: int) -> None:
        """Add a member that is in that leaf. O(1)."""
        segment = self._segment_of(prefix)
        segment.insert(prefix, leaf)
        self.used += 1
        if segment.is_long():
            self._split(prefix >> self._shift)

    def move(self, prefix: int, old: int, new: int) -> None:
        """A member has moved from the leaf *old* to the leaf *new*. O(1)."""
        segment = self._segment_of(prefix)
        mark_octets.put_number(segment.marks, segment.find_mark(prefix, old), new)

    def remove(self, prefix: int, leaf: int) -> None:
        """Remove a member that was in that leaf. O(1)."""
        segment = self._segment_of(prefix)
        segment.remove(segment.find_mark(prefix, leaf))
        self.used -= 1
        if mark_octets.count(segment.marks) <= MERGE_FROM:
            self._merge(prefix >> self._shift)

    def _segment_of(self, prefix: int) -> IndexSegment:
        segment: IndexSegment = self._directory[prefix >> self._shift]
        return segment

    def check(self) -> None:
        """Raise AssertionError unless the members of all leaves are indexed. O(N). For tests."""
        self._check_directory()
        found = []
        for segment in self.segments():
            prefixes = [mark_octets.prefix_at(segment.marks, at) for at in range(len(segment))]
            assert prefixes == sorted(prefixes), "marks out of order"
            numbers = [mark_octets.number_at(segment.marks, at) for at in range(len(segment))]
            found += list(zip(prefixes, numbers, strict=True))
        owed = [
            (mark_octets.prefix_of(leaf.member_at(at)), leaf.number)
            for leaf in self._leaves
            if leaf is not None
            for at in range(len(leaf))
        ]
        assert sorted(found) == sorted(owed), "the index and the leaves do not agree"
