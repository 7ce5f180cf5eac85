# cython: boundscheck=False, wraparound=False
"""LZF, the compression of strings in an RDB: literal runs and references to what came before.

    000lllll  literal ...              a run of l + 1 bytes, 1 to 32
    lllooooo  oooooooo                 a reference: l + 2 bytes, 3 to 8, that begin o + 1 back
    111ooooo  llllllll  oooooooo       a reference: l + 9 bytes, 9 to 264

A reference may reach into what it makes itself: o = 0 repeats the byte before. Offsets have 13
bits: 8192 bytes back at most.

The compressor remembers where it last saw each three bytes, by their hash, and takes the first
match that it finds. Which positions it remembers (all but those inside a match, of which the last
two) and how it hashes decide the size of the result. Both are as in Redis, so that files are no
larger than Redis's.

Source: LibLZF, Marc Lehmann, http://software.schmorp.de/pkg/liblzf.html
"""

from __future__ import annotations

from storage.errors import Corrupt
from storage.rdb import raw

LONGEST_RUN = 32
LONGEST_MATCH = 264
FARTHEST = 8192  # bytes back
GREATEST_RATIO = 88  # three bytes make at most 264
SLOTS = 1 << 16
UNROLLED = 16


class Compressor:
    """Compresses one string after the other, with a memory of 256 KB.

    The memory is not emptied between strings: a position is remembered as its distance from the
    first byte of the first string, so positions below *base* are those of earlier strings.
    """

    __slots__ = ("_base", "_slots")

    def __init__(self) -> None:
        self._slots = memoryview(bytearray(4 * SLOTS)).cast("I")
        self._base = 1

    def compress(self, data: bytes) -> bytes | None:
        """*data* compressed, or None if that is not at least four bytes shorter.

        For tests and tools, like decompress: an RDB is written by compress_into.
        """
        out = bytearray(len(data))
        size = self.compress_into(raw.of_bytes(data), len(data), out, 0)
        return bytes(out[:size]) if size else None

    def compress_into(self, data: raw.Raw, size: int, out: bytearray, at: int) -> int:
        """Write the first *size* bytes of *data*, compressed, into *out* at *at*.

        Returns how many bytes that took; 0 if they are not at least four fewer than *size*. Nothing
        is written beyond ``at + size``, which must lie in *out*.
        """
        room = size - 4
        if room <= 0:
            return 0
        if self._base + size >= 1 << 32:
            self._slots = memoryview(bytearray(4 * SLOTS)).cast("I")
            self._base = 1
        base = self._base
        self._base += size
        return _compress(data, size, raw.into(out), at, room, raw.table32(self._slots), base)


def _slot_of(data: raw.Raw, at: int) -> int:
    """Where the position of the three bytes at *at* is remembered."""
    three = data[at] << 16 | data[at + 1] << 8 | data[at + 2]
    return ((three >> 8) - three * 5) & (SLOTS - 1)


def _compress(
    data: raw.Raw, size: int, out: bytearray, start: int, room: int, slots: memoryview, base: int
) -> int:
    """See compress_into.

    1. The byte that will hold a run's length is left free before its literals.
    2. Look up the three bytes here, and remember them in place of what was seen before.
    3. If they match what they were seen with, and the match neither begins with the first byte of
       all (an offset of 0 once meant "none") nor lies too far back: close the run, or take its
       byte back if it is empty, write the reference, remember the last two positions in it.
    4. Else the byte is one more literal.
    """
    to = start + 1  # 1
    end = start + room
    run = at = 0
    while at < size - 2:
        slot = _slot_of(data, at)  # 2
        seen = slots[slot]
        slots[slot] = base + at
        if seen > base and _matches(data, seen - base, at):  # 3
            if to - (run == 0) + 4 >= end:
                return 0
            to = _close_run(out, to, run)
            length = _match_length(data, seen - base, at, size)
            to = _put_reference(out, to, at - (seen - base) - 1, length) + 1
            run = 0
            at += length
            if at < size - 2:
                slots[_slot_of(data, at - 2)] = base + at - 2
                slots[_slot_of(data, at - 1)] = base + at - 1
        else:  # 4
            if to >= end:
                return 0
            out[to] = data[at]
            to += 1
            at += 1
            run += 1
            if run == LONGEST_RUN:
                out[to - run - 1] = run - 1
                run = 0
                to += 1
    if to + 3 > end:
        return 0
    while at < size:
        out[to] = data[at]
        to += 1
        at += 1
        run += 1
        if run == LONGEST_RUN:
            out[to - run - 1] = run - 1
            run = 0
            to += 1
    return _close_run(out, to, run) - start


