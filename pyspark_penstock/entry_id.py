"""Entry ids: two 64-bit numbers, ``milliseconds-sequence``, and their arithmetic.

    text      1763000062499-3       as in offsets, options and on the wire
    number    ms << 64 | seq        for interpolation between two ids

A range is half-open the way a consumer's position is: *after* (exclusive) and *upto*
(inclusive). ``0-0`` is never an entry's id, so ``after=0-0`` is the start of every stream.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

PART_BITS = 64
LARGEST_PART = (1 << PART_BITS) - 1
ID = re.compile(r"(\d{1,20})(?:-(\d{1,20}))?", re.ASCII)


class EntryId(NamedTuple):
    """An id; ordered as the entries of a stream are."""

    ms: int
    seq: int

    def __str__(self) -> str:
        return f"{self.ms}-{self.seq}"

    @classmethod
    def parse(cls, text: str | bytes, missing_seq: int = 0) -> Self:
        """The id written as *text*; ``ms`` alone gets *missing_seq*. Raises ValueError."""
        if isinstance(text, bytes):
            text = text.decode("ascii", "replace")
        found = ID.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is not an entry id (milliseconds-sequence)")
        ms, seq = int(found[1]), missing_seq if found[2] is None else int(found[2])
        if max(ms, seq) > LARGEST_PART:
            raise ValueError(f"{text!r} is not an entry id: a part is larger than 64 bits")
        return cls(ms, seq)

    @classmethod
    def from_number(cls, number: int) -> Self:
        """The id whose place among all 2^128 ids is *number*."""
        return cls(number >> PART_BITS, number & LARGEST_PART)

    @property
    def number(self) -> int:
        """Its place among all 2^128 ids."""
        return self.ms << PART_BITS | self.seq

    def previous(self) -> Self:
        """The id just below; ``0-0`` stays ``0-0``."""
        return self.from_number(max(self.number - 1, 0))

    @classmethod
    def before_time(cls, ms: int) -> Self:
        """The largest id below the time *ms*: reading after it starts at that millisecond."""
        return cls(ms, 0).previous()


FIRST = EntryId(0, 0)
LAST = EntryId(LARGEST_PART, LARGEST_PART)


def between(after: EntryId, upto: EntryId, parts: int) -> list[EntryId]:
    """At most *parts* - 1 ids that cut (after, upto] into spans of equal time.

    Where both ids are of one millisecond the sequence is cut instead. The ids ascend and lie
    strictly inside.
    """
    low, high = after.number, upto.number
    if upto.ms - after.ms >= parts:
        cuts = (after.ms + (upto.ms - after.ms) * i // parts << PART_BITS for i in range(1, parts))
    else:
        cuts = (low + (high - low) * i // parts for i in range(1, parts))
    return [EntryId.from_number(cut) for cut in sorted(set(cuts)) if low < cut < high]
