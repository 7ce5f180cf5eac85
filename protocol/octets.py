"""Byte primitives of the codec: the plain versions of the C functions in octets.pxd.

The put_ functions write into *buffer* at *at*, where the caller has made room, and return the
offset behind what they wrote.
"""

from __future__ import annotations

MAX_DIGITS = 18
NOT_A_NUMBER = -(2**63)


def grow(buffer: bytearray, size: int) -> None:
    """Make *buffer* *size* bytes long, which is more than it was; what is new is undefined."""
    buffer.extend(bytes(size - len(buffer)))


def cut(buffer: bytearray, start: int, end: int) -> bytes:
    """A copy of ``buffer[start:end]``."""
    return bytes(buffer[start:end])


def cut_bytes(data: bytes, start: int, end: int) -> bytes:
    """A copy of ``data[start:end]``."""
    return data[start:end]


def put(buffer: bytearray, at: int, data: bytes) -> int:
    """Write *data*."""
    end = at + len(data)
    buffer[at:end] = data
    return end


def put_slice(buffer: bytearray, at: int, source: bytearray, start: int, size: int) -> int:
    """Write *size* bytes of *source* from *start* on."""
    end = at + size
    buffer[at:end] = source[start : start + size]
    return end


def put_line(buffer: bytearray, at: int, mark: int, number: int) -> int:
    """Write the byte *mark*, a signed 64-bit *number* in decimal, and CRLF: 23 bytes at most."""
    return put(buffer, at, b"%c%d\r\n" % (mark, number))


def put_crlf(buffer: bytearray, at: int) -> int:
    """Write CRLF."""
    return put(buffer, at, b"\r\n")


def decimal_size(number: int) -> int:
    """How many characters a signed 64-bit *number* has in decimal."""
    return len(b"%d" % number)


def shift(buffer: bytearray, start: int, end: int, by: int) -> None:
    """Move ``buffer[start:end]`` *by* bytes to the right, where there is room."""
    buffer[start + by : end + by] = buffer[start:end]


def find(data: bytes, byte: int, start: int) -> int:
    """Where *byte* is next, or -1."""
    return data.find(byte, start)


def read_number(data: bytes, start: int, end: int) -> int:
    """The decimal number that fills ``data[start:end]``, or NOT_A_NUMBER.

    No plus, no blanks, no leading zeros. One of more than 18 digits is none: nobody may announce as
    much, and so it always fits 64 bits.
    """
    text = data[start:end]
    digits = text.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > MAX_DIGITS or (digits[:1] == b"0" and len(text) > 1):
        return NOT_A_NUMBER
    return int(text)
