"""What a segment of the key table is made of: the plain versions of the C functions.

*marks* are pairs of 32-bit numbers, the place of a key and its stamp; *pairs* are the keys and
values themselves. Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

from typing import Any

from storage import octets

PLACE_BITS = 32
PLACE_MASK = (1 << PLACE_BITS) - 1
MARK = 8  # bytes


def place_of(key: bytes) -> int:
    """Where *key* stands among all keys, 0 .. 2**32 - 1: the upper half of its hash."""
    return (hash(key) >> PLACE_BITS) & PLACE_MASK


def place_at(marks: bytearray, at: int) -> int:
    """The place of the key number *at*."""
    return octets.u32(marks, at * MARK)


def first_from(marks: bytearray, guess: int, place: int) -> int:
    """The number of the first key at *place* or behind it, sought from the number *guess* on."""
    size = len(marks) // MARK
    while guess < size and place_at(marks, guess) < place:
        guess += 1
    while guess > 0 and place_at(marks, guess - 1) >= place:
        guess -= 1
    return guess


def is_key(pairs: list[Any], at: int, key: bytes) -> bool:
    """Whether the key number *at* is *key*."""
    return bool(pairs[2 * at] == key)


def stamp_at(marks: bytearray, at: int) -> int:
    """The stamp of the key number *at*."""
    return octets.u32(marks, at * MARK + 4)


def put_stamp(marks: bytearray, at: int, stamp: int) -> None:
    """Change the stamp of the key number *at*; only its low 32 bits are kept."""
    octets.put_u32(marks, at * MARK + 4, stamp)


def insert_mark(marks: bytearray, at: int, place: int, stamp: int) -> None:
    """Make room for a key number *at*, and mark it."""
    number = (stamp & PLACE_MASK) << PLACE_BITS | place
    marks[at * MARK : at * MARK] = number.to_bytes(MARK, "little")


def remove_mark(marks: bytearray, at: int) -> None:
    """Take out the mark of the key number *at*."""
    del marks[at * MARK : (at + 1) * MARK]


def untracked(pairs: list[Any]) -> list[Any]:
    """*pairs*, which the cyclic collector need not look at: values hold no cycles.

    A collection would touch each key and value, anywhere in memory. Nothing to do in plain Python.
    """
    return pairs


def insert_pair(pairs: list[Any], at: int, key: bytes, value: Any) -> None:
    """Make room for the key number *at*, and put it and its *value* there."""
    pairs[2 * at : 2 * at] = (key, value)


def remove_pair(pairs: list[Any], at: int) -> None:
    """Take out the key number *at* and its value."""
    del pairs[2 * at : 2 * at + 2]
