"""Byte primitives of the codec: the plain versions of the C functions in wire.pxd.

The put_ functions write into *buffer* at *at*, where the caller has made room, and return the
offset after what they wrote. Callers must check offsets and sizes: the C functions do not.
"""

from __future__ import annotations

import math

from octets import buffers

MAX_DIGITS = 18  # of a number in a request; longer ones are refused, so it always fits 64 bits
PLAIN_DIGITS = 9
NOT_A_NUMBER = -(2**63)
MOST_DECIMALS = 6
EXACT_SCALED = 2**52  # below it, neighbours that differ by one in the last decimal are two doubles

# ---------------------------------------------------------------------- cutting


def cut_bytes(data: bytes, start: int, end: int) -> bytes:
    """A copy of ``data[start:end]``."""
    return data[start:end]


def join(data: bytes, start: int, tail: bytearray) -> bytes:
    """``data[start:]`` and *tail* in one piece."""
    return data[start:] + tail


def room_for(last: list[bytes], count: int) -> list[bytes]:
    """A list for *count* words. Compiled, it is *last* itself if that fits and nobody has it.

    The caller holds *last* in a variable and in an attribute.
    """
    del last
    return [b""] * count


# ---------------------------------------------------------------------- writing


def put_head(buffer: bytearray, at: int, mark: int, number: int) -> int:
    """Write the byte *mark*, a signed 64-bit *number* in decimal, and CRLF: 23 bytes at most.

    Raises OverflowError for a larger number.
    """
    if not -(2**63) <= number < 2**63:
        raise OverflowError("more than 64 bits")
    return buffers.put(buffer, at, b"%c%d\r\n" % (mark, number))


def put_natural(buffer: bytearray, at: int, number: int) -> int:
    """Write an unsigned 64-bit *number* in decimal: 20 bytes at most."""
    return buffers.put(buffer, at, b"%d" % number)


def put_bulk(buffer: bytearray, at: int, data: bytes) -> int:
    """Write *data* as a bulk string: at most 25 bytes more than *data* has."""
    return buffers.put(buffer, at, b"$%d\r\n%b\r\n" % (len(data), data))


def put_bulk_slice(buffer: bytearray, at: int, source: bytearray, start: int, size: int) -> int:
    """Write *size* bytes of *source* from *start* on as a bulk string."""
    return put_bulk(buffer, at, buffers.cut(source, start, start + size))


def put_bulk_number(buffer: bytearray, at: int, number: int) -> int:
    """Write a signed 64-bit *number* in decimal as a bulk string: 27 bytes at most.

    Raises OverflowError for a larger number.
    """
    at = put_head(buffer, at, ord("$"), decimal_size(number))
    return put_head(buffer, at - 1, ord("\n"), number)  # its mark is the LF, which it writes again


def put_fraction(buffer: bytearray, at: int, value: float, as_bulk: bool) -> int:
    """Write a double that is not whole, if its shortest text has up to six decimals; else -1.

    What is written is a bulk string, or else a double of RESP3: 27 bytes at most.
    """
    for decimals in range(1, MOST_DECIMALS + 1):
        scaled = abs(value) * 10.0**decimals
        if scaled >= EXACT_SCALED:
            return -1
        if int(scaled + 0.5) / 10.0**decimals == abs(value):
            text = b"%.*f" % (decimals, value)
            if as_bulk:
                return put_bulk(buffer, at, text)
            return buffers.put(buffer, at, b",%b\r\n" % text)
    return -1


def is_negative(value: float) -> bool:
    """Whether *value* has a minus sign, as -0.0 has."""
    return math.copysign(1.0, value) < 0.0


def decimal_size(number: int) -> int:
    """How many characters a signed 64-bit *number* has in decimal."""
    return len(b"%d" % number)


# ---------------------------------------------------------------------- reading


def find(data: bytes, byte: int, start: int, stop: int) -> int:
    """Where *byte* is first in ``data[start:stop]``, or -1."""
    return data.find(byte, start, stop)


def starts_with(data: bytes, at: int, head: bytes) -> bool:
    """Whether *head* stands in *data* at *at*."""
    return data.startswith(head, at)


def is_there(data: bytes, at: int, length: int, word: bytes) -> bool:
    """Whether *word* has *length* bytes and stands in *data* at *at*."""
    return len(word) == length and data.startswith(word, at)


def has_word(words: list[bytes], index: int, data: bytes, at: int, length: int) -> bool:
    """Whether *words* has one at *index*, 0 or more, and is_there() is true of it."""
    return index < len(words) and is_there(data, at, length, words[index])


def read_number(data: bytes, start: int, end: int) -> int:
    """The decimal number that fills ``data[start:end]``, or NOT_A_NUMBER.

    No plus, no blanks, no leading zeros; more than MAX_DIGITS digits are not a number.
    """
    text = data[start:end]
    digits = text.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > MAX_DIGITS or (digits[:1] == b"0" and len(text) > 1):
        return NOT_A_NUMBER
    return int(text)


def read_plain_head(data: bytes, at: int, mark: int) -> int:
    """The number in a line of the usual form, *mark*, digits, CRLF; -1 if anything is unusual.

    Unusual are a line that is not whole, and more than PLAIN_DIGITS digits. *at* may be the end of
    *data*.
    """
    end = data.find(b"\r\n", at, at + PLAIN_DIGITS + 3)
    digits = data[at + 1 : end]
    if end < 0 or data[at] != mark or not digits.isdigit() or (digits[0] == 48 and len(digits) > 1):
        return -1
    return int(digits)


def plain_head_size(number: int) -> int:
    """The bytes of the line that read_plain_head read *number* from."""
    return decimal_size(number) + 3
