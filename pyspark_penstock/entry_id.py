"""Entry ids: two 64-bit numbers, ``milliseconds-sequence``, and arithmetic on them.

    text      1763000062499-3       in offsets, options and commands
    number    ms << 64 | seq        for interpolation between two ids

A range is half-open, as a consumer's position is: *after* is exclusive, *upto* inclusive. No entry
has the id ``0-0``, so ``after=0-0`` is the start of every stream.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

PART_BITS = 64
LARGEST_PART = (1 << PART_BITS) - 1
ID = re.compile(r"(\d{1,20})(?:-(\d{1,20}))?", re.ASCII)


class EntryId(NamedTuple):
    """An entry id. Ids compare as entries are ordered in a stream."""

    ms: int
    seq: int

    def __str__(self) -> str:
        return f"{self.ms}-{self.seq}"

    @classmethod
    def parse(cls, text: str | bytes, missing_seq: int = 0) -> Self:
        """Parse *text*; an id without a sequence gets *missing_seq*. Raises ValueError."""
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
        """The id with this ``number``."""
        return cls(number >> PART_BITS, number & LARGEST_PART)

    @property
    def number(self) -> int:
        """The id as one 128-bit number."""
        return self.ms << PART_BITS | self.seq

    def previous(self) -> Self:
        """The id just below; for ``0-0`` itself."""
        return self.from_number(max(self.number - 1, 0))

    @classmethod
    def before_time(cls, ms: int) -> Self:
        """The largest id before the time *ms*. Reading after it starts at that millisecond."""
        return cls(ms, 0).previous()


FIRST = EntryId(0, 0)
LAST = EntryId(LARGEST_PART, LARGEST_PART)


def between(after: EntryId, upto: EntryId, parts: int) -> list[EntryId]:
    """At most *parts* - 1 ids that cut (after, upto] into spans of equal time.

    If both ids have the same milliseconds, the sequence is cut instead. The ids ascend and lie
    strictly inside the range.
    """
    low, high = after.number, upto.number
    if upto.ms - after.ms >= parts:
        cuts = (after.ms + (upto.ms - after.ms) * i // parts << PART_BITS for i in range(1, parts))
    else:
        cuts = (low + (high - low) * i // parts for i in range(1, parts))
    return [EntryId.from_number(cut) for cut in sorted(set(cuts)) if low < cut < high]
