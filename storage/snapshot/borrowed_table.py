"""The items of a key table read through borrowed references: the plain versions of the C functions.

See storage/rdb/borrowed.py for what that is and why. storage/hash_table/borrowed_packed.py has the
rest, how the table is walked; storage/keyspace/item_octets.py shows what an item has after its
key.
"""

from __future__ import annotations

from storage.hash_table import borrowed_packed, packed_octets
from storage.keyspace import item_octets
from storage.rdb import raw
from storage.rdb.borrowed import Borrowed

KIND = item_octets.USE
CELL = KIND + 1


def prefetch(segment: Borrowed) -> None:
    """Ask the processor to load all far objects of *segment* into its cache.

    They lie anywhere in memory, so a walk without this would wait for each. No-op in plain Python.
    """


def last_use_at(segment: Borrowed, at: int) -> int:
    """The last use of the key number *at*. O(1)."""
    return raw.u32(borrowed_packed.behind_key(segment, at), 0)


def kind_at(segment: Borrowed, at: int) -> int:
    """The kind of the value of the key number *at*; see item_octets.py. O(1)."""
    return borrowed_packed.behind_key(segment, at)[KIND]


def object_at(segment: Borrowed, at: int) -> Borrowed:
    """The value of the key number *at*, which is an object. O(1)."""
    item = borrowed_packed.behind_key(segment, at)
    number = CELL + (1 if item[CELL] < packed_octets.LONG or item[CELL] == packed_octets.FAR else 2)
    return segment.far[raw.u32(item, number)]


def number_at(segment: Borrowed, at: int) -> int:
    """The value of the key number *at*, which is a number. O(1)."""
    return raw.i64(borrowed_packed.behind_key(segment, at), CELL + 1)


def text_at(segment: Borrowed, at: int) -> borrowed_packed.Text:
    """The bytes in the cell of the key number *at*: of a string, or packed. O(1)."""
    return borrowed_packed.text_behind_key(segment, at, CELL)
