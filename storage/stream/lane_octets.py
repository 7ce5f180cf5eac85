"""Numbers of lanes in their places, eight bytes each: the plain versions of the C functions.

    place      0    1    2    3      *mask* is the last place; their number is a power of two
    number     0    9    0    3      0: the place is free, and at least one is

A number & mask is the place to which it belongs; if that is taken, the next free one is it.
Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

NUMBER = 8  # bytes


def number_at(numbers: bytearray, at: int) -> int:
    """The number at a place; 0 if it is free."""
    return int.from_bytes(numbers[at * NUMBER : (at + 1) * NUMBER], "little")


def put(numbers: bytearray, at: int, number: int) -> None:
    """Let *number* be at a place; 0: let it be free."""
    numbers[at * NUMBER : (at + 1) * NUMBER] = number.to_bytes(NUMBER, "little")


def place_of(numbers: bytearray, mask: int, number: int) -> int:
    """Where *number* is, or else would be put; it is not 0."""
    at = number & mask
    while number_at(numbers, at) not in (0, number):
        at = at + 1 & mask
    return at


def place_to_move(numbers: bytearray, mask: int, gap: int) -> int:
    """Where the next number is that may move back to *gap*; -1: there is none.

    It is before the next free place, and does not belong after the gap.
    """
    at = gap + 1 & mask
    number = number_at(numbers, at)
    while number and (at - number & mask) < (at - gap & mask):
        at = at + 1 & mask
        number = number_at(numbers, at)
    return at if number else -1
