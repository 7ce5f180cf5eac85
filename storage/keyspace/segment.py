# cython: boundscheck=False, wraparound=False
"""A segment of the key table: some 100 keys in the order of their places, each with a stamp.

A key's *place* is a 32-bit number made of its hash (segment_octets.place_of). The places of all
keys of a segment begin with the same *bits* bits, which the table's directory knows:

    marks   place stamp | place stamp | ...     bytearray, 4 + 4 bytes a key, little-endian,
                                                ordered by place
    pairs   key   value | key   value | ...     list, in the same order

The stamp is any 32-bit number that the owner wants to keep with the key: the unix second of its
last use.

Hashes are spread evenly, so a key is sought where its place lies between the least and the
greatest: of 100 keys the guess is wrong by 4, on average. That costs what a hash table's index
costs, and takes no memory; the order makes scans, splits and merges simple.

A walk that must not even touch reference counts (a snapshot's, in a forked child) reads *pairs*
by borrowed references: item 2 * n is a key, and 2 * n + 1 its value, for n in range(len(segment)).
Its lists are unknown to the cyclic collector.
"""

from __future__ import annotations

from typing import Any

from storage.keyspace import segment_octets


class Segment:
    """Keys whose places share their first *bits* bits. Keys are spoken of by their number."""

    __slots__ = ("bits", "marks", "pairs")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.marks = bytearray()
        self.pairs: list[Any] = segment_octets.untracked([])

    def __len__(self) -> int:
        return len(self.pairs) // 2

    # ------------------------------------------------------------------ finding

    def first_from(self, place: int) -> int:
        """The number of the first key at *place* or behind it: how many are before.

        *place* may be any of the segment's. O(1) expected; O(N) if hashes are not spread.
        """
        offset = (place << self.bits) & segment_octets.PLACE_MASK
        guess = (offset * (len(self.marks) // segment_octets.MARK)) >> segment_octets.PLACE_BITS
        return segment_octets.first_from(self.marks, guess, place)

    def find(self, key: bytes, place: int) -> int:
        """The number of *key*, whose place is *place*; ``-1 - n`` if it would be inserted at n."""
        marks = self.marks
        at = self.first_from(place)
        end = len(marks) // segment_octets.MARK
        while at < end and segment_octets.place_at(marks, at) == place:
            if segment_octets.is_key(self.pairs, at, key):
                return at
            at += 1
        return -1 - at

    def key_at(self, at: int) -> bytes:
        """The key number *at*."""
        key: bytes = self.pairs[2 * at]
        return key

    def place_at(self, at: int) -> int:
        """The place of the key number *at*."""
        return segment_octets.place_at(self.marks, at)

    def keys(self, first: int, end: int) -> list[bytes]:
        """The keys from number *first* to before *end*."""
        return self.pairs[2 * first : 2 * end : 2]

    def items(self) -> list[tuple[bytes, Any]]:
        """The keys and their values."""
        return list(zip(self.pairs[::2], self.pairs[1::2], strict=True))

    def end_of_page(self, first: int, count: int) -> int:
        """The number behind the last of *count* keys from number *first* on.

        They may be more: no place is divided.
        """
        end = first + count
        size = len(self.pairs) // 2
        if end >= size:
            return size
        while 0 < end < size and self.place_at(end) == self.place_at(end - 1):
            end += 1
        return end

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, key: bytes, value: Any, place: int, stamp: int) -> None:
        """Put a key at the number that find told."""
        segment_octets.insert_mark(self.marks, at, place, stamp)
        segment_octets.insert_pair(self.pairs, at, key, value)

    def remove(self, at: int) -> Any:
        """Take the key number *at* out; returns its value."""
        value = self.pairs[2 * at + 1]
        segment_octets.remove_mark(self.marks, at)
        segment_octets.remove_pair(self.pairs, at)
        return value

    def part(self, first: int, end: int) -> Segment:
        """Half of the block: the keys from number *first* to before *end*."""
        part = Segment(self.bits + 1)
        part.marks = self.marks[first * segment_octets.MARK : end * segment_octets.MARK]
        part.pairs = segment_octets.untracked(self.pairs[2 * first : 2 * end])
        return part

    def joined(self, after: Segment) -> Segment:
        """The whole block, of which this is the first half and *after* the second."""
        joined = Segment(self.bits - 1)
        joined.marks = self.marks + after.marks
        joined.pairs = segment_octets.untracked(self.pairs + after.pairs)
        return joined
