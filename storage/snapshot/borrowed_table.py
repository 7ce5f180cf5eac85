"""A key table read through borrowed references: the plain versions of borrowed_table.pxd.

See storage/rdb/borrowed.py for what that is and why. This module alone knows the private layout of
KeyTable, its directory of segments, where several slots in a row refer to the same segment.
storage/keyspace/item_octets.py shows what a segment has in its memory.
"""

from __future__ import annotations

from storage import octets
from storage.hash_table import mark_octets, packed_octets
from storage.keyspace.item_octets import USE, kind_start, number_of, object_of
from storage.keyspace.key_table import KeyTable
from storage.rdb.borrowed import Borrowed


def slots(table: KeyTable) -> int:
    """How many slots the directory of *table* has."""
    return len(table._directory)  # noqa: SLF001  see above


def segment_at(table: KeyTable, slot: int) -> Borrowed:
    """The segment whose first slot is *slot*; nothing if its first slot is an earlier one."""
    directory = table._directory  # noqa: SLF001
    if slot > 0 and directory[slot] is directory[slot - 1]:
        return None
    return directory[slot]


def prefetch(segment: Borrowed) -> None:
    """Ask the processor to load all far objects of *segment* into its cache.

    They lie anywhere in memory, so a walk without this would wait for each. No-op in plain Python.
    """


def count(segment: Borrowed) -> int:
    """How many keys *segment* has."""
    return mark_octets.count(segment.marks)


def _item_at(segment: Borrowed, at: int) -> int:
    """The offset of the item of the key number *at*."""
    return mark_octets.number_at(segment.marks, at)


def key_at(segment: Borrowed, at: int) -> bytes:
    """A copy of the key number *at*. O(1)."""
    return packed_octets.text_at(segment.data, _item_at(segment, at) + USE, segment.far)


def last_use_at(segment: Borrowed, at: int) -> int:
    """The last use of the key number *at*. O(1)."""
    return octets.u32(segment.data, _item_at(segment, at))


def kind_at(segment: Borrowed, at: int) -> int:
    """The kind of the value of the key number *at*; see item_octets.py. O(1)."""
    kind: int = segment.data[kind_start(segment.data, _item_at(segment, at))]
    return kind


def object_at(segment: Borrowed, at: int) -> Borrowed:
    """The value of the key number *at*, which is an object. O(1)."""
    kind = kind_start(segment.data, _item_at(segment, at))
    return segment.far[object_of(segment.data, kind + 1)]


def number_at(segment: Borrowed, at: int) -> int:
    """The value of the key number *at*, which is a number. O(1)."""
    kind = kind_start(segment.data, _item_at(segment, at))
    return number_of(segment.data, kind + 1)


def text_at(segment: Borrowed, at: int) -> bytes:
    """A copy of the bytes in the cell of the key number *at*: of a string, or packed. O(1)."""
    kind = kind_start(segment.data, _item_at(segment, at))
    return packed_octets.text_at(segment.data, kind + 1, segment.far)
