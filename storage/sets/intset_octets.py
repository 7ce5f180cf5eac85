"""The bytes of an intset: the plain versions of the C functions in intset_octets.pxd.

See storage/sets/intset.py for the format. Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

HEADER = 8  # bytes


def width_of(data: bytes) -> int:
    """How many bytes each number has: 2, 4 or 8."""
    return int.from_bytes(data[:4], "little")


def length_of(data: bytes) -> int:
    """How many numbers there are."""
    return int.from_bytes(data[4:8], "little")


def number_at(data: bytes, width: int, index: int) -> int:
    """The number of that index; each has *width* bytes."""
    at = HEADER + index * width
    return int.from_bytes(data[at : at + width], "little", signed=True)


def inserted(data: bytes, width: int, index: int, number: int) -> bytes:
    """*data* with *number* before that of *index*; each number gets *width* bytes. O(N).

    *width* is at least that of *data*, and enough for *number*.
    """
    numbers = [number_at(data, width_of(data), i) for i in range(length_of(data))]
    numbers.insert(index, number)
    body = b"".join(each.to_bytes(width, "little", signed=True) for each in numbers)
    return width.to_bytes(4, "little") + len(numbers).to_bytes(4, "little") + body


def without(data: bytes, index: int) -> bytes:
    """*data* without the number of that index. O(N)."""
    width = width_of(data)
    at = HEADER + index * width
    length = (length_of(data) - 1).to_bytes(4, "little")
    return data[:4] + length + data[HEADER:at] + data[at + width :]
