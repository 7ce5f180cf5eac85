"""Operations on all bits of a run of bytes: the plain versions of bit_octets.pxd.

A raw.Raw is any object with bytes in it; compiled, it is a bare pointer (storage/rdb/raw.py). No
function checks bounds: callers do. All are as fast as memory is.
"""

from __future__ import annotations

from storage.rdb import raw


def octets_of(text: bytes | bytearray) -> raw.Raw:
    """The bytes of a string, whose size must not change meanwhile."""
    return text


def ones(data: raw.Raw, start: int, end: int) -> int:
    """How many bits of ``data[start:end]`` are 1."""
    return int.from_bytes(data[start:end], "little").bit_count()


def first_other(data: raw.Raw, byte: int, start: int, end: int) -> int:
    """The offset of the first byte of ``data[start:end]`` that is not *byte*; *end* if all are."""
    part = bytes(data[start:end])
    return end - len(part.lstrip(bytes([byte])))


def copy(out: bytearray, at: int, data: raw.Raw, size: int) -> None:
    """Write *size* bytes of *data* to *out*, in both from *at* on."""
    out[at : at + size] = data[at : at + size]


def clear(out: bytearray, start: int, end: int) -> None:
    """Write zeros to ``out[start:end]``."""
    out[start:end] = bytes(end - start)


def both(out: bytearray, at: int, data: raw.Raw, size: int) -> None:
    """Leave those bits of *size* bytes of *out*, from *at* on, that *data* has there, too: AND."""
    end = at + size
    number = int.from_bytes(out[at:end], "little") & int.from_bytes(data[at:end], "little")
    out[at:end] = number.to_bytes(size, "little")


def either(out: bytearray, at: int, data: raw.Raw, size: int) -> None:
    """Add the bits that *data* has there: OR."""
    end = at + size
    number = int.from_bytes(out[at:end], "little") | int.from_bytes(data[at:end], "little")
    out[at:end] = number.to_bytes(size, "little")


def different(out: bytearray, at: int, data: raw.Raw, size: int) -> None:
    """Leave the bits that are in one of the two only: XOR."""
    end = at + size
    number = int.from_bytes(out[at:end], "little") ^ int.from_bytes(data[at:end], "little")
    out[at:end] = number.to_bytes(size, "little")


def inverted(out: bytearray, at: int, size: int) -> None:
    """Turn all bits of *size* bytes of *out*, from *at* on: NOT."""
    end = at + size
    number = int.from_bytes(out[at:end], "little") ^ ((1 << 8 * size) - 1)
    out[at:end] = number.to_bytes(size, "little")
