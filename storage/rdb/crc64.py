# cython: boundscheck=False, wraparound=False
"""CRC-64, the checksum at the end of Redis's files and payloads.

The polynomial is Jones's, ad93d23594c935a9, reflected. The start is 0, and nothing is inverted at
the end. The checksum of b"123456789" is e9c6d914c4b8d9ca.

Sixteen bytes are taken at a time. TABLE[256 * k + b] is what the byte b, followed by k zeros, adds
to the checksum; the k-th byte from the end of the sixteen is followed by k others. What the second
eight of them add does not depend on the checksum so far, so the processor need not wait for it.

Source: slicing-by-8, Kounavis and Berry, "A systematic approach to building high performance
software-based CRC generators", 2005
"""

from __future__ import annotations

import struct

from storage.rdb import raw

REFLECTED = 0x95AC9329AC4BC9B5


def _table() -> memoryview:
    entries = [_bits_of(byte) for byte in range(256)]
    for index in range(15 * 256):
        crc = entries[index]
        entries.append(crc >> 8 ^ entries[crc & 0xFF])
    return memoryview(struct.pack("=4096Q", *entries)).cast("Q")


def _bits_of(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (REFLECTED if crc & 1 else 0)
    return crc


TABLE = _table()


def crc64(data: bytes, crc: int = 0) -> int:
    """The checksum *crc* of the bytes so far, continued over *data*."""
    return of_raw(raw.of_bytes(data), 0, len(data), crc)


def of_raw(data: raw.Raw, at: int, end: int, crc: int) -> int:
    """The checksum *crc* of the bytes so far, continued over *data* from *at* to *end*."""
    table = raw.table64(TABLE)
    while end - at >= 16:
        crc ^= raw.u64(data, at)
        behind = raw.u64(data, at + 8)
        crc = (
            table[0xF00 + (crc & 0xFF)]
            ^ table[0xE00 + (crc >> 8 & 0xFF)]
            ^ table[0xD00 + (crc >> 16 & 0xFF)]
            ^ table[0xC00 + (crc >> 24 & 0xFF)]
            ^ table[0xB00 + (crc >> 32 & 0xFF)]
            ^ table[0xA00 + (crc >> 40 & 0xFF)]
            ^ table[0x900 + (crc >> 48 & 0xFF)]
            ^ table[0x800 + (crc >> 56)]
            ^ table[0x700 + (behind & 0xFF)]
            ^ table[0x600 + (behind >> 8 & 0xFF)]
            ^ table[0x500 + (behind >> 16 & 0xFF)]
            ^ table[0x400 + (behind >> 24 & 0xFF)]
            ^ table[0x300 + (behind >> 32 & 0xFF)]
            ^ table[0x200 + (behind >> 40 & 0xFF)]
            ^ table[0x100 + (behind >> 48 & 0xFF)]
            ^ table[behind >> 56]
        )
        at += 16
    while at < end:
        crc = crc >> 8 ^ table[(crc ^ data[at]) & 0xFF]
        at += 1
    return crc
