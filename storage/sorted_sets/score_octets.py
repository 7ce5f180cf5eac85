"""Marks and texts in the bytes of a score tree: the plain versions of the C functions.

    mark    score  tag  place      8 + 4 + 4 bytes, a double and two unsigned numbers, little-endian
    text    0lllllll  bytes                  0 .. 127 bytes
            1lllllll llllllll llllllll llllllll  bytes      128 bytes or more (big-endian)

What *tag* and *place* mean is said in leaf.py and branch.py. Compiled, no function checks bounds:
callers do.
"""

from __future__ import annotations

import struct

MARK = 16  # bytes
LONG = 128  # bytes; from here on the length of a text takes four

_MARK = struct.Struct("<dII")
_SCORE = struct.Struct("<d")
_PLACE = struct.Struct("<I")


# ---------------------------------------------------------------------- marks


def count(marks: bytearray) -> int:
    """How many marks there are."""
    return len(marks) // MARK


def score_at(marks: bytearray, at: int) -> float:
    """The score of the mark number *at*."""
    score: float = _SCORE.unpack_from(marks, at * MARK)[0]
    return score


def tag_at(marks: bytearray, at: int) -> int:
    """Its tag."""
    tag: int = _PLACE.unpack_from(marks, at * MARK + 8)[0]
    return tag


def place_at(marks: bytearray, at: int) -> int:
    """Its place."""
    place: int = _PLACE.unpack_from(marks, at * MARK + 12)[0]
    return place


def put_mark(marks: bytearray, at: int, score: float, tag: int, place: int) -> None:
    """Write the mark number *at*, which there is."""
    _MARK.pack_into(marks, at * MARK, score, tag, place)


def put_score(marks: bytearray, at: int, score: float) -> None:
    """Give the mark number *at* another score."""
    _SCORE.pack_into(marks, at * MARK, score)


def put_place(marks: bytearray, at: int, place: int) -> None:
    """Give it another place."""
    _PLACE.pack_into(marks, at * MARK + 12, place)


def insert_mark(marks: bytearray, at: int, score: float, tag: int, place: int) -> None:
    """Insert a mark as number *at*."""
    marks[at * MARK : at * MARK] = _MARK.pack(score, tag, place)


def remove_marks(marks: bytearray, first: int, end: int) -> None:
    """Remove the marks number *first* to before *end*."""
    del marks[first * MARK : end * MARK]


def find_tag(marks: bytearray, first: int, tag: int) -> int:
    """The number of the first mark from *first* on that has *tag*; if there is none, count()."""
    at = first
    while at < count(marks) and tag_at(marks, at) != tag:
        at += 1
    return at


# ---------------------------------------------------------------------- texts


def text_space(size: int) -> int:
    """The bytes that a text of *size* bytes takes."""
    return size + (1 if size < LONG else 4)


def put_text(data: bytearray, at: int, text: bytes) -> int:
    """Write *text*; return the offset after it."""
    size = len(text)
    head = bytes([size]) if size < LONG else (1 << 31 | size).to_bytes(4, "big")
    data[at : at + text_space(size)] = head + text
    return at + text_space(size)


def text_start(data: bytearray, at: int) -> int:
    """Where the bytes of the text at *at* begin."""
    return at + (1 if data[at] < LONG else 4)


def text_size(data: bytearray, at: int) -> int:
    """How many bytes the text at *at* has."""
    if data[at] < LONG:
        return data[at]
    return int.from_bytes(data[at : at + 4], "big") & 0x7FFFFFFF


def order(data: bytearray, at: int, text: bytes) -> int:
    """Below 0 if the text at *at* is less than *text*, byte by byte; 0 if it is the same."""
    start = text_start(data, at)
    found = data[start : start + text_size(data, at)]
    return (found > text) - (found < text)
