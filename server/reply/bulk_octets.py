"""Writing bulk strings from the bytes of storage: the plain versions of bulk_octets.pxd.

The put_ functions write into *buffer* at *at*, where the caller has made room, and return the
offset behind what they wrote. protocol/octets.py has the like for the encoder; but a module that
uses storage/octets.py too cannot cimport that, since Cython takes the two for one.
"""

from __future__ import annotations


def put_bulk_int(buffer: bytearray, at: int, number: int) -> int:
    """Write a bulk string, the signed 64-bit *number* in decimal: 27 bytes at most."""
    text = b"%d" % number
    bulk = b"$%d\r\n%b\r\n" % (len(text), text)
    buffer[at : at + len(bulk)] = bulk
    return at + len(bulk)


def put_bulk(buffer: bytearray, at: int, source: bytearray, start: int, size: int) -> int:
    """Write a bulk string, the *size* bytes of *source* from *start* on: 25 bytes more at most."""
    bulk = b"$%d\r\n%b\r\n" % (size, bytes(source[start : start + size]))
    buffer[at : at + len(bulk)] = bulk
    return at + len(bulk)
