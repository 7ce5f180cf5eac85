"""Runs of bytes in a bytearray: the plain versions of the C functions in buffers.pxd.

Functions that write return the offset after what they wrote; there must be room. Compiled, no
function checks bounds: callers do.
"""

from __future__ import annotations


def resize(buffer: bytearray, size: int) -> None:
    """Make *buffer* *size* bytes long; bytes that are new are undefined."""
    if size < len(buffer):
        del buffer[size:]
    else:
        buffer.extend(bytes(size - len(buffer)))


def make(size: int) -> bytearray:
    """A buffer of *size* bytes, whatever they are. Compiled, it is faster than bytearray(size)."""
    return bytearray(size)


def cut(buffer: bytearray, start: int, end: int) -> bytes:
    """A copy of ``buffer[start:end]``."""
    return bytes(buffer[start:end])


def put(buffer: bytearray, at: int, data: bytes) -> int:
    """Write *data*."""
    end = at + len(data)
    buffer[at:end] = data
    return end


def put_slice(buffer: bytearray, at: int, source: bytearray, start: int, size: int) -> int:
    """Write *size* bytes of *source* (another buffer) from *start* on."""
    end = at + size
    buffer[at:end] = source[start : start + size]
    return end


def move(buffer: bytearray, to: int, start: int, size: int) -> None:
    """Copy *size* bytes from *start* to *to* within *buffer*; the two may overlap."""
    buffer[to : to + size] = buffer[start : start + size]
