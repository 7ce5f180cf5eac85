"""Places that a search has found, in the bytes of a bytearray: the plain versions of C functions.

    mark    distance  score  spot        8 + 8 + 8 bytes: two doubles and a number, little-endian

*distance* is that from the centre in m, *spot* where the member is in its sorted set (places.py).
Marks are numbered from 0. Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

import struct

MARK = 24  # bytes
LAST_DIGITS = 10_000  # a distance has four digits after the point

_MARK = struct.Struct("<ddq")
_DOUBLE = struct.Struct("<d")
_SPOT = struct.Struct("<q")


def put(marks: bytearray, at: int, distance: float, score: float, spot: int) -> None:
    """Write the mark number *at*, for which there is room."""
    _MARK.pack_into(marks, at * MARK, distance, score, spot)


def distance_at(marks: bytearray, at: int) -> float:
    """The distance of the mark number *at*."""
    distance: float = _DOUBLE.unpack_from(marks, at * MARK)[0]
    return distance


def score_at(marks: bytearray, at: int) -> float:
    """Its score."""
    score: float = _DOUBLE.unpack_from(marks, at * MARK + 8)[0]
    return score


def spot_at(marks: bytearray, at: int) -> int:
    """Its spot."""
    spot: int = _SPOT.unpack_from(marks, at * MARK + 16)[0]
    return spot


def order(marks: bytearray, one: int, other: int) -> int:
    """1 if the mark number *one* has the greater distance, -1 if it has the lesser one, else 0."""
    first, second = distance_at(marks, one), distance_at(marks, other)
    return (first > second) - (first < second)


def swap(marks: bytearray, one: int, other: int) -> None:
    """Exchange two marks."""
    first = slice(one * MARK, (one + 1) * MARK)
    second = slice(other * MARK, (other + 1) * MARK)
    marks[first], marks[second] = marks[second], marks[first]


def copy(target: bytearray, at: int, source: bytearray, start: int, count: int) -> None:
    """Copy *count* marks from number *start* of *source* to number *at* of *target*."""
    target[at * MARK : (at + count) * MARK] = source[start * MARK : (start + count) * MARK]


def distance_text(distance: float) -> bytes:
    """*distance*, which is below 10**14, with four digits after the point."""
    number = round(distance * LAST_DIGITS)
    return b"%d.%04d" % divmod(number, LAST_DIGITS)
