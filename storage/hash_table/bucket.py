# cython: boundscheck=False, wraparound=False
"""A bucket of extendible hashing: some 100 keys in hash order.

A key's *hash prefix* is the upper 32 bits of its hash (mark_octets.prefix_of). The prefixes of all
keys of a bucket agree in their first *local_depth* bits, which the directory knows:

    marks   prefix number | prefix number | ...   bytearray, 4 + 4 bytes a key, little-endian,
                                                  ordered by prefix

What *number* means, and where the keys are, each kind of bucket decides for itself.

A lookup is an interpolation search: hashes are spread evenly, so the prefix itself tells roughly
where the key is. Among 100 keys the guess is off by 4, on average. That costs as much time as the
index of a hash table and takes no memory; the order makes scans, splits and merges simple.
"""

from __future__ import annotations

from typing import Any

from storage.hash_table import mark_octets


class Bucket:
    """Keys whose hash prefixes agree in their first *local_depth* bits, numbered from 0.

    The methods that raise NotImplementedError are those that each kind of bucket has to define.
    """

    __slots__ = ("local_depth", "marks")

    local_depth: int
    marks: bytearray

    def __len__(self) -> int:
        return mark_octets.count(self.marks)

    def first_from(self, prefix: int) -> int:
        """The number of the first key whose prefix is *prefix* or greater.

        *prefix* must belong to the bucket. O(1) expected; O(N) if hashes are not spread evenly.
        """
        marks = self.marks
        return mark_octets.first_from(
            marks, mark_octets.guess(marks, self.local_depth, prefix), prefix
        )

    def prefix_at(self, at: int) -> int:
        """The prefix of the key number *at*."""
        return mark_octets.prefix_at(self.marks, at)

    def end_of_page(self, first: int, count: int) -> int:
        """The end of a page of *count* keys from number *first* on.

        The page may be longer: keys of one prefix always come together.
        """
        end = first + count
        size = mark_octets.count(self.marks)
        if end >= size:
            return size
        while 0 < end < size and self.prefix_at(end) == self.prefix_at(end - 1):
            end += 1
        return end

    # ------------------------------------------------------------------ what each kind defines

    def keys(self, first: int, end: int) -> list[bytes]:
        """The keys from number *first* to before *end*."""
        raise NotImplementedError

    def flat_items(self, first: int, end: int) -> list[Any]:
        """These keys, each followed by its value."""
        raise NotImplementedError

    def is_long(self) -> bool:
        """Whether the bucket is to be split."""
        raise NotImplementedError

    def may_join(self, after: Bucket) -> bool:
        """Whether this bucket and *after*, its neighbour, are so short that they should be one."""
        raise NotImplementedError

    def part(self, first: int, end: int) -> Bucket:
        """A bucket for half of the block: the keys from number *first* to before *end*."""
        raise NotImplementedError

    def joined(self, after: Bucket) -> Bucket:
        """A bucket for the whole block; this is the first half and *after* the second."""
        raise NotImplementedError