def _matches(data: raw.Raw, seen: int, at: int) -> bool:
    """Whether the three bytes at *at* equal those at *seen*, and *seen* is near enough."""
    return (
        at - seen <= FARTHEST
        and data[seen] == data[at]
        and data[seen + 1] == data[at + 1]
        and data[seen + 2] == data[at + 2]
    )


def _match_length(data: raw.Raw, seen: int, at: int, size: int) -> int:
    """How many bytes, at least three, at *at* equal those at *seen*.

    A match does not reach into the last two bytes of the data, unless it is longer than UNROLLED:
    the unrolled loop in Redis has this effect.
    """
    most = min(size - at - 2, LONGEST_MATCH)
    if most > UNROLLED:
        most = max(most, UNROLLED + 3)
    length = 3
    while length < most and data[seen + length] == data[at + length]:
        length += 1
    return length


def _close_run(out: bytearray, to: int, run: int) -> int:
    """Write the length of the *run* literals before *to*; an empty run's byte is taken back."""
    if run == 0:
        return to - 1
    out[to - run - 1] = run - 1
    return to


def _put_reference(out: bytearray, to: int, offset: int, length: int) -> int:
    """Write a reference to *length* bytes that begin *offset* + 1 back."""
    if length < 9:
        out[to] = offset >> 8 | (length - 2) << 5
    else:
        out[to] = offset >> 8 | 7 << 5
        to += 1
        out[to] = length - 9
    out[to + 1] = offset & 0xFF
    return to + 2


def decompress(data: bytes, size: int) -> bytes:
    """The inverse of Compressor.compress. Raises Corrupt if *data* does not expand to *size* bytes.

    For tests and tools: an RDB is read by expand, which works on pointers.
    """
    return bytes(expand(raw.of_bytes(data), 0, len(data), size))


def expand(data: raw.Raw, at: int, end: int, size: int) -> bytearray:
    """The *size* bytes that the bytes of *data* from *at* to *end* expand to.

    Raises Corrupt if they do not; before memory is taken if *size* is beyond the greatest ratio.
    """
    if size > GREATEST_RATIO * (end - at):
        raise Corrupt(f"{end - at} compressed bytes cannot make {size}")
    out = raw.blank(size)
    if _expand(data, at, end, raw.into(out), size) < 0:
        raise Corrupt("compressed bytes that do not make what they should")
    return out


def _expand(data: raw.Raw, at: int, end: int, out: bytearray, size: int) -> int:
    """Fill *out*, which has *size* bytes; -1 if the compressed bytes make more or fewer."""
    to = 0
    while at < end:
        length = data[at] >> 5
        offset = (data[at] & 0x1F) << 8
        at += 1
        if length == 0:
            length = (offset >> 8) + 1
            if length > end - at or length > size - to:
                return -1
            raw.copy(out, to, data, at, length, min(size - to, end - at))
            at += length
        else:
            if end - at < 1 + (length == 7):
                return -1
            if length == 7:
                length += data[at]
                at += 1
            length += 2
            offset += data[at] + 1
            at += 1
            if offset > to or length > size - to:
                return -1
            raw.repeat(out, to, offset, length, size - to)
        to += length
    return 0 if to == size else -1
