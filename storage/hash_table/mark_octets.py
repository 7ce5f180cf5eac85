"""Access to the marks of a bucket: the plain versions of the C functions.

*marks* holds a mark for each key, two numbers of 32 bits: see storage/hash_table/bucket.py.
Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

from typing import Any

from storage import octets

PREFIX_BITS = 32
PREFIX_MASK = (1 << PREFIX_BITS) - 1
MARK = 8  # bytes

# The place of a key in a table is one number: the slot and, in these low bits, its mark's number.
AT_BITS = 32
AT_MASK = (1 << AT_BITS) - 1


def prefix_of(key: bytes) -> int:
    """The hash prefix of *key*, 0 .. 2**32 - 1: the upper half of its hash."""
    return (hash(key) >> PREFIX_BITS) & PREFIX_MASK


def count(marks: bytearray) -> int:
    """How many marks there are."""
    return len(marks) // MARK


def prefix_at(marks: bytearray, at: int) -> int:
    """The prefix of the key number *at*."""
    return octets.u32(marks, at * MARK)


def number_at(marks: bytearray, at: int) -> int:
    """The second number of the mark number *at*."""
    return octets.u32(marks, at * MARK + 4)


def put_number(marks: bytearray, at: int, number: int) -> None:
    """Set the second number of the mark number *at* to the low 32 bits of *number*."""
    octets.put_u32(marks, at * MARK + 4, number)


def guess(marks: bytearray, local_depth: int, prefix: int) -> int:
    """About where the first key of that prefix is, since hashes are spread evenly.

    All prefixes of the bucket agree in their first *local_depth* bits.
    """
    offset = (prefix << local_depth) & PREFIX_MASK
    return (offset * count(marks)) >> PREFIX_BITS


def first_from(marks: bytearray, near: int, prefix: int) -> int:
    """The number of the first key of that prefix or a greater one; the search starts at *near*."""
    size = count(marks)
    while near < size and prefix_at(marks, near) < prefix:
        near += 1
    while near > 0 and prefix_at(marks, near - 1) >= prefix:
        near -= 1
    return near


def insert_mark(marks: bytearray, at: int, prefix: int, number: int) -> None:
    """Insert a mark as number *at*."""
    mark = (number & PREFIX_MASK) << PREFIX_BITS | prefix
    marks[at * MARK : at * MARK] = mark.to_bytes(MARK, "little")


def remove_mark(marks: bytearray, at: int) -> None:
    """Remove the mark number *at*."""
    del marks[at * MARK : (at + 1) * MARK]


def untracked(values: list[Any]) -> list[Any]:
    """*values*, no longer tracked by the cyclic collector: values hold no cycles.

    A collection would touch each of them, anywhere in memory. No-op in plain Python.
    """
    return values
