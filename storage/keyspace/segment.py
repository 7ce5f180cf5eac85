# cython: boundscheck=False, wraparound=False
"""A segment of the key table: some 100 keys in hash order, and their values.

    marks   prefix last use | prefix last use | ...   bytearray, 4 + 4 bytes a key, little-endian,
                                                      ordered by prefix: see hash_table/bucket.py
    pairs   key    value    | key    value    | ...   list, in the same order

*last use* is a number of 32 bits: the unix second in which the key was used last.

A snapshot, written by a forked child, must not touch reference counts. It reads *pairs* through
borrowed references (storage/snapshot/borrowed_table.py): item 2 * n is a key and 2 * n + 1 its
value, for n in range(len(segment)). The cyclic collector does not track the list.
"""

from __future__ import annotations

from typing import Any, Final

from storage.hash_table import mark_octets
from storage.hash_table.bucket import Bucket
from storage.keyspace import segment_octets

# In keys. Longer segments would take less memory, but inserting and removing would take longer.
SPLIT_ABOVE: Final = 170
MERGE_UP_TO: Final = 64


class Segment(Bucket):
    """Keys whose hash prefixes agree in their first *local_depth* bits, numbered from 0."""

    __slots__ = ("pairs",)

    def __init__(self, local_depth: int) -> None:
        self.local_depth = local_depth
        self.marks = bytearray()
        self.pairs: list[Any] = mark_octets.untracked([])

    # ------------------------------------------------------------------ finding

    def find(self, key: bytes, prefix: int) -> int:
        """The number of *key*, which has that prefix; ``-1 - n`` if it would be inserted at n."""
        marks = self.marks
        guess = mark_octets.guess(marks, self.local_depth, prefix)
        segment_octets.prefetch_pair(self.pairs, guess)
        at = mark_octets.first_from(marks, guess, prefix)
        end = mark_octets.count(marks)
        while at < end and mark_octets.prefix_at(marks, at) == prefix:
            if segment_octets.is_key(self.pairs, at, key):
                return at
            at += 1
        return -1 - at

    def keys(self, first: int, end: int) -> list[bytes]:
        return self.pairs[2 * first : 2 * end : 2]

    def flat_items(self, first: int, end: int) -> list[Any]:
        return self.pairs[2 * first : 2 * end]

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, key: bytes, value: Any, prefix: int, last_use: int) -> None:
        """Insert a key as number *at*, which find() gave as ``-1 - at``."""
        mark_octets.insert_mark(self.marks, at, prefix, last_use)
        segment_octets.insert_pair(self.pairs, at, key, value)

    def remove(self, at: int) -> Any:
        """Remove the key number *at* and return its value."""
        value = self.pairs[2 * at + 1]
        mark_octets.remove_mark(self.marks, at)
        segment_octets.remove_pair(self.pairs, at)
        return value

    # ------------------------------------------------------------------ splits and merges

    def is_long(self) -> bool:
        return mark_octets.count(self.marks) > SPLIT_ABOVE

    def is_short(self) -> bool:
        """Whether it may be worth while to join this segment with a neighbour."""
        return mark_octets.count(self.marks) <= MERGE_UP_TO

    def may_join(self, after: Bucket) -> bool:
        return mark_octets.count(self.marks) + mark_octets.count(after.marks) <= MERGE_UP_TO

    def part(self, first: int, end: int) -> Bucket:
        part = Segment(self.local_depth + 1)
        part.marks = self.marks[first * mark_octets.MARK : end * mark_octets.MARK]
        part.pairs = mark_octets.untracked(self.pairs[2 * first : 2 * end])
        return part

    def joined(self, after: Bucket) -> Bucket:
        joined = Segment(self.local_depth - 1)
        second: Segment = after  # type: ignore[assignment]  # a directory has one kind of buckets
        joined.marks = self.marks + second.marks
        joined.pairs = mark_octets.untracked(self.pairs + second.pairs)
        return joined
