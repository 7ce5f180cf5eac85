"""Converts a ziplist, in which Redis before 7.0 kept small values of several types, to a listpack.

    ziplist    total | tail | count | entry, entry, ... | FF
    total      32 bits: the size of the whole in bytes
    tail       32 bits: where the last entry begins
    count      16 bits: the number of entries; 65535 if there are as many or more
    entry      prevlen | encoding, data
    prevlen    the size of the entry before: one byte up to 253, or FE and 32 bits

    00llllll  data                   a string of up to 63 bytes
    01llllll  l  data                a string of up to 16383 bytes (big-endian)
    80  llll  data                   a string (big-endian)
    C0 nn   D0 nnnn   E0 nnnnnnnn    a signed integer of 16, 32, 64 bits
    F0 nnn   FE n                    a signed integer of 24, 8 bits
    F1 .. FD                         the integers 0 .. 12

Source: ziplist.c of Redis 6.2
"""

from __future__ import annotations

from storage.errors import Corrupt
from storage.listpack.listpack import Listpack

HEADER = 10  # bytes
END = 0xFF
MANY = 65535
LONG_PREVLEN = 0xFE
INTEGERS = {0xC0: 2, 0xD0: 4, 0xE0: 8, 0xF0: 3, 0xFE: 1}  # encoding -> bytes
FIRST_IMMEDIATE, LAST_IMMEDIATE = 0xF1, 0xFD


def to_listpack(data: bytes) -> Listpack:
    """A listpack of the elements of the ziplist *data*. Raises Corrupt. O(N)."""
    if len(data) <= HEADER or int.from_bytes(data[:4], "little") != len(data):
        raise Corrupt("a ziplist whose total is not its size")
    if data[-1] != END:
        raise Corrupt("a ziplist that does not end with FF")
    return _Conversion(data).run()


class _Conversion:
    """A walk over all entries that trusts none of them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = len(data) - 1
        self._at = HEADER
        self._made = Listpack()

    def run(self) -> Listpack:
        last = HEADER
        size_before = 0
        while self._at < self._end:
            last = self._at
            if self._prevlen() != size_before:
                raise Corrupt("a ziplist's entry has another prevlen than size")
            self._entry()
            size_before = self._at - last
        if int.from_bytes(self._data[4:8], "little") != last:
            raise Corrupt("a ziplist whose tail is not its last entry")
        if int.from_bytes(self._data[8:10], "little") not in (len(self._made), MANY):
            raise Corrupt("a ziplist that does not have the entries that it counts")
        return self._made

    def _take(self, size: int) -> bytes:
        start = self._at
        self._at += size
        if self._at > self._end:
            raise Corrupt("a ziplist's entry goes beyond the end")
        return self._data[start : self._at]

    def _prevlen(self) -> int:
        first = self._take(1)[0]
        if first < LONG_PREVLEN:
            return first
        if first == END:
            raise Corrupt("a ziplist that ends too soon")
        return int.from_bytes(self._take(4), "little")

    def _entry(self) -> None:
        first = self._take(1)[0]
        if first < 0x40:
            self._made.append(self._take(first))
        elif first < 0x80:
            self._made.append(self._take((first & 0x3F) << 8 | self._take(1)[0]))
        elif first == 0x80:
            self._made.append(self._take(int.from_bytes(self._take(4), "big")))
        elif first in INTEGERS:
            number = self._take(INTEGERS[first])
            self._made.append_int(int.from_bytes(number, "little", signed=True))
        elif FIRST_IMMEDIATE <= first <= LAST_IMMEDIATE:
            self._made.append_int(first - FIRST_IMMEDIATE)
        else:
            raise Corrupt("a ziplist has an unknown encoding")
