# cython: boundscheck=False, wraparound=False
"""A leaf of a score tree: up to 128 members and their scores, in order.

    marks   score prefix offset | ...      bytearray, 16 bytes a member (score_octets.py), ordered
                                           by score; members of one score by their bytes
    data    text | (hole) | text | ...     bytearray; the member's text begins at its offset

*prefix* is the member's hash prefix (storage/hash_table/bucket.py). By it the member is found in
the leaf without a look at other texts, and its mark in the index without hashing it again.

A new text goes to the end of the data. One that is removed leaves a hole. *holes* counts the bytes
of all holes; when they are more than a quarter of the data, the texts are written again.

A leaf has a *number*, which the index of members refers to, and the numbers of the leaves *before*
and *behind* it. References instead of numbers would be cycles.
"""

from __future__ import annotations

from typing import Final

from octets import buffers
from storage import allocation, octets
from storage.sorted_sets import score_octets
from storage.sorted_sets.bound import Bound

NONE: Final = -1

# In members. Longer leaves would take less memory, but inserting and removing would take longer.
SPLIT_ABOVE: Final = 128
MERGE_UP_TO: Final = 64

# In bytes of data: what writing texts again may have to copy, unless one alone is longer.
SPLIT_ABOVE_BYTES: Final = 32768
MERGE_UP_TO_BYTES: Final = 12288

# In bytes. A leaf is split as soon as it has a second long member, so six of this length are the
# most that are ever in one: with the holes between them that is below 2**32, and offsets fit marks.
LONGEST_MEMBER: Final = 1 << 29

HOLES_SHARE: Final = 4  # holes may be one in so many bytes of data
OBJECT: Final = 208  # bytes of a leaf and its two bytearrays, without what is in them


class Leaf:
    """Members and scores, numbered from 0 in their order."""

    __slots__ = ("before", "behind", "data", "holes", "marks", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.before = NONE  # the number of the leaf before
        self.behind = NONE
        self.marks = bytearray()
        self.data = bytearray()
        self.holes = 0
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._room()

    def _room(self) -> int:
        return octets.capacity(self.marks) + octets.capacity(self.data)

    def __len__(self) -> int:
        return score_octets.count(self.marks)

    # ------------------------------------------------------------------ reading

    def find(self, member: bytes, prefix: int) -> int:
        """The number of *member*, which has that hash prefix, or -1. O(members of the leaf)."""
        marks = self.marks
        end = score_octets.count(marks)
        at = score_octets.find_tag(marks, 0, prefix)
        while at < end:
            if score_octets.order(self.data, score_octets.place_at(marks, at), member) == 0:
                return at
            at = score_octets.find_tag(marks, at + 1, prefix)
        return NONE

    def count_before(self, bound: Bound) -> int:
        """How many members are before *bound*. O(log members)."""
        low, high = 0, score_octets.count(self.marks)
        while low < high:
            middle = (low + high) >> 1
            if bound.is_behind(self.marks, self.data, middle):
                low = middle + 1
            else:
                high = middle
        return low

    def member_at(self, at: int) -> bytes:
        """The member number *at*."""
        offset = score_octets.place_at(self.marks, at)
        start = score_octets.text_start(self.data, offset)
        return buffers.cut(self.data, start, start + score_octets.text_size(self.data, offset))

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, score: float, prefix: int, member: bytes) -> None:
        """Insert *member* as number *at*."""
        before = self._room()
        offset = len(self.data)
        buffers.resize(self.data, offset + score_octets.text_space(len(member)))
        score_octets.put_text(self.data, offset, member)
        score_octets.insert_mark(self.marks, at, score, prefix, offset)
        allocation.used += self._room() - before

    def remove(self, first: int, end: int) -> None:
        """Remove the members number *first* to before *end*."""
        before = self._room()
        for at in range(first, end):
            offset = score_octets.place_at(self.marks, at)
            self.holes += score_octets.text_space(score_octets.text_size(self.data, offset))
        score_octets.remove_marks(self.marks, first, end)
        allocation.used += self._room() - before
        if self.holes * HOLES_SHARE > len(self.data):
            self._write_anew()

    def keeps_place(self, at: int, score: float) -> bool:
        """Whether member number *at* may get that score and certainly stays where it is.

        Neither the first nor the last member of a leaf may: it has a neighbour in another leaf.
        """
        marks = self.marks
        return 0 < at < score_octets.count(marks) - 1 and score_octets.score_at(
            marks, at - 1
        ) < score < score_octets.score_at(marks, at + 1)

    def take(self, source: Leaf, first: int) -> None:
        """Copy the members of *source* from number *first* on, after those that are here."""
        before = self._room()
        here = score_octets.count(self.marks)
        count = score_octets.count(source.marks) - first
        buffers.resize(self.marks, (here + count) * score_octets.MARK)
        buffers.put_slice(
            self.marks,
            here * score_octets.MARK,
            source.marks,
            first * score_octets.MARK,
            count * score_octets.MARK,
        )
        self._take_texts(source, here)
        allocation.used += self._room() - before

    def _take_texts(self, source: Leaf, first: int) -> None:
        """Copy the texts of the marks from number *first* on, which still are those of *source*."""
        marks = self.marks
        size = 0
        for at in range(first, score_octets.count(marks)):
            offset = score_octets.place_at(marks, at)
            size += score_octets.text_space(score_octets.text_size(source.data, offset))
        end = len(self.data)
        buffers.resize(self.data, end + size)
        for at in range(first, score_octets.count(marks)):
            offset = score_octets.place_at(marks, at)
            size = score_octets.text_space(score_octets.text_size(source.data, offset))
            buffers.put_slice(self.data, end, source.data, offset, size)
            score_octets.put_place(marks, at, end)
            end += size

    def _write_anew(self) -> None:
        """Write all texts in order and without holes. O(bytes).

        They go to a new leaf, which then exchanges its memory with this one and is freed.
        """
        packed = Leaf(NONE)
        packed.take(self, 0)
        self.marks, packed.marks = packed.marks, self.marks
        self.data, packed.data = packed.data, self.data
        self.holes = 0

    # ------------------------------------------------------------------ sizes

    def _live(self) -> int:
        """The bytes of all texts."""
        return len(self.data) - self.holes

    def is_long(self) -> bool:
        """Whether the leaf is to be split."""
        members = score_octets.count(self.marks)
        return members > SPLIT_ABOVE or (self._live() > SPLIT_ABOVE_BYTES and members > 1)

    def may_join(self, after: Leaf) -> bool:
        """Whether this leaf and *after*, the next one, are so short that they should be one."""
        members = score_octets.count(self.marks) + score_octets.count(after.marks)
        return members <= MERGE_UP_TO and self._live() + after._live() <= MERGE_UP_TO_BYTES
