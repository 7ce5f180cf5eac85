"""The bytes of a listpack's element: the plain versions of the C functions in element_octets.pxd.

    element    encoding, data | backlen

    0xxxxxxx                         an integer, 0 .. 127
    10llllll  data                   a string of up to 63 bytes
    110xxxxx  xx                     an integer, 13 bits
    1110llll  ll  data               a string of up to 4095 bytes
    F0  ll ll ll ll  data            a string
    F1  xx xx                        an integer, 16 bits; F2: 24, F3: 32, F4: 64 bits
    FF                               the end

Integers are signed and, like all numbers of more than a byte here, little-endian; those of 13 and
12 bits alone have their high bits in the first byte. Text that is the canonical form of a
signed 64-bit integer is stored as that integer.

    backlen    the size of the element's encoding and data in groups of 7 bits, highest first:
               0xxxxxxx  1xxxxxxx  1xxxxxxx ...     1 to 5 bytes, read from right to left

Source: the listpack specification, https://github.com/antirez/listpack

The put_ functions write a whole element into *data* at *at*, where there must be room, and return
the offset after it. What is read has been checked before, if a function does not say otherwise.
"""

from __future__ import annotations

from octets import buffers
from storage import octets

STR6, INT13, STR12 = 0x80, 0xC0, 0xE0
STR32, INT16, INT24, INT32, INT64 = 0xF0, 0xF1, 0xF2, 0xF3, 0xF4


def backlen_size(size: int) -> int:
    """How many bytes the backlen of an element of *size* bytes has."""
    if size <= 127:
        return 1
    # Redis starts the next group one early: 16383 would fit two.
    if size < 16383:
        return 2
    if size < 2097151:
        return 3
    return 4 if size < 268435455 else 5


def put_backlen(data: bytearray, at: int, size: int) -> int:
    """Write the backlen of an element of *size* bytes; return the offset after it."""
    if size <= 127:
        return octets.put_u8(data, at, size)
    end = at + backlen_size(size)
    last = end - 1
    while last > at:
        octets.put_u8(data, last, size & 0x7F | 0x80)
        size >>= 7
        last -= 1
    octets.put_u8(data, at, size)
    return end


def backlen_before(data: bytearray, at: int) -> int:
    """The size in the backlen that ends at *at*; reads at most five bytes."""
    size = 0
    shift = 0
    while shift < 35:
        at -= 1
        group = data[at]
        size |= (group & 0x7F) << shift
        if group < 0x80:
            break
        shift += 7
    return size


def string_size(length: int) -> int:
    """How many bytes encoding and data of a string of *length* bytes have."""
    if length < 64:
        return 1 + length
    return (2 if length < 4096 else 5) + length


def int_size(number: int) -> int:
    """How many bytes encoding and data of *number* have."""
    if 0 <= number <= 127:
        return 1
    if -0x1000 <= number < 0x1000:
        return 2
    if -0x8000 <= number < 0x8000:
        return 3
    if -0x800000 <= number < 0x800000:
        return 4
    return 5 if -0x80000000 <= number < 0x80000000 else 9


def put_string(data: bytearray, at: int, value: bytes) -> int:
    """Write the string *value*."""
    length = len(value)
    start = at
    if length < 64:
        at = octets.put_u8(data, at, STR6 | length)
    elif length < 4096:
        at = octets.put_u8(data, at, STR12 | length >> 8)
        at = octets.put_u8(data, at, length)
    else:
        at = octets.put_u8(data, at, STR32)
        at = octets.put_u32(data, at, length)
    at = buffers.put(data, at, value)
    return put_backlen(data, at, at - start)


def put_int(data: bytearray, at: int, number: int) -> int:
    """Write the signed 64-bit *number*."""
    size = int_size(number)
    if size == 1:
        at = octets.put_u8(data, at, number)
    elif size == 2:
        at = octets.put_u8(data, at, INT13 | number >> 8 & 0x1F)
        at = octets.put_u8(data, at, number)
    elif size == 3:
        at = octets.put_u16(data, octets.put_u8(data, at, INT16), number)
    elif size == 4:
        at = octets.put_u24(data, octets.put_u8(data, at, INT24), number)
    elif size == 5:
        at = octets.put_u32(data, octets.put_u8(data, at, INT32), number)
    else:
        at = octets.put_i64(data, octets.put_u8(data, at, INT64), number)
    return octets.put_u8(data, at, size)


def most_bytes(length: int) -> int:
    """An upper bound of the bytes of an element for a text of *length* bytes, backlen included.

    It is exact for a string; an integer never takes more than its text as a string would.
    """
    size = string_size(length)
    return size + backlen_size(size)


def put(data: bytearray, at: int, value: bytes) -> int:
    """Write *value* as an integer if it is the text of one, else as a string."""
    if octets.is_int64(value):
        return put_int(data, at, octets.int64_of(value))
    return put_string(data, at, value)


def encoded_size(data: bytearray, at: int) -> int:
    """How many bytes encoding and data of the element at *at* have; 0 if its first byte is invalid.

    Reads no more than the five bytes from *at* on.
    """
    head = data[at]
    if head < STR6:
        return 1
    if head < INT13:
        return 1 + (head & 0x3F)
    if head < STR12:
        return 2
    if head < STR32:
        return 2 + ((head & 0x0F) << 8 | data[at + 1])
    if head == STR32:
        return 5 + octets.u32(data, at + 1)
    if head <= INT32:
        return 2 + head - STR32
    return 9 if head == INT64 else 0


def after(data: bytearray, at: int) -> int:
    """Where the element at *at* ends: the next one's offset, or that of the closing FF."""
    size = encoded_size(data, at)
    return at + size + backlen_size(size)


def short_size(data: bytearray, at: int) -> int:
    """The size of the string at *at* if it is below 64; -1 for a longer one, or an integer.

    Such a string begins after one byte, and the next element one byte after the string.
    """
    return data[at] & 0x3F if data[at] & 0xC0 == STR6 else -1


def is_string(data: bytearray, at: int) -> bool:
    """Whether the element at *at* is a string."""
    head = data[at]
    return head >= STR6 and (head < INT13 or STR12 <= head <= STR32)


def number_at(data: bytearray, at: int) -> int:
    """The value of the integer element at *at*."""
    head = data[at]
    if head < STR6:
        return head
    if head < STR12:
        number = (head & 0x1F) << 8 | data[at + 1]
        return number - 0x2000 if number >= 0x1000 else number
    if head == INT16:
        return octets.i16(data, at + 1)
    if head == INT24:
        return octets.i24(data, at + 1)
    if head == INT32:
        return octets.i32(data, at + 1)
    return octets.i64(data, at + 1)


def head_size(data: bytearray, at: int) -> int:
    """How many bytes precede the data of the string element at *at*."""
    head = data[at]
    if head < INT13:
        return 1
    return 2 if head < STR32 else 5
