# cython: boundscheck=False, wraparound=False
r"""Checksums of an append-only file: a line after each write says what the bytes before it are.

    #S mark size sum check \r\n

    mark     ":" a stretch of sums begins; "+" the bytes follow what the line before has summed
    size     8 hex digits: how many bytes before the line it is about
    sum      16 hex digits: their CRC-64, which begins with their offset in the file
    check    6 hex digits of the CRC-64 of the 27 characters before, begun with the line's offset

Redis 7 and later take a line that begins with # for an annotation, and skip it. So do we where sums
are not asked for. What Redis appends has no sums; our next line after it begins a new stretch.

The line stands after its bytes, not before them: a server that cuts a torn file after a command,
as Redis does, leaves a valid one. Offsets are in the sums, so bytes that are right, but in the
wrong place, are found too; and the contents of another file, stored as a value, are no lines here.
"""

from __future__ import annotations

from octets import buffers
from storage.rdb import crc64, raw

LINE = 35  # bytes
HASH, LETTER, BEGINS, FOLLOWS = b"#S:+"
MOST = 0xFFFFFFFF  # bytes that a line can be about
CHECKED = 27  # bytes of the line that its check is about
CHECK_DIGITS = 6
CHECK_MASK = 0xFFFFFF
ZERO, NINE, A, F, CR, LF = b"09af\r\n"


def put_line(
    out: bytearray, to: int, data: raw.Raw, at: int, end: int, start: int, mark: int
) -> int:
    """Write the line about *data* from *at* to *end*, at most MOST bytes, into *out* at *to*.

    The bytes are at the offset *start* of their file; *out* has room for the line, and may be what
    *data* points to. Returns the offset after the line.
    """
    total = crc64.of_raw(data, at, end, start)
    return _put(out, to, mark, end - at, total, start + end - at)


def line_for(data: bytes, start: int, follows: bool) -> bytes:
    """The line about *data*, which is at the offset *start* of its file; b"" if there can be none.

    *follows*: a line ends where *data* begins.
    """
    size = len(data)
    if not 0 < size <= MOST:
        return b""
    out = raw.blank(LINE)
    put_line(out, 0, raw.of_bytes(data), 0, size, start, FOLLOWS if follows else BEGINS)
    return buffers.cut(out, 0, LINE)


def _put(out: bytearray, to: int, mark: int, size: int, total: int, offset: int) -> int:
    """Write a line that lies at *offset* of its file."""
    line = raw.into(out)
    line[to] = HASH
    line[to + 1] = LETTER
    line[to + 2] = mark
    _put_hex(out, to + 3, 8, size)
    _put_hex(out, to + 11, 16, total)
    check = crc64.of_raw(raw.of_bytearray(out), to, to + CHECKED, offset) & CHECK_MASK
    _put_hex(out, to + CHECKED, CHECK_DIGITS, check)
    line[to + LINE - 2] = CR
    line[to + LINE - 1] = LF
    return to + LINE


def _put_hex(out: bytearray, to: int, digits: int, number: int) -> None:
    line = raw.into(out)
    for index in range(digits):
        digit = number >> (4 * (digits - 1 - index)) & 15
        line[to + index] = ZERO + digit if digit < 10 else A - 10 + digit


def begins_line(data: raw.Raw, at: int, end: int) -> bool:
    """Whether the bytes from *at* to *end* begin as a line does, as far as there are any."""
    return at < end and data[at] == HASH and (at + 1 == end or data[at + 1] == LETTER)


def size_at(data: raw.Raw, at: int, end: int) -> int:
    """How many bytes the line at the offset *at* is about; -1 if there is no sound line.

    A line is sound if it is whole and its check is right; of the bytes before it nothing is said.
    """
    if end - at < LINE or not begins_line(data, at, end):
        return -1
    size = _hex(data, at + 3, 8)
    check = _hex(data, at + CHECKED, CHECK_DIGITS)
    if size < 0 or size > at or check < 0 or data[at + LINE - 2] != CR or data[at + LINE - 1] != LF:
        return -1
    found = crc64.of_raw(data, at, at + CHECKED, at) & CHECK_MASK
    return size if found == check else -1


def is_right(data: raw.Raw, at: int, size: int) -> bool:
    """Whether the *size* bytes before the sound line at *at* are those that it is about."""
    total = crc64.of_raw(data, at - size, at, at - size)
    for index in range(16):
        digit = total >> (4 * (15 - index)) & 15
        if data[at + 11 + index] != (ZERO + digit if digit < 10 else A - 10 + digit):
            return False
    return True


def sound_line(data: raw.Raw, at: int, end: int) -> int:
    """The offset of the first sound line from *at* on; -1 if there is none before *end*."""
    while at + LINE <= end:
        if data[at] == HASH and data[at + 1] == LETTER and size_at(data, at, end) >= 0:
            return at
        at += 1
    return -1


def _hex(data: raw.Raw, at: int, digits: int) -> int:
    """The number of some hex digits, at most 8; -1 if one is none, or a capital."""
    number = 0
    for index in range(digits):
        digit = data[at + index]
        if ZERO <= digit <= NINE:
            digit -= ZERO
        elif A <= digit <= F:
            digit -= A - 10
        else:
            return -1
        number = number << 4 | digit
    return number
