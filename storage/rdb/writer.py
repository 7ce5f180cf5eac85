# cython: boundscheck=False, wraparound=False
"""Writes the parts of an RDB: numbers, lengths and strings.

    length   00llllll                            up to 63
             01llllll  l                         14 bits, big-endian
             80  llll                            32 bits, big-endian
             81  llllllll                        64 bits, big-endian
    string   length  bytes
             C0  n     C1  nn     C2  nnnn       the text of a signed number of 8, 16, 32 bits
             C3  length  length  bytes           LZF: the length compressed, the length expanded

Other numbers are little-endian.
"""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.rdb import opcodes, raw
from storage.rdb.lzf import Compressor

FIRST_ROOM = 1 << 10  # bytes: most payloads are small
SHORTEST_COMPRESSED = 21  # bytes; shorter strings are not tried
LONGEST_NUMBER = 11  # characters of a signed 32-bit number
ENCODED = 0xC0
LZF = 3
HEAD = 18  # bytes before a compressed string, at most


_compressors: list[Compressor] = []  # the one of all writers, once there is a use for it


def _shared_compressor() -> Compressor:
    """The compressor of all writers: its memory is 256 KB, and a DUMP may need none of it."""
    if not _compressors:
        _compressors.append(Compressor())
    return _compressors[0]


class RdbWriter:
    """A buffer to which numbers, lengths and strings are added; *size* bytes of it are in use.

    *version* is that of the RDB: the form of some values depends on it.
    """

    __slots__ = ("_compress", "_compressor", "_data", "size", "version")

    def __init__(self, compress: bool = True, version: int = opcodes.WRITTEN_VERSION) -> None:
        self.version = version
        self._data = bytearray(FIRST_ROOM)
        self.size = 0
        self._compress = compress
        self._compressor: Compressor | None = None  # until it has something to do

    def take(self) -> bytes:
        """The bytes written since the last call."""
        taken = buffers.cut(self._data, 0, self.size)
        self.size = 0
        return taken

    def _reserve(self, size: int) -> None:
        """Make room for *size* bytes more."""
        if self.size + size > len(self._data):
            buffers.resize(self._data, (self.size + size) * 3 // 2)

    # ------------------------------------------------------------------ numbers

    def byte(self, number: int) -> None:
        """A byte: a type, an opcode, ..."""
        self._reserve(1)
        self.size = octets.put_u8(self._data, self.size, number)

    def length(self, number: int) -> None:
        """An unsigned 64-bit number in 1, 2, 5 or 9 bytes."""
        self._reserve(9)
        self._put_length(number)

    def _put_length(self, number: int) -> None:
        data, at = self._data, self.size
        if number < 1 << 6:
            at = octets.put_u8(data, at, number)
        elif number < 1 << 14:
            at = octets.put_u8(data, at, 0x40 | number >> 8)
            at = octets.put_u8(data, at, number & 0xFF)
        elif number < 1 << 32:
            at = raw.put_u32_be(data, octets.put_u8(data, at, 0x80), number)
        else:
            at = raw.put_u64_be(data, octets.put_u8(data, at, 0x81), number)
        self.size = at

    def u16(self, number: int) -> None:
        """An unsigned 16-bit number in two bytes."""
        self._reserve(2)
        self.size = octets.put_u16(self._data, self.size, number)

    def u64(self, number: int) -> None:
        """An unsigned 64-bit number in eight bytes."""
        self._reserve(8)
        self.size = raw.put_u64(self._data, self.size, number)

    def i64(self, number: int) -> None:
        """A signed 64-bit number in eight bytes: a time in ms."""
        self._reserve(8)
        self.size = octets.put_i64(self._data, self.size, number)

    def id(self, ms: int, seq: int) -> None:
        """A stream id in 16 bytes that sort as ids do."""
        self._reserve(16)
        self.size = raw.put_u64_be(self._data, self.size, ms)
        self.size = raw.put_u64_be(self._data, self.size, seq)

    # ------------------------------------------------------------------ bytes

    def plain(self, data: bytes) -> None:
        """The bytes themselves."""
        size = len(data)
        self._reserve(size)
        self.size = buffers.put(self._data, self.size, data)

    def string(self, text: bytes) -> None:
        """A string."""
        self.text(raw.of_bytes(text), len(text))

    def text(self, text: raw.Raw, size: int) -> None:
        """A string, the first *size* bytes of *text*, in the shortest encoding."""
        self._reserve(HEAD + size)
        if size <= LONGEST_NUMBER and raw.is_int32(text, size):
            self._put_int32(raw.int32_of(text, size))
        elif not (size >= SHORTEST_COMPRESSED and self._put_compressed(text, size)):
            self._put_length(size)
            self.size = raw.put(self._data, self.size, text, 0, size)

    def int_string(self, number: int) -> None:
        """The text of a signed 64-bit number as a string, in the shortest encoding."""
        self._reserve(HEAD + octets.MAX_INT_TEXT)
        if -(1 << 31) <= number < 1 << 31:
            self._put_int32(number)
        else:
            text = octets.decimal(number)
            self._put_length(len(text))
            self.size = buffers.put(self._data, self.size, text)

    def _put_int32(self, number: int) -> None:
        data, at = self._data, self.size
        if -0x80 <= number < 0x80:
            at = octets.put_u8(data, octets.put_u8(data, at, ENCODED), number & 0xFF)
        elif -0x8000 <= number < 0x8000:
            at = octets.put_u16(data, octets.put_u8(data, at, ENCODED + 1), number)
        else:
            at = octets.put_u32(data, octets.put_u8(data, at, ENCODED + 2), number)
        self.size = at

    def _put_compressed(self, text: raw.Raw, size: int) -> bool:
        """Write *text* compressed; False, and nothing is written, if that saves too little.

        Its size comes first, but is known only afterwards. So the string is compressed a little
        further on, and then moved.
        """
        if not self._compress:
            return False
        if self._compressor is None:
            self._compressor = _shared_compressor()
        start = self.size + HEAD
        compressed = self._compressor.compress_into(text, size, self._data, start)
        if compressed == 0:
            return False
        self.size = octets.put_u8(self._data, self.size, ENCODED + LZF)
        self._put_length(compressed)
        self._put_length(size)
        buffers.move(self._data, self.size, start, compressed)
        self.size += compressed
        return True
