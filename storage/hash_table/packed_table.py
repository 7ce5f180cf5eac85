# cython: boundscheck=False, wraparound=False
"""A hash table of bytes to bytes in packed segments: what big hashes and sets are made of.

Keys and values are copied into the memory of their segment; no object is kept for them, unless they
are long (storage/hash_table/packed_segment.py). An item takes 8 bytes for its mark and one for the
length of each text, two for long ones; with spare room, holes and the segments' own objects, that
makes about 14 bytes an item besides its texts. How the table grows and is scanned: directory.py.
"""

from __future__ import annotations

from typing import Any

from storage.chance import Chance
from storage.hash_table import mark_octets
from storage.hash_table.packed_directory import PackedDirectory
from storage.hash_table.packed_iterator import PackedIterator
from storage.hash_table.packed_segment import PackedSegment


class PackedTable(PackedDirectory):
    """A dict of bytes to bytes that grows in small steps and can be scanned with a cursor.

    get, set and pop are O(1): they move 1.4 KB of marks at most, now and then the data of one
    segment, 32 KB at most, and still more seldom the directory, 8 bytes for some 100 items.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    # ------------------------------------------------------------------ one item

    def get(self, key: bytes, default: Any = None) -> Any:
        """The value at *key*, or *default*."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return default if at < 0 else segment.value_at(at)

    def set(self, key: bytes, value: bytes) -> bool:
        """Put *value* at *key*, replacing what was there. Returns whether *key* is new."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at >= 0:
            segment.replace(at, value)
        else:
            segment.insert(-1 - at, key, value, prefix)
            self.used += 1
        self._split_if_long(segment, prefix)
        return at < 0

    def pop(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it does not exist."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return default
        value = segment.value_at(at)
        self.remove_at(segment, at, prefix)
        return value

    def pop_random(self, chance: Chance) -> bytes:
        """Remove a key, each as likely as any other, and return it; there must be one."""
        place = self.random_place(chance)
        at = place & mark_octets.AT_MASK
        segment = self._segment_at(place >> mark_octets.AT_BITS)
        key = segment.key_at(at)
        self.remove_at(segment, at, segment.prefix_at(at))
        return key

    def discard(self, key: bytes) -> bool:
        """Remove *key*. Returns whether it was there."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return False
        self.remove_at(segment, at, prefix)
        return True

    # ------------------------------------------------------------------ all items

    def clear(self) -> None:
        """Forget all items."""
        self._begin_packed(PackedSegment(0))

    def copy(self) -> PackedTable:
        """A table with the same items. O(bytes)."""
        copy = PackedTable()
        slot = 0
        copy._directory = self._directory[:]
        while slot < len(self._directory):
            copy._assign(slot, self._block(slot), self._segment_at(slot).copy())
            slot = self._next_slot(slot)
        copy._shift = self._shift
        copy.used = self.used
        copy._deepest_pairs = self._deepest_pairs
        copy._places = self._places
        copy._places_counted = self._places_counted
        copy._count_slots()
        return copy

    def iterate(self) -> PackedIterator:
        """A walk over all items, in no order. The table must not change meanwhile."""
        return PackedIterator(self)

    # ------------------------------------------------------------------ segments

    def _segment_of(self, prefix: int) -> PackedSegment:
        segment: PackedSegment = self._directory[prefix >> self._shift]
        return segment

    def _segment_at(self, slot: int) -> PackedSegment:
        segment: PackedSegment = self._directory[slot]
        return segment
