"""Fields of a hash of which some expire: what its two forms have in common.

    storage/hashes/triplets.py       a small hash: one listpack
    storage/hashes/timed_table.py    a big one: a table, and the times beside it

A hash gets such fields when the first of them is given a time, and keeps them then. Nothing is
removed because time passes: fields that are due are there until somebody removes them.
"""

from __future__ import annotations

from collections.abc import Iterator

NO_EXPIRY = -1


class TimedFields:
    """Fields, their values, and when they expire, in unix ms."""

    __slots__ = ()

    encoding = b""  # the answer of OBJECT ENCODING

    def __len__(self) -> int:
        return self.length()

    def length(self) -> int:
        """How many fields there are, those that are due included."""
        raise NotImplementedError

    def get(self, field: bytes) -> bytes | None:
        """The value of *field*, or None."""
        raise NotImplementedError

    def set(self, field: bytes, value: bytes, keeps_time: bool) -> bool:
        """Give *field* that value. True if the field is new.

        It expires no more then, unless it *keeps_time*.
        """
        raise NotImplementedError

    def remove(self, field: bytes) -> bool:
        """Remove *field*. False if there is none."""
        raise NotImplementedError

    def items(self) -> Iterator[tuple[bytes, bytes, int]]:
        """All fields with their values and times. Nothing may change meanwhile."""
        raise NotImplementedError

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """As Hash.scan."""
        raise NotImplementedError

    def copy(self) -> TimedFields:
        """Others that are equal. O(bytes)."""
        raise NotImplementedError

    # ------------------------------------------------------------------ times

    def expiry(self, field: bytes) -> int:
        """When *field* expires, or NO_EXPIRY; that also if there is no such field."""
        raise NotImplementedError

    def expire_at(self, field: bytes, when_ms: int) -> None:
        """Let *field*, which must be there, expire at *when_ms*; with NO_EXPIRY, never."""
        raise NotImplementedError

    def next_expiry(self) -> int:
        """When the first field expires, or NO_EXPIRY."""
        raise NotImplementedError

    def due(self, now_ms: int, most: int) -> list[bytes]:
        """The fields that have expired before *now_ms*, *most* at most, the oldest first."""
        raise NotImplementedError
