"""A packed table read through borrowed references: the plain versions of borrowed_packed.pxd.

See storage/rdb/borrowed.py for what that is and why. The directory is walked slot by slot, and each
segment item by item; several slots in a row may refer to the same segment.
"""

from __future__ import annotations

from typing import NamedTuple

from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_table import PackedTable
from storage.rdb import raw
from storage.rdb.borrowed import Borrowed


class Text(NamedTuple):
    """A key or a value: the first *size* bytes of *octets*."""

    octets: raw.Raw
    size: int


def size(table: Borrowed) -> int:
    """How many items *table* has."""
    packed: PackedTable = table
    return packed.used


def slots(table: Borrowed) -> int:
    """How many slots the directory of *table* has."""
    return len(table._directory)  # noqa: SLF001  the table's private layout is known here


def segment_at(table: Borrowed, slot: int) -> Borrowed:
    """The segment whose first slot is *slot*; nothing if its first slot is an earlier one."""
    directory = table._directory  # noqa: SLF001
    if slot > 0 and directory[slot] is directory[slot - 1]:
        return None
    return directory[slot]


def count(segment: Borrowed) -> int:
    """How many items *segment* has."""
    return mark_octets.count(segment.marks)


def key_at(segment: Borrowed, at: int) -> Text:
    """The key of the item number *at* of *segment*. O(1)."""
    offset = mark_octets.number_at(segment.marks, at)
    text = packed_octets.text_at(segment.data, offset, segment.far)
    return Text(text, len(text))


def value_at(segment: Borrowed, at: int) -> Text:
    """The value of the item number *at* of *segment*. O(1)."""
    offset = mark_octets.number_at(segment.marks, at)
    text = packed_octets.text_at(
        segment.data, packed_octets.behind(segment.data, offset), segment.far
    )
    return Text(text, len(text))
