"""A key table read through borrowed references: the plain versions of borrowed_table.pxd.

See storage/rdb/borrowed.py for what that is and why. This module alone knows the private layout of
KeyTable, its directory of segments, where several slots in a row refer to the same segment; and of
Segment.pairs, a list of alternating keys and values.
"""

from __future__ import annotations

from typing import NamedTuple

from storage.hash_table import mark_octets
from storage.keyspace.key_table import KeyTable
from storage.rdb.borrowed import Borrowed


class Entry(NamedTuple):
    """A key of a segment and its value; *next* is the number of the entry after it.

    Behind the last entry, *next* is -1 and there is neither key nor value.
    """

    key: Borrowed
    value: Borrowed
    next: int


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
    """Ask the processor to load all keys and values of *segment* into its cache.

    They lie anywhere in memory, so a walk without this would wait for each. No-op in plain Python.
    """


def entry_at(segment: Borrowed, at: int) -> Entry:
    """The entry number *at* of *segment*. O(1)."""
    pairs = segment.pairs
    if 2 * at >= len(pairs):
        return Entry(None, None, -1)
    return Entry(pairs[2 * at], pairs[2 * at + 1], at + 1)


def last_use_at(segment: Borrowed, at: int) -> int:
    """The last use of the key of the entry number *at*. O(1)."""
    return mark_octets.number_at(segment.marks, at)


def find(table: KeyTable, key: Borrowed) -> Borrowed:
    """The value at *key* in *table*, or nothing. Keys that *key* is compared with are held."""
    return table.get(key)
