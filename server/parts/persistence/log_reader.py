# cython: boundscheck=False, wraparound=False
"""Splits an append-only file into its commands.

    *3\r\n $3\r\n SET\r\n $1\r\n k\r\n $1\r\n v\r\n      a command
    #TS:1700000000\r\n                                   a comment: skipped

It is stricter than the parser for clients: an AOF holds nothing but complete multibulk commands.
The bytes are not copied, so a mapped file takes no memory.
"""

from __future__ import annotations

from storage.rdb import raw
from storage.rdb.raw import Buffer

ASTERISK, DOLLAR, HASH, CR, LF = b"*$#\r\n"
MAX_DIGITS = 10


class Torn(Exception):
    """The bytes end within a command that is valid so far."""


class NoCommand(Exception):
    """The next bytes are neither a command nor the beginning of one."""


class LogReader:
    """Reads from *position* on: the offset after the last complete command or comment."""

    __slots__ = ("_at", "_data", "_end", "_view", "position")

    def __init__(self, data: Buffer, start: int = 0) -> None:
        self._view = memoryview(data).cast("B")
        self._data = raw.of_view(self._view)
        self._end = len(self._view)
        self._at = start
        self.position = start

    def next(self) -> list[bytes] | None:
        """The next command; None at the end. Raises Torn and NoCommand."""
        while self._at < self._end and self._data[self._at] == HASH:
            self._skip_annotation()
        if self._at == self._end:
            return None
        count = self._number(ASTERISK)
        if count < 1:
            raise NoCommand
        argv = [self._word() for _ in range(count)]
        self.position = self._at
        return argv

    def close(self) -> None:
        """Release the bytes: next() returns None from now on."""
        self._view = memoryview(b"")
        self._data = raw.of_view(self._view)
        self._at = self._end = 0

    def _skip_annotation(self) -> None:
        at = self._at
        while at < self._end and self._data[at] != LF:
            at += 1
        if at == self._end:
            raise Torn
        self._at = self.position = at + 1

    def _word(self) -> bytes:
        size = self._number(DOLLAR)
        at = self._at
        if size + 2 > self._end - at:
            raise Torn
        if self._data[at + size] != CR or self._data[at + size + 1] != LF:
            raise NoCommand
        self._at = at + size + 2
        return raw.cut(self._data, at, size)

    def _number(self, mark: int) -> int:
        """A line of *mark* and decimal digits."""
        at = self._at
        if at == self._end:
            raise Torn
        if self._data[at] != mark:
            raise NoCommand
        at += 1
        first = at
        number = 0
        while at < self._end and 48 <= self._data[at] <= 57 and at - first < MAX_DIGITS:
            number = number * 10 + self._data[at] - 48
            at += 1
        if (at < self._end and self._data[at] != CR) or (
            at + 1 < self._end and self._data[at + 1] != LF
        ):
            raise NoCommand
        if at + 2 > self._end:
            raise Torn
        self._at = at + 2
        if at == first:
            raise NoCommand
        return number
