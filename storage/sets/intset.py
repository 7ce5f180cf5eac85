# cython: boundscheck=False, wraparound=False, cdivision=True
"""An intset: integers in ascending order in one run of bytes, byte for byte as in Redis.

    intset    width | length | number, number, ...
    width     32 bits: how many bytes each number has: 2, 4 or 8
    length    32 bits: how many numbers there are
    number    signed, of that width

All are little-endian. The width is the least that the widest number needed when it was added; it
never becomes smaller again.

An intset is an immutable bytes object here: a change makes another one. That takes less memory than
an object with a buffer of its own, and copies of a set share it.

Source: intset.c of Redis 7.0
"""

from __future__ import annotations

from storage.errors import Corrupt
from storage.sets import intset_octets

HEADER = 8  # bytes
EMPTY = b"\x02\x00\x00\x00\x00\x00\x00\x00"


def length(data: bytes) -> int:
    """How many numbers there are. O(1)."""
    return intset_octets.length_of(data)


def get(data: bytes, index: int) -> int:
    """The number of that index, which there must be. O(1)."""
    return intset_octets.number_at(data, intset_octets.width_of(data), index)


def find(data: bytes, number: int) -> int:
    """The index of *number*; ``-1 - n`` if it would be inserted as number n. O(log N)."""
    width = intset_octets.width_of(data)
    low = 0
    high = intset_octets.length_of(data)
    while low < high:
        middle = (low + high) >> 1
        found = intset_octets.number_at(data, width, middle)
        if found == number:
            return middle
        if found < number:
            low = middle + 1
        else:
            high = middle
    return -1 - low


def inserted(data: bytes, index: int, number: int) -> bytes:
    """*data* with *number* at *index*, which find() gave as ``-1 - index``. O(N)."""
    width = max(intset_octets.width_of(data), width_for(number))
    return intset_octets.inserted(data, width, index, number)


def without(data: bytes, index: int) -> bytes:
    """*data* without the number of that index, which there must be. O(N)."""
    return intset_octets.without(data, index)


def width_for(number: int) -> int:
    """How many bytes *number* needs."""
    if -0x8000 <= number < 0x8000:
        return 2
    return 4 if -0x80000000 <= number < 0x80000000 else 8


def is_one(data: bytes) -> bool:
    """Whether *data*, an intset or a listpack, is an intset. O(1).

    A listpack begins with its length, an intset with its width, and none is as short as that.
    """
    return intset_octets.width_of(data) != len(data)


def check(data: bytes) -> None:
    """Raise Corrupt unless *data* is a valid intset. O(N). Nothing beyond its end is read."""
    if len(data) < HEADER:
        raise Corrupt("an intset without a header")
    width = intset_octets.width_of(data)
    if width not in (2, 4, 8):
        raise Corrupt("an intset of an unknown width")
    count = intset_octets.length_of(data)
    if count * width != len(data) - HEADER:
        raise Corrupt("an intset that does not have the numbers that it counts")
    for index in range(1, count):
        before = intset_octets.number_at(data, width, index - 1)
        if before >= intset_octets.number_at(data, width, index):
            raise Corrupt("an intset whose numbers do not ascend")
