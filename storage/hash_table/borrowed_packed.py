"""Tables of packed buckets read through borrowed references: the plain versions of the C functions.

See storage/rdb/borrowed.py for what that is and why. The directory is walked slot by slot, and each
bucket item by item; several slots in a row may refer to the same bucket. This module alone knows
the private layout of such tables.
"""

from __future__ import annotations

from typing import NamedTuple

from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_directory import PackedDirectory
from storage.rdb import raw
from storage.rdb.borrowed import Borrowed


class Text(NamedTuple):
    """A key or a value: the first *size* bytes of *octets*."""

    octets: raw.Raw
    size: int


def size(table: Borrowed) -> int:
    """How many items *table* has."""
    packed: PackedDirectory = table
    return packed.used


def slots(table: Borrowed) -> int:
    """How many slots the directory of *table* has."""
    return len(table._directory)  # noqa: SLF001  see above


def segment_at(table: Borrowed, slot: int) -> Borrowed:
    """The bucket whose first slot is *slot*; nothing if its first slot is an earlier one."""
    directory = table._directory  # noqa: SLF001
    if slot > 0 and directory[slot] is directory[slot - 1]:
        return None
    return directory[slot]


def count(segment: Borrowed) -> int:
    """How many items *segment* has."""
    return mark_octets.count(segment.marks)


def key_at(segment: Borrowed, at: int) -> Text:
    """The key of the item number *at* of *segment*. O(1)."""
    return _text(segment, mark_octets.number_at(segment.marks, at))


def value_at(segment: Borrowed, at: int) -> Text:
    """The value of the item number *at* of *segment*, if that is a text after its key. O(1)."""
    return text_behind_key(segment, at, 0)


def behind_key(segment: Borrowed, at: int) -> raw.Raw:
    """The data of *segment* from the end of the key of the item number *at* on. O(1)."""
    key = mark_octets.number_at(segment.marks, at)
    return memoryview(segment.data)[packed_octets.behind(segment.data, key) :]


def text_behind_key(segment: Borrowed, at: int, distance: int) -> Text:
    """The text that is *distance* bytes after the key of the item number *at*. O(1)."""
    key = mark_octets.number_at(segment.marks, at)
    return _text(segment, packed_octets.behind(segment.data, key) + distance)


def _text(segment: Borrowed, head: int) -> Text:
    text = packed_octets.text_at(segment.data, head, segment.far)
    return Text(text, len(text))
