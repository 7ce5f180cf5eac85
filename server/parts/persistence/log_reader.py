# cython: boundscheck=False, wraparound=False
r"""Splits an append-only file into its commands, and compares its checksums.

    *3\r\n $3\r\n SET\r\n $1\r\n k\r\n $1\r\n v\r\n      a command
    #S+0000001b...\r\n                                 what the bytes before it are: log_sums.py
    #TS:1700000000\r\n                                 any other comment: skipped

Where there are sums, no command is given before the bytes up to the next sum are known to be right:
survey() looks ahead for it. In what has no sums, as what Redis has written, it looks AHEAD far, and
then takes the bytes as they are.

It is stricter than the parser for clients: an AOF holds nothing but complete multibulk commands.
The bytes are not copied, so a mapped file takes no memory.
"""

from __future__ import annotations

from server.parts.persistence import log_sums
from storage.rdb import raw
from storage.rdb.raw import Buffer

ASTERISK, DOLLAR, HASH, CR, LF = b"*$#\r\n"
MAX_DIGITS = 10
AHEAD = 4 << 20  # bytes without a sum; ours are a megabyte apart, unless a unit is longer
LOOKS_AHEAD = AHEAD  # for modules that are not compiled
LINE, FOLLOWS = log_sums.LINE, log_sums.FOLLOWS
CAPITAL_E, CAPITAL_M, SMALL = b"EM "  # SMALL: the bit in which small letters differ


class Torn(Exception):
    """The bytes end within a command that is valid so far."""


class NoCommand(Exception):
    """The next bytes are neither a command nor the beginning of one."""


class Damaged(Exception):
    """The bytes from *start* to *end* are not what was written."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(f"the checksum of the bytes {start} to {end} is wrong")
        self.start = start
        self.end = end


class LogReader:
    """Reads from *position* on: the offset after the last complete command or comment.

    Without *sums* the checksums are not compared.
    """

    __slots__ = (
        "_at", "_data", "_end", "_is_sure_to", "_view", "position", "summed", "summed_to",
    )  # fmt: skip

    def __init__(self, data: Buffer, start: int = 0, sums: bool = True) -> None:
        self._view = memoryview(data).cast("B")
        self._data = raw.of_view(self._view)
        self._end = len(self._view)
        self._at = start
        self._is_sure_to = start if sums else self._end  # up to here commands may be given
        self.summed = 0  # bytes whose sums were right
        self.summed_to = -1  # the end of the last sum
        self.position = start

    def next(self) -> list[bytes] | None:
        """The next command; None at the end. Raises Torn, NoCommand and Damaged."""
        while self._at < self._end:
            if self._at >= self._is_sure_to:
                self._survey()
            if self._data[self._at] != HASH:
                break
            self._pass_annotation()
            self.position = self._at
        else:
            return None
        count = self._count()
        argv = [self._word() for _ in range(count)]
        self.position = self._at
        return argv

    def resume(self, damage: Damaged) -> bool:
        """Go on after *damage*, where a sum says what follows; False if none does."""
        line = log_sums.sound_line(self._data, damage.end, self._end)
        if line < 0:
            return False
        self._at = line - log_sums.size_at(self._data, line, self._end)
        if self._at < damage.end:
            self._at = line + LINE
        self.position = self.summed_to = self._is_sure_to = self._at
        return True

    # ------------------------------------------------------------------ looking ahead

    def _survey(self) -> None:
        """Find the next sum, and compare it; what is before it may then be given. Raises Damaged.

        1. Units are passed, transactions as a whole, until there is a sum.
        2. Whatever cannot be passed is damage if a sound sum comes after it: a machine that dies
           within a write leaves none. Otherwise the commands before it are still given.
        """
        start = unit = self._at  # unit: where the present one begins
        in_multi = False
        self._is_sure_to = self._end
        try:
            while self._at < self._end and (unit - start < AHEAD or in_multi):
                if log_sums.begins_line(self._data, self._at, self._end):
                    self._compare(start)
                    break
                in_multi = self._pass(in_multi)
                if not in_multi:
                    unit = self._at
            else:
                self._is_sure_to = unit if unit > start else self._end
        except (Torn, NoCommand):
            line = log_sums.sound_line(self._data, start, self._end)
            if line >= 0:
                raise Damaged(start, self._first_right(start, line)) from None
        finally:
            self._at = start

    def _compare(self, start: int) -> None:
        """Compare the sum here with the bytes before it, which were surveyed from *start* on."""
        at = self._at
        if self._end - at < LINE:
            raise Torn
        size = log_sums.size_at(self._data, at, self._end)
        if size < 0:
            raise Damaged(start, at + LINE)
        if self._data[at + 2] == FOLLOWS and at - size != self.summed_to:
            raise Damaged(max(0, min(self.summed_to, start)), at)
        if not log_sums.is_right(self._data, at, size):
            raise Damaged(at - size, at)
        self.summed += size
        self.summed_to = self._is_sure_to = at + LINE

    def _first_right(self, start: int, line: int) -> int:
        """Where damage that begins after *start* ends, if the first sound sum is at *line*."""
        size = log_sums.size_at(self._data, line, self._end)
        if start < line - size and log_sums.is_right(self._data, line, size):
            return line - size
        return line

    def _pass(self, in_multi: bool) -> bool:
        """Pass a command or a comment; whether a transaction is open after it."""
        if self._data[self._at] == HASH:
            self._pass_annotation()
            return in_multi
        count = self._count()
        size = first = 0
        for index in range(count):
            size = self._pass_word()
            if index == 0:
                first = self._data[self._at - size - 2] & ~SMALL
        if count > 1:
            return in_multi
        return (size == 5 and first == CAPITAL_M) or (
            in_multi and not (size == 4 and first == CAPITAL_E)
        )

    def close(self) -> None:
        """Release the bytes: next() returns None from now on."""
        self._view = memoryview(b"")
        self._data = raw.of_view(self._view)
        self._at = self._end = self._is_sure_to = 0

    # ------------------------------------------------------------------ pieces

    def _pass_annotation(self) -> None:
        at = self._at
        while at < self._end and self._data[at] != LF:
            at += 1
        if at == self._end:
            raise Torn
        self._at = at + 1

    def _count(self) -> int:
        """How many words the command has that begins here."""
        count = self._number(ASTERISK)
        if count < 1:
            raise NoCommand
        return count

    def _word(self) -> bytes:
        size = self._pass_word()
        return raw.cut(self._data, self._at - size - 2, size)

    def _pass_word(self) -> int:
        """Pass a word; its size."""
        size = self._number(DOLLAR)
        at = self._at
        if size + 2 > self._end - at:
            raise Torn
        if self._data[at + size] != CR or self._data[at + size + 1] != LF:
            raise NoCommand
        self._at = at + size + 2
        return size

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
