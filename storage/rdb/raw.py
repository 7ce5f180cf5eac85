"""Reading bytes in place: the plain versions of the C functions in raw.pxd.

Here a Raw is any object with bytes in it. Compiled, it is a bare pointer: the caller keeps the
object alive and checks bounds. Numbers are little-endian unless the name says ``be``. The put_
functions are like those of octets.buffers.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from octets import buffers
from storage import octets

Raw: TypeAlias = bytes | bytearray | memoryview


class Buffer(Protocol):
    """Anything with contiguous bytes in it: bytes, a memoryview, an mmap."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


def of_bytes(data: bytes) -> Raw:
    """The bytes of *data*."""
    return data


def of_bytearray(data: bytearray) -> Raw:
    """The bytes of *data*, whose size must not change meanwhile."""
    return data


def of_view(data: memoryview) -> Raw:
    """The bytes of *data*, which must be contiguous."""
    return data


def into(data: bytearray) -> bytearray:
    """The bytes of *data* for writing; its size must not change meanwhile."""
    return data


def table32(entries: memoryview) -> memoryview:
    """A table of unsigned 32-bit numbers, to be read and written."""
    return entries


def table64(entries: memoryview) -> memoryview:
    """A table of unsigned 64-bit numbers."""
    return entries


def part(data: Raw, at: int, size: int) -> Raw:
    """The *size* bytes from *at* on, in place if compiled."""
    return data[at : at + size]


def cut(data: Raw, at: int, size: int) -> bytes:
    """A copy of *size* bytes from *at* on."""
    return bytes(data[at : at + size])


def put(buffer: bytearray, at: int, data: Raw, start: int, size: int) -> int:
    """Write *size* bytes of *data* from *start* on."""
    return buffers.put(buffer, at, cut(data, start, size))


def u16(data: Raw, at: int) -> int:
    """An unsigned 16-bit number."""
    return int.from_bytes(data[at : at + 2], "little")


def u32(data: Raw, at: int) -> int:
    """An unsigned 32-bit number."""
    return int.from_bytes(data[at : at + 4], "little")


def u64(data: Raw, at: int) -> int:
    """An unsigned 64-bit number."""
    return int.from_bytes(data[at : at + 8], "little")


def i64(data: Raw, at: int) -> int:
    """A signed 64-bit number."""
    return int.from_bytes(data[at : at + 8], "little", signed=True)


def u32_be(data: Raw, at: int) -> int:
    """An unsigned 32-bit big-endian number."""
    return int.from_bytes(data[at : at + 4], "big")


def u64_be(data: Raw, at: int) -> int:
    """An unsigned 64-bit big-endian number."""
    return int.from_bytes(data[at : at + 8], "big")


def put_u32_be(buffer: bytearray, at: int, number: int) -> int:
    """Write an unsigned 32-bit big-endian number."""
    return buffers.put(buffer, at, number.to_bytes(4, "big"))


def put_u64_be(buffer: bytearray, at: int, number: int) -> int:
    """Write an unsigned 64-bit big-endian number."""
    return buffers.put(buffer, at, number.to_bytes(8, "big"))


def put_u64(buffer: bytearray, at: int, number: int) -> int:
    """Write an unsigned 64-bit number."""
    return buffers.put(buffer, at, number.to_bytes(8, "little"))


def blank(size: int) -> bytearray:
    """A bytearray of *size* undefined bytes."""
    return bytearray(size)


def copy(out: bytearray, to: int, data: Raw, at: int, size: int, left: int) -> None:
    """Write *size* bytes of *data* from *at* on into *out* at *to*.

    Both have *left* bytes from there on. Compiled, some bytes after the last may be written, too.
    """
    out[to : to + size] = data[at : at + size]


def repeat(out: bytearray, to: int, offset: int, size: int, left: int) -> None:
    """Copy *size* bytes within *out* to *to*, from *offset* bytes before it; they may overlap.

    *out* has *left* bytes from *to* on. Compiled, some bytes after the last may be written, too.
    """
    chunk = out[to - offset : to]
    out[to : to + size] = (chunk * (size // offset + 1))[:size]


def is_int32(text: Raw, size: int) -> bool:
    """Whether the first *size* bytes, at most 11, are a signed 32-bit number in canonical form."""
    digits = cut(text, 0, size)
    return octets.is_int64(digits) and -(2**31) <= int(digits) < 2**31


def int32_of(text: Raw, size: int) -> int:
    """The number that the first *size* bytes say; is_int32 must hold for them."""
    return int(cut(text, 0, size))
