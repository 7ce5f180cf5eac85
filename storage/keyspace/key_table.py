# cython: boundscheck=False, wraparound=False
"""The hash table of a database's keys; storage/hash_table/directory.py says how it grows.

With each key goes its *last use*, a number of 32 bits; storage/keyspace/usage.py has its meaning.
"""

from __future__ import annotations

from typing import Any, Final

from storage import allocation
from storage.hash_table import mark_octets
from storage.hash_table.directory import Directory
from storage.keyspace.segment import Segment
from storage.keyspace.usage import Usage

NO_KEY: Final = -1

# Bytes that a key takes in its segment: its mark, its pair, and a share of the spare room.
PLACE_BYTES: Final = 32
PLACE = PLACE_BYTES  # the same as a C number
OBJECT: Final = 384  # bytes of a table without keys


class KeyTable(Directory):
    """A dict of bytes to objects that grows in small steps and can be scanned with a cursor.

    get, set and pop are O(1) and move at most 171 keys (and now and then the directory, 8 bytes
    for some 100 keys). About 30 bytes a key, key and value objects not counted.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = 0  # bytes that the keys and the strings among the values are counted for
        self.clear()
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._held

    def __contains__(self, key: bytes) -> bool:
        return self.last_use_of(key) != NO_KEY

    # ------------------------------------------------------------------ one key

    def get(self, key: bytes, default: Any = None) -> Any:
        """The value at *key*, or *default*."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return default if at < 0 else segment.pairs[2 * at + 1]

    def use(self, key: bytes, last_use: int) -> Any:
        """The value at *key*, whose last use becomes *last_use*; None if there is no such key."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return None
        mark_octets.put_number(segment.marks, at, last_use)
        return segment.pairs[2 * at + 1]

    def count_use(self, key: bytes, usage: Usage) -> Any:
        """The same, but *usage* makes the new last use of the old one."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return None
        last_use = usage.after_use(mark_octets.number_at(segment.marks, at))
        mark_octets.put_number(segment.marks, at, last_use)
        return segment.pairs[2 * at + 1]

    def last_use_of(self, key: bytes) -> int:
        """When *key* was used last, or NO_KEY if there is no such key."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return NO_KEY if at < 0 else mark_octets.number_at(segment.marks, at)

    def set(self, key: bytes, value: Any, last_use: int = 0) -> None:
        """Put *value* at *key*, replacing what was there; its last use is *last_use*."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at >= 0:
            old = segment.pairs[2 * at + 1]
            self.grew(allocation.of_string(value) - allocation.of_string(old))
            segment.pairs[2 * at + 1] = value
            mark_octets.put_number(segment.marks, at, last_use)
        else:
            segment.insert(-1 - at, key, value, prefix, last_use)
            self.used += 1
            self.grew(PLACE + allocation.of_bytes(key) + allocation.of_string(value))
            if segment.is_long():
                self._split(prefix >> self._shift)

    def pop(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it is not there."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return default
        value = segment.remove(at)
        self.used -= 1
        self.grew(-PLACE - allocation.of_bytes(key) - allocation.of_string(value))
        if segment.is_short():
            self._merge(prefix >> self._shift)
        return value

    # ------------------------------------------------------------------ by place

    def key_at(self, place: int) -> bytes:
        """The key at that place."""
        key: bytes = self.segment_at(place).pairs[2 * (place & mark_octets.AT_MASK)]
        return key

    # ------------------------------------------------------------------ all keys

    def grew(self, size: int) -> None:
        """Count *size* bytes more: a string that is stored here has grown in place."""
        self._held += size
        allocation.used += size

    def clear(self) -> None:
        """Forget all keys."""
        self.grew(-self._held)
        self._begin(Segment(0))

    def _segment_of(self, prefix: int) -> Segment:
        segment: Segment = self._directory[prefix >> self._shift]
        return segment

    def segment_at(self, place: int) -> Segment:
        """The segment of that place."""
        segment: Segment = self._directory[place >> mark_octets.AT_BITS]
        return segment
