# cython: boundscheck=False, wraparound=False
"""A segment of the key table (a bucket of extendible hashing): some 100 keys in hash order.

A key's *hash prefix* is the upper 32 bits of its hash (segment_octets.prefix_of). The prefixes of
all keys of a segment agree in their first *local_depth* bits, which the table's directory knows:

    marks   prefix last use | prefix last use | ...   bytearray, 4 + 4 bytes a key, little-endian,
                                                      ordered by prefix
    pairs   key    value    | key    value    | ...   list, in the same order

*last use* is a number of 32 bits: the unix second in which the key was used last.

A lookup is an interpolation search: hashes are spread evenly, so the prefix itself tells roughly
where the key is. Among 100 keys the guess is off by 4, on average. That costs as much time as the
index of a hash table and takes no memory; the order makes scans, splits and merges simple.

A snapshot, written by a forked child, must not touch reference counts. It reads *pairs* through
borrowed references (storage/snapshot/borrowed_table.py): item 2 * n is a key and 2 * n + 1 its
value, for n in range(len(segment)). The cyclic collector does not track the list.
"""

from __future__ import annotations

from typing import Any

from storage.keyspace import segment_octets


class Segment:
    """Keys whose hash prefixes agree in their first *local_depth* bits, numbered from 0."""

    __slots__ = ("local_depth", "marks", "pairs")

    def __init__(self, local_depth: int) -> None:
        self.local_depth = local_depth
        self.marks = bytearray()
        self.pairs: list[Any] = segment_octets.untracked([])

    def __len__(self) -> int:
        return len(self.pairs) // 2

    # ------------------------------------------------------------------ finding

    def first_from(self, prefix: int) -> int:
        """The number of the first key whose prefix is *prefix* or greater.

        *prefix* must belong to the segment. O(1) expected; O(N) if hashes are not spread evenly.
        """
        return segment_octets.first_from(self.marks, self._guess(prefix), prefix)

    def _guess(self, prefix: int) -> int:
        """About where that is."""
        offset = (prefix << self.local_depth) & segment_octets.PREFIX_MASK
        return (offset * (len(self.marks) // segment_octets.MARK)) >> segment_octets.PREFIX_BITS

    def find(self, key: bytes, prefix: int) -> int:
        """The number of *key*, which has that prefix; ``-1 - n`` if it would be inserted at n."""
        marks = self.marks
        guess = self._guess(prefix)
        segment_octets.prefetch_pair(self.pairs, guess)
        at = segment_octets.first_from(marks, guess, prefix)
        end = len(marks) // segment_octets.MARK
        while at < end and segment_octets.prefix_at(marks, at) == prefix:
            if segment_octets.is_key(self.pairs, at, key):
                return at
            at += 1
        return -1 - at

    def key_at(self, at: int) -> bytes:
        """The key number *at*."""
        key: bytes = self.pairs[2 * at]
        return key

    def prefix_at(self, at: int) -> int:
        """The prefix of the key number *at*."""
        return segment_octets.prefix_at(self.marks, at)

    def keys(self, first: int, end: int) -> list[bytes]:
        """The keys from number *first* to before *end*."""
        return self.pairs[2 * first : 2 * end : 2]

    def items(self) -> list[tuple[bytes, Any]]:
        """The keys and their values."""
        return list(zip(self.pairs[::2], self.pairs[1::2], strict=True))

    def end_of_page(self, first: int, count: int) -> int:
        """The end of a page of *count* keys from number *first* on.

        The page may be longer: keys of one prefix always come together.
        """
        end = first + count
        size = len(self.pairs) // 2
        if end >= size:
            return size
        while 0 < end < size and self.prefix_at(end) == self.prefix_at(end - 1):
            end += 1
        return end

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, key: bytes, value: Any, prefix: int, last_use: int) -> None:
        """Insert a key as number *at*, which find() gave as ``-1 - at``."""
        segment_octets.insert_mark(self.marks, at, prefix, last_use)
        segment_octets.insert_pair(self.pairs, at, key, value)

    def remove(self, at: int) -> Any:
        """Remove the key number *at* and return its value."""
        value = self.pairs[2 * at + 1]
        segment_octets.remove_mark(self.marks, at)
        segment_octets.remove_pair(self.pairs, at)
        return value

    def part(self, first: int, end: int) -> Segment:
        """A segment for half of the block: the keys from number *first* to before *end*."""
        part = Segment(self.local_depth + 1)
        part.marks = self.marks[first * segment_octets.MARK : end * segment_octets.MARK]
        part.pairs = segment_octets.untracked(self.pairs[2 * first : 2 * end])
        return part

    def joined(self, after: Segment) -> Segment:
        """A segment for the whole block; this is the first half and *after* the second."""
        joined = Segment(self.local_depth - 1)
        joined.marks = self.marks + after.marks
        joined.pairs = segment_octets.untracked(self.pairs + after.pairs)
        return joined
