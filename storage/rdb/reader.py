# cython: boundscheck=False, wraparound=False
"""Reads the parts of an RDB: numbers, lengths and strings; storage/rdb/writer.py lists their forms.

Nothing here trusts the bytes: a length is compared with the bytes that are left before memory is
taken for it.
"""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.errors import Corrupt, Truncated
from storage.rdb import crc64, lzf, raw

ENCODED = 0xC0
LZF = 0xC3
U32_LENGTH, U64_LENGTH = 0x80, 0x81


class RdbReader:
    """Reads from *position* on. Every method raises Corrupt if the bytes do not hold what it reads.

    The bytes must not change while the reader is used; ``close`` releases them.
    """

    __slots__ = ("_data", "_view", "end", "position")

    def __init__(self, data: raw.Buffer, start: int = 0, end: int = -1) -> None:
        self._view = memoryview(data).cast("B")
        self._data = raw.of_view(self._view)
        self.position = start
        self.end = len(self._view) if end < 0 else end

    def close(self) -> None:
        """Release the bytes: none are left to read."""
        self.position = self.end = 0
        self._view = memoryview(b"")
        self._data = raw.of_view(self._view)

    def left(self) -> int:
        """How many bytes there are still."""
        return self.end - self.position

    def crc(self, start: int, crc: int) -> int:
        """The checksum *crc* of the bytes before *start*, continued up to *position*."""
        return crc64.of_raw(self._data, start, self.position, crc)

    def _pass(self, size: int) -> int:
        """Advance by *size* bytes, which must be there; return their offset."""
        at = self.position
        if size > self.end - at:
            raise Truncated("the bytes end too soon")
        self.position = at + size
        return at

    # ------------------------------------------------------------------ numbers

    def byte(self) -> int:
        """A byte."""
        at = self._pass(1)
        return self._data[at]

    def u32(self) -> int:
        """An unsigned 32-bit number."""
        at = self._pass(4)
        return raw.u32(self._data, at)

    def u64(self) -> int:
        """An unsigned 64-bit number."""
        at = self._pass(8)
        return raw.u64(self._data, at)

    def i64(self) -> int:
        """A signed 64-bit number: a time in ms."""
        at = self._pass(8)
        return raw.i64(self._data, at)

    def length(self) -> int:
        """An unsigned 64-bit number in 1, 2, 5 or 9 bytes."""
        first = self.byte()
        if first >= ENCODED:
            raise Corrupt("an encoded string where a length belongs")
        return self._length_from(first)

    def _length_from(self, first: int) -> int:
        """The length whose first byte, *first*, was read already."""
        if first < 0x40:
            return first
        if first < 0x80:
            return (first & 0x3F) << 8 | self.byte()
        if first == U32_LENGTH:
            at = self._pass(4)
            return raw.u32_be(self._data, at)
        if first == U64_LENGTH:
            at = self._pass(8)
            return raw.u64_be(self._data, at)
        raise Corrupt("an unknown encoding of a length")

    def size(self) -> int:
        """A length: how many bytes follow."""
        return self._size_from(self.byte())

    def _size_from(self, first: int) -> int:
        size = self._length_from(first)
        if size > self.end - self.position:
            raise Truncated("more bytes are announced than there are")
        return size

    def count(self, least: int) -> int:
        """A length: how many items follow, of at least *least* bytes each."""
        number = self.length()
        if number > (self.end - self.position) // least:
            raise Truncated("more is announced than the bytes that are left can hold")
        return number

    # ------------------------------------------------------------------ bytes

    def plain(self, size: int) -> bytes:
        """The next *size* bytes."""
        at = self._pass(size)
        return raw.cut(self._data, at, size)

    def string(self) -> bytes:
        """A string."""
        first = self.byte()
        if first < ENCODED:
            size = self._size_from(first)
            return raw.cut(self._data, self._pass(size), size)
        if first == LZF:
            expanded = self._expanded()
            return buffers.cut(expanded, 0, len(expanded))
        return b"%d" % self._int_string(first)

    def owned_string(self) -> bytearray:
        """A string, in a bytearray that is the caller's and has no memory to spare."""
        first = self.byte()
        if first == LZF:
            return self._expanded()
        if first >= ENCODED:
            return octets.bytearray_of(b"%d" % self._int_string(first))
        size = self._size_from(first)
        made = raw.blank(size)
        raw.put(made, 0, self._data, self._pass(size), size)
        return made

    def string_or_int(self) -> bytes | int:
        """A string; the number itself if it is encoded as one."""
        first = self.byte()
        if ENCODED <= first < LZF:
            return self._int_string(first)
        self.position -= 1
        return self.string()

    def _expanded(self) -> bytearray:
        compressed = self.length()
        size = self.length()
        if compressed > self.end - self.position:
            raise Truncated("more bytes are announced than there are")
        at = self._pass(compressed)
        return lzf.expand(self._data, at, at + compressed, size)

    def _int_string(self, first: int) -> int:
        """The number of a string that is encoded as one; *first* is the encoding."""
        if first == ENCODED:
            number = self.byte()
            return number - 0x100 if number >= 0x80 else number
        if first == ENCODED + 1:
            number = raw.u16(self._data, self._pass(2))
            return number - 0x10000 if number >= 0x8000 else number
        if first == ENCODED + 2:
            number = self.u32()
            return number - 0x100000000 if number >= 0x80000000 else number
        raise Corrupt("an unknown encoding of a string")
