"""Access to the two arrays of a segment: the plain versions of the C functions.

*marks* holds two 32-bit numbers a key, its hash prefix and its last use; *pairs* holds the keys and
values: see storage/keyspace/segment.py. Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

from typing import Any

from storage import octets

PREFIX_BITS = 32
PREFIX_MASK = (1 << PREFIX_BITS) - 1
MARK = 8  # bytes


def prefix_of(key: bytes) -> int:
    """The hash prefix of *key*, 0 .. 2**32 - 1: the upper half of its hash."""
    return (hash(key) >> PREFIX_BITS) & PREFIX_MASK


def prefix_at(marks: bytearray, at: int) -> int:
    """The prefix of the key number *at*."""
    return octets.u32(marks, at * MARK)


def first_from(marks: bytearray, guess: int, prefix: int) -> int:
    """The number of the first key of that prefix or a greater one; the search starts at *guess*."""
    size = len(marks) // MARK
    while guess < size and prefix_at(marks, guess) < prefix:
        guess += 1
    while guess > 0 and prefix_at(marks, guess - 1) >= prefix:
        guess -= 1
    return guess


def prefetch_pair(pairs: list[Any], at: int) -> None:
    """Have the processor fetch the place of number *at* meanwhile. No-op in plain Python.

    *at* may be beyond the end. A segment is seldom in the processor's cache, and each look-up would
    wait for one line of it after the other.
    """


def is_key(pairs: list[Any], at: int, key: bytes) -> bool:
    """Whether the key number *at* is *key*. Its value is prefetched: it will be asked for next."""
    return bool(pairs[2 * at] == key)


def last_use_at(marks: bytearray, at: int) -> int:
    """The last use of the key number *at*."""
    return octets.u32(marks, at * MARK + 4)


def put_last_use(marks: bytearray, at: int, last_use: int) -> None:
    """Set the last use of the key number *at* to the low 32 bits of *last_use*."""
    octets.put_u32(marks, at * MARK + 4, last_use)


def insert_mark(marks: bytearray, at: int, prefix: int, last_use: int) -> None:
    """Insert the mark of a new key number *at*."""
    number = (last_use & PREFIX_MASK) << PREFIX_BITS | prefix
    marks[at * MARK : at * MARK] = number.to_bytes(MARK, "little")


def remove_mark(marks: bytearray, at: int) -> None:
    """Remove the mark of the key number *at*."""
    del marks[at * MARK : (at + 1) * MARK]


def untracked(pairs: list[Any]) -> list[Any]:
    """*pairs*, no longer tracked by the cyclic collector: values hold no cycles.

    A collection would touch each key and value, anywhere in memory. No-op in plain Python.
    """
    return pairs


def insert_pair(pairs: list[Any], at: int, key: bytes, value: Any) -> None:
    """Insert *key* and *value* as number *at*."""
    pairs[2 * at : 2 * at] = (key, value)


def remove_pair(pairs: list[Any], at: int) -> None:
    """Remove the key number *at* and its value."""
    del pairs[2 * at : 2 * at + 2]
