# cython: boundscheck=False, wraparound=False
"""The bits of a string. Bit 0 is the highest one of the first byte, bit 8 that of the second.

bytes     40        81
bits      01000000  10000001          bits 1, 8 and 15 are 1
"""

from __future__ import annotations

from typing import Final

from storage.rdb import raw
from storage.strings import bit_octets

AND: Final = "AND"
OR: Final = "OR"
XOR: Final = "XOR"
NOT: Final = "NOT"
DIFF: Final = "DIFF"  # in the first, in none of the others
DIFF1: Final = "DIFF1"  # in any of the others, not in the first
ANDOR: Final = "ANDOR"  # in the first, and in any of the others
ONE: Final = "ONE"  # in one of them exactly

BLOCK: Final = 16384  # bytes


def at(text: bytes | bytearray, bit: int) -> int:
    """That bit of *text*; it is 0 beyond the end."""
    byte = bit >> 3
    if byte >= len(text):
        return 0
    return bit_octets.octets_of(text)[byte] >> (7 - (bit & 7)) & 1


def count(text: bytes | bytearray, first: int, last: int) -> int:
    """How many of the bits from *first* to *last*, which are in *text*, are 1. O(bytes)."""
    data = bit_octets.octets_of(text)
    start = first >> 3
    end = last >> 3
    found = bit_octets.ones(data, start, end + 1)
    head = data[start] & ~(0xFF >> (first & 7))  # bits of the same byte, before the first one
    tail = data[end] & (0x7F >> (last & 7))
    while head:
        head &= head - 1
        found -= 1
    while tail:
        tail &= tail - 1
        found -= 1
    return found


def position(text: bytes | bytearray, bit: bool, first: int, last: int) -> int:
    """The first of the bits from *first* to *last*, which are in *text*, that is *bit*; or -1.

    O(bytes).
    """
    data = bit_octets.octets_of(text)
    skipped = 0x00 if bit else 0xFF
    at = first >> 3
    end = last >> 3
    byte = (data[at] ^ skipped) & (0xFF >> (first & 7))  # what is sought is 1 in it
    if byte == 0:
        at = bit_octets.first_other(data, skipped, at + 1, end + 1)
        if at > end:
            return -1
        byte = data[at] ^ skipped
    found = 8 * at
    while byte < 0x80:
        byte <<= 1
        found += 1
    return found if found <= last else -1


def combined(operation: str, texts: list[bytes | bytearray]) -> bytearray:
    """*texts* combined bit by bit; the shorter ones count as if zeros followed. O(bytes).

    NOT takes one text. What is returned is as long as the longest. It is made block by block, each
    of which stays in the cache until all texts are in it.
    """
    most = 0
    for text in texts:
        most = max(most, len(text))
    out = raw.blank(most)
    start = 0
    while start < most:
        end = min(start + BLOCK, most)
        _combine(out, start, end, operation, texts)
        start = end
    return out


def selected(operation: str, texts: list[bytes | bytearray]) -> bytearray:
    """What DIFF, DIFF1, ANDOR or ONE leaves of *texts*, made as in combined(). O(bytes)."""
    most = 0
    for text in texts:
        most = max(most, len(text))
    out = raw.blank(most)
    start = 0
    while start < most:
        end = min(start + BLOCK, most)
        if operation == ONE:
            _leave_single(out, start, end, texts)
        else:
            _combine_with_first(out, start, end, operation, texts)
        start = end
    return out


def _combine(
    out: bytearray, start: int, end: int, operation: str, texts: list[bytes | bytearray]
) -> None:
    """Fill ``out[start:end]``."""
    size = _part(len(texts[0]), start, end)
    bit_octets.copy(out, start, bit_octets.octets_of(texts[0]), size)
    bit_octets.clear(out, start + size, end)
    if operation == NOT:
        bit_octets.inverted(out, start, end - start)
    for at in range(1, len(texts)):
        size = _part(len(texts[at]), start, end)
        data = bit_octets.octets_of(texts[at])
        if operation == AND:
            bit_octets.both(out, start, data, size)
            bit_octets.clear(out, start + size, end)
        elif operation == OR:
            bit_octets.either(out, start, data, size)
        else:
            bit_octets.different(out, start, data, size)


def _combine_with_first(
    out: bytearray, start: int, end: int, operation: str, texts: list[bytes | bytearray]
) -> None:
    """Fill it with what joins the others with OR, and then that with the first."""
    bit_octets.clear(out, start, end)
    for at in range(1, len(texts)):
        size = _part(len(texts[at]), start, end)
        bit_octets.either(out, start, bit_octets.octets_of(texts[at]), size)
    size = _part(len(texts[0]), start, end)
    first = bit_octets.octets_of(texts[0])
    if operation == DIFF1:  # o & ~f = (o | f) ^ f
        bit_octets.either(out, start, first, size)
        bit_octets.different(out, start, first, size)
    else:
        if operation == DIFF:  # f & ~o
            bit_octets.inverted(out, start, size)
        bit_octets.both(out, start, first, size)
        bit_octets.clear(out, start + size, end)


def _leave_single(out: bytearray, start: int, end: int, texts: list[bytes | bytearray]) -> None:
    """Fill it with the bits that are in one of *texts* exactly."""
    size = end - start
    twice = raw.blank(size)  # the bits in two or more of those so far
    bit_octets.clear(twice, 0, size)
    once = raw.blank(size)  # in any of them
    bit_octets.clear(once, 0, size)
    block = raw.blank(size)
    for text in texts:
        part = _part(len(text), start, end)
        raw.put(block, 0, bit_octets.octets_of(text), start, part)
        bit_octets.both(block, 0, raw.of_bytearray(once), part)
        bit_octets.either(twice, 0, raw.of_bytearray(block), part)
        raw.put(block, 0, bit_octets.octets_of(text), start, part)
        bit_octets.either(once, 0, raw.of_bytearray(block), part)
    bit_octets.different(once, 0, raw.of_bytearray(twice), size)
    raw.put(out, start, raw.of_bytearray(once), 0, size)


def _part(size: int, start: int, end: int) -> int:
    """How many bytes of a text of *size* bytes are from *start* to *end*."""
    return min(max(size - start, 0), end - start)
