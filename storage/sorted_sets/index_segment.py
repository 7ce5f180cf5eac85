# cython: boundscheck=False, wraparound=False
"""A segment of the index of members: it tells in which leaf of a score tree a member is.

    marks   prefix leaf | prefix leaf | ...     bytearray, 4 + 4 bytes a member, little-endian,
                                                ordered by prefix: see storage/hash_table/bucket.py

*leaf* is the leaf's number. The members themselves are in the leaves only. Two members of the same
prefix in the same leaf have equal marks, and it does not matter which is whose.
"""

from __future__ import annotations

from typing import Any, Final

from octets import buffers
from storage import allocation, octets
from storage.hash_table import mark_octets
from storage.hash_table.bucket import Bucket
from storage.sorted_sets import score_octets
from storage.sorted_sets.leaf import Leaf

NONE: Final = -1
SPLIT_ABOVE: Final = 170  # members, as in the segments of other tables
MERGE_UP_TO: Final = 64
OBJECT: Final = 112  # bytes of a segment and its bytearray, without what is in it


class IndexSegment(Bucket):
    """Marks of members whose hash prefixes agree in their first *local_depth* bits."""

    __slots__ = ("leaves",)

    def __init__(self, local_depth: int, leaves: list[Any]) -> None:
        """*leaves* are those of the tree, by their numbers."""
        self.local_depth = local_depth
        self.marks = bytearray()
        self.leaves = leaves
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + octets.capacity(self.marks)

    def find_mark(self, prefix: int, leaf: int) -> int:
        """The number of a mark of that prefix and leaf, which there is."""
        at = self.first_from(prefix)
        while mark_octets.number_at(self.marks, at) != leaf:
            at += 1
        return at

    def insert(self, prefix: int, leaf: int) -> None:
        """Add a mark."""
        before = octets.capacity(self.marks)
        mark_octets.insert_mark(self.marks, self.first_from(prefix), prefix, leaf)
        allocation.used += octets.capacity(self.marks) - before

    def remove(self, at: int) -> None:
        """Remove the mark number *at*."""
        before = octets.capacity(self.marks)
        mark_octets.remove_mark(self.marks, at)
        allocation.used += octets.capacity(self.marks) - before

    # ------------------------------------------------------------------ members

    def keys(self, first: int, end: int) -> list[bytes]:
        return self._members(first, end, False)

    def flat_items(self, first: int, end: int) -> list[Any]:
        return self._members(first, end, True)

    def _members(self, first: int, end: int, with_scores: bool) -> list[Any]:
        """The members of these marks, each once; no mark of the same prefix is outside of them."""
        found: list[Any] = []
        for at in range(first, end):
            if not self._is_again(first, at):
                prefix = mark_octets.prefix_at(self.marks, at)
                leaf: Leaf = self.leaves[mark_octets.number_at(self.marks, at)]
                place = score_octets.find_tag(leaf.marks, 0, prefix)
                while place < score_octets.count(leaf.marks):
                    found.append(leaf.member_at(place))
                    if with_scores:
                        found.append(score_octets.score_at(leaf.marks, place))
                    place = score_octets.find_tag(leaf.marks, place + 1, prefix)
        return found

    def _is_again(self, first: int, at: int) -> bool:
        """Whether a mark from number *first* on, but before number *at*, equals that one."""
        prefix = mark_octets.prefix_at(self.marks, at)
        number = mark_octets.number_at(self.marks, at)
        at -= 1
        while at >= first and mark_octets.prefix_at(self.marks, at) == prefix:
            if mark_octets.number_at(self.marks, at) == number:
                return True
            at -= 1
        return False

    # ------------------------------------------------------------------ splits and merges

    def is_long(self) -> bool:
        return mark_octets.count(self.marks) > SPLIT_ABOVE

    def may_join(self, after: Bucket) -> bool:
        return mark_octets.count(self.marks) + mark_octets.count(after.marks) <= MERGE_UP_TO

    def part(self, first: int, end: int) -> Bucket:
        part = IndexSegment(self.local_depth + 1, self.leaves)
        part._take(self, first, end)
        return part

    def joined(self, after: Bucket) -> Bucket:
        joined = IndexSegment(self.local_depth - 1, self.leaves)
        joined._take(self, 0, mark_octets.count(self.marks))
        joined._take(after, 0, mark_octets.count(after.marks))
        return joined

    def _take(self, source: Bucket, first: int, end: int) -> None:
        """Copy the marks number *first* to before *end* of *source* after those that are here."""
        before = octets.capacity(self.marks)
        here = len(self.marks)
        size = (end - first) * mark_octets.MARK
        buffers.resize(self.marks, here + size)
        buffers.put_slice(self.marks, here, source.marks, first * mark_octets.MARK, size)
        allocation.used += octets.capacity(self.marks) - before
