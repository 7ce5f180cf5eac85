"""Objects looked at without holding them: the plain versions of the C functions in borrowed.pxd.

A snapshot is written by a forked child, which shares its memory with the server until one of them
writes to it. To hold an object is to write to it: its reference count is in its first bytes. So a
child that holds each key and value once copies the whole heap. What is called Borrowed is any
object here; compiled, it is a bare pointer, and reading through it writes nothing.

The databases must not change meanwhile, which in a child they cannot.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from storage.keyspace.key_table import KeyTable
from storage.listpack.listpack import Listpack
from storage.lists.quicklist import QuickList
from storage.rdb import raw

Borrowed: TypeAlias = Any


class Entry(NamedTuple):
    """A key of a segment and its value; *next* is where the one after is, or -1: no entry."""

    key: Borrowed
    value: Borrowed
    next: int


def nothing() -> Borrowed:
    """No object."""
    return None


def is_nothing(value: Borrowed) -> bool:
    """Whether there is no object."""
    return value is None


def held(value: Borrowed) -> Any:
    """*value*, held."""
    return value


# ---------------------------------------------------------------------- the table of a database
#
# What KeyTable keeps to itself is known here and nowhere else: a directory of segments, in which
# one stands several times in a row, and that a segment is a list of keys and values by turns.


def slots(table: KeyTable) -> int:
    """How many slots the directory of *table* has."""
    return len(table._directory)  # noqa: SLF001  see above


def segment_at(table: KeyTable, slot: int) -> Borrowed:
    """The segment whose first slot this is, or nothing."""
    directory = table._directory  # noqa: SLF001
    if slot > 0 and directory[slot] is directory[slot - 1]:
        return None
    return directory[slot]


def foresee(segment: Borrowed) -> None:
    """All keys and values of *segment* will be read: let their memory come meanwhile.

    They lie anywhere, and a walk would wait for each by itself. Nothing to do in plain Python.
    """


def entry_at(segment: Borrowed, at: int) -> Entry:
    """The entry of *segment* at *at*: 0 is where the first is. O(1)."""
    pairs = segment.pairs
    if 2 * at >= len(pairs):
        return Entry(None, None, -1)
    return Entry(pairs[2 * at], pairs[2 * at + 1], at + 1)


def find(table: KeyTable, key: Borrowed) -> Borrowed:
    """The value at *key* in *table*, or nothing. What is compared with *key* is held meanwhile."""
    return table.get(key)


# ---------------------------------------------------------------------- strings and lists


def is_bytes(value: Borrowed) -> bool:
    """Whether *value* is of the class bytes."""
    return type(value) is bytes


def is_int(value: Borrowed) -> bool:
    """Whether *value* is of the class int."""
    return type(value) is int


def octets(text: Borrowed) -> raw.Raw:
    """The bytes of the bytes object *text*."""
    data: bytes = text
    return data


def size(text: Borrowed) -> int:
    """How many those are."""
    return len(text)


def number(value: Borrowed) -> int:
    """The value of an int of 64 bits at most."""
    return int(value)


def lone_pack(value: Borrowed) -> Borrowed:
    """The listpack of *value* if that is a list of this one node; else nothing."""
    if type(value) is not QuickList or value.node_count != 1:
        return None
    node = value.nodes()[0]
    return node if isinstance(node, Listpack) else None


def pack_octets(pack: Borrowed) -> raw.Raw:
    """The bytes of a listpack, and perhaps some room behind them."""
    data: bytearray = pack.data
    return data


def pack_size(pack: Borrowed) -> int:
    """How many bytes a listpack has."""
    size: int = pack.size
    return size
