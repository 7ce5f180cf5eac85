"""Reads a zipmap, in which Redis before 2.6 kept a small hash.

    zipmap     count | field, value, field, value, ... | FF
    count      8 bits: the number of fields; 254 or more means: walk to count them
    field      length | bytes
    value      length | unused | bytes | so many unused bytes
    length     00 .. FD, or FE and 32 bits, little-endian

Source: zipmap.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import Corrupt

END = 0xFF
LONG_LENGTH = 0xFE
MANY = 0xFE


def pairs_of(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The fields of the zipmap *data*, with their values. Raises Corrupt. O(N)."""
    if len(data) < 2 or data[-1] != END:
        raise Corrupt("a zipmap that does not end with FF")
    end = len(data) - 1
    at, found = 1, 0
    while at < end:
        field, at = _text(data, at, end, 0)
        value, at = _text(data, at, end, 1)
        found += 1
        yield field, value
    if data[0] < MANY and data[0] != found:
        raise Corrupt("a zipmap that does not have the fields that it counts")


def _text(data: bytes, at: int, end: int, spare: int) -> tuple[bytes, int]:
    """The text at *at*, and where the next one begins; *spare*: 1 if a count of unused bytes comes
    between length and text.
    """
    size, start = data[at], at + 1
    if size == LONG_LENGTH:
        size, start = int.from_bytes(data[start : start + 4], "little"), start + 4
    elif size == END:
        raise Corrupt("a zipmap that ends too soon")
    unused = data[start] if spare and start < end else 0
    start += spare
    after = start + size + unused
    if after > end:
        raise Corrupt("a zipmap's text goes beyond the end")
    return data[start : start + size], after
