"""Compact positions: those of thousands of streams as one short text, for a checkpoint.

    names       sorted; of each the length that it shares with the one before, and the rest
    numbers     by columns: the ends' milliseconds, sequences and counts; the beginnings and the
                cuts as differences to these

A column of numbers is cut into planes: all lowest bytes, then all next ones. Most planes hold few
different bytes, or nothing but zeros. Each is deflated by itself, and all are written in base 85,
which JSON takes as it is. So a stream costs 6 to 9 characters; as JSON it costs 80 and more.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.names import key, text
from pyspark_penstock.read.positions import Cut, Position

VERSION = 1
LARGEST = 1 << 28  # bytes of all names: a damaged checkpoint must not take all memory
MOST_INFLATED = 1_032  # times its size is the most that deflate makes of some bytes
MASK = (1 << 64) - 1
HAS_BEGIN, BEGIN_COUNTED = 1, 2
SIZE = struct.Struct("<I")
PLANES = 8  # bytes of a number
RAW = -15  # deflate without header and checksum
LONGEST_SHARED = 255


def pack(streams: Mapping[str, Position]) -> str:
    """The positions as text. Raises OverflowError for a number that has more than 64 bits."""
    names = sorted(streams)
    positions = [streams[name] for name in names]
    begins = [position.begin or Cut(position.id, position.n) for position in positions]
    pairs = list(zip(positions, begins, strict=True))
    cuts = [(cut, begin) for position, begin in pairs for cut in position.cuts]
    columns = [
        [p.id.ms for p in positions],
        [p.id.seq for p in positions],
        [p.n for p in positions],
        [kind_of(p) for p in positions],
        [p.id.ms - b.id.ms & MASK for p, b in pairs],
        [b.id.seq for b in begins],
        [p.n - (p.n if b.n is None else b.n) & MASK for p, b in pairs],
        [len(p.cuts) for p in positions],
        [cut.id.ms - begin.id.ms & MASK for cut, begin in cuts],
        [cut.id.seq for cut, _ in cuts],
        [0 if cut.n is None else cut.n - (begin.n or 0) & MASK for cut, begin in cuts],
        [int(cut.n is not None) for cut, _ in cuts],
    ]
    parts = [SIZE.pack(len(names)), SIZE.pack(len(cuts)), *fronts(names)]
    packed = bytes([VERSION]) + b"".join(parts) + b"".join(map(planes, columns))
    return base64.b85encode(packed).decode()


def unpack(packed: str) -> dict[str, Position]:
    """What ``pack`` wrote. Raises ValueError."""
    source = Source(base64.b85decode(packed))
    if source.byte() != VERSION:
        raise ValueError("the offset is of a newer version of this package")
    count, cuts = source.count(), source.count()
    names = source.names(count)
    ms, seq, n, kinds, begin_ms, begin_seq, entries, sizes = (
        source.numbers(count) for _ in range(8)
    )
    if sum(sizes) != cuts:
        raise ValueError("the cuts of the offset are damaged")
    cut_ms, cut_seq, cut_n, counted = (source.numbers(cuts) for _ in range(4))
    streams, at = {}, 0
    for i, name in enumerate(names):
        begin_id = EntryId(ms[i] - begin_ms[i] & MASK, begin_seq[i])
        begin_n = n[i] - entries[i] & MASK if kinds[i] & BEGIN_COUNTED else None
        ends = range(at, at + sizes[i])
        at += sizes[i]
        streams[name] = Position(
            EntryId(ms[i], seq[i]),
            n[i],
            Cut(begin_id, begin_n) if kinds[i] & HAS_BEGIN else None,
            tuple(
                Cut(
                    EntryId(begin_id.ms + cut_ms[j] & MASK, cut_seq[j]),
                    (begin_n or 0) + cut_n[j] & MASK if counted[j] else None,
                )
                for j in ends
            ),
        )
    return streams


def kind_of(position: Position) -> int:
    """Whether a position says where its batch begins, and at which count."""
    if position.begin is None:
        return BEGIN_COUNTED  # cuts without a beginning count from the position itself
    return HAS_BEGIN | (0 if position.begin.n is None else BEGIN_COUNTED)


def fronts(names: Sequence[str]) -> Iterator[bytes]:
    """The names: how much each shares with the one before, the length of the rest, the rests."""
    shared, rests, before = [], [], b""
    for name in map(key, names):
        common = shared_by(before, name)
        shared.append(common)
        rests.append(name[common:])
        before = name
    yield planes(shared)
    yield planes([len(rest) for rest in rests])
    yield deflated(b"".join(rests))


def shared_by(name: bytes, other: bytes) -> int:
    """How many bytes two names have in common at their beginnings."""
    size = min(len(name), len(other), LONGEST_SHARED)
    return next((at for at in range(size) if name[at] != other[at]), size)


def planes(numbers: Sequence[int]) -> bytes:
    """A column of numbers, byte by byte, without the planes that are zero in all of them."""
    rows = np.array(numbers, np.uint64).astype("<u8").view(np.uint8).reshape(-1, PLANES).T
    used = max((at for at in range(PLANES) if rows[at].any()), default=-1) + 1
    return bytes([used]) + b"".join(deflated(rows[at].tobytes()) for at in range(used))


def deflated(data: bytes) -> bytes:
    """The bytes, compressed, after their length."""
    packer = zlib.compressobj(9, zlib.DEFLATED, RAW)
    packed = packer.compress(data) + packer.flush()
    return SIZE.pack(len(packed)) + packed


class Source:
    """Reads what ``pack`` wrote. All methods raise ValueError if it is damaged."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise ValueError("the offset is cut off")
        self._at += size
        return taken

    def byte(self) -> int:
        """The next byte."""
        return self._take(1)[0]

    def size(self) -> int:
        """The next length."""
        (size,) = SIZE.unpack(self._take(SIZE.size))
        return int(size)

    def count(self) -> int:
        """The next number of streams or cuts; some column has a byte for each.

        Columns of zeros take no bytes, so a number that is damaged would take all memory.
        """
        count = self.size()
        if count > MOST_INFLATED * len(self._data):
            raise ValueError("the offset has fewer streams and cuts than it says")
        return count

    def inflated(self, most: int = LARGEST) -> bytes:
        """The next compressed bytes, at most so many."""
        unpacker = zlib.decompressobj(RAW)
        try:
            found = unpacker.decompress(self._take(self.size()), max(most, 1))  # 0 is no limit
        except zlib.error as problem:
            raise ValueError(str(problem)) from None
        if not unpacker.eof:
            raise ValueError("a column of the offset is cut off, or too long")
        return found

    def numbers(self, count: int) -> list[int]:
        """The next column, of *count* numbers."""
        used = self.byte()
        found = [self.inflated(count) for _ in range(used)]
        if used > PLANES or any(len(plane) != count for plane in found):
            raise ValueError("a column of the offset has another length")
        rows = np.zeros((count if found else 0, PLANES), np.uint8)
        for at, plane in enumerate(found):
            rows[:, at] = np.frombuffer(plane, np.uint8)
        numbers: list[int] = rows.view("<u8").ravel().tolist() if found else [0] * count
        return numbers

    def names(self, count: int) -> list[str]:
        """The names."""
        shared, sizes, rests = self.numbers(count), self.numbers(count), self.inflated()
        names, before, at = [], b"", 0
        for common, size in zip(shared, sizes, strict=True):
            before = before[:common] + rests[at : at + size]
            at += size
            names.append(text(before))
        if at != len(rests):
            raise ValueError("the names of the offset are damaged")
        return names
