"""Checksums on the way through a snapshot: they say which part of a damaged file is damaged.

An aux field before a key, which Redis skips as it skips all aux fields that it does not know, has
what the checksum of the whole file was at some offsets before it:

    FA "penstock-sums" "65540:0123456789abcdef 131077:fedcba9876543210"
                        offset, CRC-64 of the file up to there

There is one for each piece of 64 KB that the writer has made, and at least one before the first key
that begins after a piece. So nothing is computed twice, and a part is a piece: from one offset to
the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from mmap import mmap

from storage.errors import Corrupt
from storage.rdb.crc64 import crc64
from storage.rdb.reader import RdbReader

AUX = b"penstock-sums"
STEP = 1 << 20  # bytes that are summed at a time
TRAILER = 8  # bytes of the checksum at the end

Sum = tuple[int, int]  # an offset, and the checksum of all bytes before it


def text_of(sums: Sequence[Sum]) -> bytes:
    """The text of the aux field."""
    return b" ".join(b"%d:%016x" % one for one in sums)


def sums_in(text: bytes) -> list[Sum]:
    """What the aux field says. Raises Corrupt."""
    try:
        return [(int(at), int(crc, 16)) for at, crc in (one.split(b":") for one in text.split())]
    except ValueError:
        raise Corrupt("the checksum of a part is none") from None


def damaged_parts(data: bytes | mmap) -> Iterator[tuple[int, int]]:
    """The parts of a snapshot that are not what was written: first offset, offset after.

    Nothing is said of a snapshot that has no sums on its way.
    """
    at = crc = 0
    end = max(0, len(data) - TRAILER)
    found = False
    for offset, expected in _all_sums(data):
        if at < offset <= end:
            found = True
            if _continued(data, at, offset, crc) != expected:
                yield at, offset
            at, crc = offset, expected
    if found and _continued(data, at, end, crc) != int.from_bytes(data[end:], "little"):
        yield at, len(data)


def _all_sums(data: bytes | mmap) -> Iterator[Sum]:
    """The sums of all aux fields that can be read, wherever the data are damaged."""
    at = 0
    while (at := data.find(AUX, at)) >= 0:
        at += len(AUX)
        reader = RdbReader(data, at)
        try:
            sums = sums_in(reader.string())
        except Corrupt:
            continue
        finally:
            reader.close()
        yield from ((offset, crc) for offset, crc in sums if offset < at)


def _continued(data: bytes | mmap, at: int, end: int, crc: int) -> int:
    """The checksum *crc* of the bytes before *at*, continued up to *end*."""
    for start in range(at, end, STEP):
        crc = crc64(bytes(data[start : min(start + STEP, end)]), crc)
    return crc
