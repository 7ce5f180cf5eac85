# cython: boundscheck=False, wraparound=False
"""A directory of packed buckets: what packed tables and the key table have in common."""

from __future__ import annotations

from storage.hash_table import mark_octets
from storage.hash_table.directory import Directory
from storage.hash_table.packed_bucket import PackedBucket


class PackedDirectory(Directory):
    """A hash table whose items lie in the memory of its buckets (packed_bucket.py)."""

    __slots__ = ()

    def __contains__(self, key: bytes) -> bool:
        return self.has(key)

    def has(self, key: bytes) -> bool:
        """Whether *key* is there."""
        prefix = mark_octets.prefix_of(key)
        return self._packed_bucket(prefix).find(key, prefix) >= 0

    def remove_at(self, bucket: PackedBucket, at: int, prefix: int) -> None:
        """Remove the item number *at* of *bucket*, which has that prefix."""
        bucket.remove(at)
        self.used -= 1
        if bucket.is_short():
            self._merge(prefix >> self._shift)

    def _split_if_long(self, bucket: PackedBucket, prefix: int) -> None:
        """Split *bucket*, that of *prefix*, if it has too many items or bytes."""
        if bucket.is_long():
            self._split(prefix >> self._shift)

    def _packed_bucket(self, prefix: int) -> PackedBucket:
        bucket: PackedBucket = self._directory[prefix >> self._shift]
        return bucket

    def check(self) -> None:
        """Raise AssertionError if anything does not agree. O(bytes). For tests."""
        self._check_directory()
        for bucket in self.segments():
            bucket.check()
