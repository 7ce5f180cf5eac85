"""The items of the key table in their bytes: the plain versions of the C functions.

    item      key | last use | kind | cell
    key       a text, written as storage/hash_table/packed_octets.py shows
    last use  a number of 32 bits, little-endian; storage/keyspace/usage.py has its meaning
    kind      a byte: what the cell holds
    cell      a text, which is

        kind 0  TEXT     a string of up to 511 bytes
        kind 1  NUMBER   an int: 8 bytes, little-endian
        kind 2  OBJECT   the value is an object, and has a number in *far*: a far text, or one of
                         4 bytes or more that begins with the number
        kind 16 + n      a small value of the type with that number (storage/value_type.py), in
                         the bytes that its type packs it as

Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

from storage import octets
from storage.hash_table import packed_octets

TEXT = 0
NUMBER = 1
OBJECT = 2
PACKED = 16  # and all above

USE = 4  # bytes of the last use
NUMBER_CELL = 9  # bytes


def kind_start(data: bytearray, offset: int) -> int:
    """Where the kind of the item at *offset* is; the cell is after it."""
    return packed_octets.behind(data, offset) + USE


def number_of(data: bytearray, cell: int) -> int:
    """The number in *cell*, the offset of one of the kind NUMBER."""
    return octets.i64(data, cell + 1)


def object_place(data: bytearray, cell: int) -> int:
    """Where *cell*, the offset of one of the kind OBJECT, has the object's number."""
    if packed_octets.is_far(data, cell):
        return cell + 1
    return packed_octets.start_of(data, cell)


def object_of(data: bytearray, cell: int) -> int:
    """The number of the object in *cell*, the offset of one of the kind OBJECT."""
    return octets.u32(data, object_place(data, cell))


def put_number(data: bytearray, cell: int, number: int) -> int:
    """Write a cell of the kind NUMBER at *cell*; return the offset after it."""
    return octets.put_i64(data, octets.put_u8(data, cell, NUMBER_CELL - 1), number)
