"""The texts of packed items in their bytes: the plain versions of the C functions.

    text    0lllllll  bytes                0 .. 127 bytes
            1000000l  llllllll  bytes      128 .. 511 bytes (the length is big-endian)
            FF  nnnn                       a far text: number n of the segment's list *far*

Longer texts are far: see storage/hash_table/packed_bucket.py. Compiled, no function checks bounds:
callers do.
"""

from __future__ import annotations

from typing import Any

from octets import buffers
from storage import octets

FAR_FROM = 512  # bytes; the shortest far text
FAR = 0xFF
FAR_SIZE = 5  # bytes that a far text takes here
LONG = 128  # bytes; from here on the length takes two
LIST = 64  # bytes of a list without its places
LIST_HEAD = [].__sizeof__()
PLACE = 8


def space_of(size: int) -> int:
    """The bytes that a text of *size* bytes takes."""
    if size < LONG:
        return 1 + size
    return 2 + size if size < FAR_FROM else FAR_SIZE


def is_far(data: bytearray, at: int) -> bool:
    """Whether the text at *at* is far."""
    return data[at] == FAR


def number_of(data: bytearray, at: int) -> int:
    """The number in *far* of the far text at *at*."""
    return octets.u32(data, at + 1)


def start_of(data: bytearray, at: int) -> int:
    """Where the bytes of the text at *at* begin, which is not far."""
    return at + 1 if data[at] < LONG else at + 2


def size_of(data: bytearray, at: int) -> int:
    """How many bytes the text at *at* has, which is not far."""
    return data[at] if data[at] < LONG else (data[at] & 1) << 8 | data[at + 1]


def behind(data: bytearray, at: int) -> int:
    """Where the text at *at* ends, and another begins."""
    if data[at] == FAR:
        return at + FAR_SIZE
    return start_of(data, at) + size_of(data, at)


def put_text(data: bytearray, at: int, text: bytes) -> int:
    """Write *text*, which is shorter than a far text; return the offset after it."""
    if len(text) < LONG:
        at = octets.put_u8(data, at, len(text))
    else:
        at = octets.put_u8(data, at, 0x80 | len(text) >> 8)
        at = octets.put_u8(data, at, len(text))
    return buffers.put(data, at, text)


def put_far(data: bytearray, at: int, number: int) -> int:
    """Write a far text of that number; return the offset after it."""
    return octets.put_u32(data, octets.put_u8(data, at, FAR), number)


def text_at(data: bytearray, at: int, far: list[Any] | None) -> bytes:
    """The text at *at*; if it is far, the very object."""
    if data[at] == FAR:
        assert far is not None
        text: bytes = far[number_of(data, at)]
        return text
    start = start_of(data, at)
    return buffers.cut(data, start, start + size_of(data, at))


def is_text(data: bytearray, at: int, far: list[Any] | None, text: bytes) -> bool:
    """Whether the text at *at* is *text*."""
    return text_at(data, at, far) == text


def list_room(far: list[Any] | None) -> int:
    """The bytes of memory that the list takes, without what it refers to."""
    return 0 if far is None else LIST + far.__sizeof__() - LIST_HEAD


def prefetch(data: bytearray) -> None:
    """Have the processor fetch the object *data* meanwhile. No-op in plain Python.

    A segment is seldom in the processor's cache, and each look-up would wait for one line of it
    after the other.
    """


def prefetch_all(far: list[Any] | None) -> None:
    """Have the processor fetch all far objects at once. No-op in plain Python.

    Moving them touches their reference counts, which would miss the cache one by one.
    """
