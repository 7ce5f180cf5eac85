"""Writing an entry into a buffer: the plain versions of the C functions in entry_octets.pxd.

The put_ functions write into *buffer* at *at*, where the caller has made room, and return the
offset behind what they wrote. The bytes that they read have been checked before.
"""

from __future__ import annotations

SHORT_STRING = 0x80  # an element that begins with 10llllll is a string of l bytes


def put(buffer: bytearray, at: int, data: bytes) -> int:
    """Write *data*."""
    end = at + len(data)
    buffer[at:end] = data
    return end


def put_u64(buffer: bytearray, at: int, number: int) -> int:
    """Write an unsigned 64-bit *number* in decimal."""
    return put(buffer, at, b"%d" % number)


def short_size(source: bytearray, at: int) -> int:
    """The size of the string whose listpack element is at *at* if that is below 64, else -1.

    The string begins behind one byte, and the next element one byte behind the string.
    """
    return source[at] & 0x3F if source[at] & 0xC0 == SHORT_STRING else -1
