"""Deadlines that came in the order of their entries' ids: 24 to 30 bytes each.

    records   deadline  id | deadline  id | 0  id | deadline  id |     ids and deadlines only grow
              gone           ^ first        forgotten            ^ end    and room for more

To add one takes O(1), to find one O(log N). Most streams let all entries live equally long, so most
deadlines come in this order; deadlines.py has a place for the others.
"""

from __future__ import annotations

from storage import allocation, octets
from storage.side_data import deadline_octets
from storage.stream import stream_id
from storage.stream.stream_id import StreamId

NONE = 0  # no deadline: that of an entry which was forgotten
FEW = 64  # records that are not worth being removed
BYTES = deadline_octets.RECORD


class DeadlineRun:
    """Deadlines (unix ms, greater than 0) by ids."""

    __slots__ = ("_counted", "_end", "_first", "_records", "_room", "size")

    def __init__(self) -> None:
        self._records = bytearray()
        self._room = 0  # for how many records there is room
        self._first = 0  # the number of the first record that has a deadline
        self._end = 0  # how many records there are; the last one has a deadline, too
        self._counted = 0  # bytes, by storage/allocation.py
        self.size = 0  # how many have a deadline

    def __del__(self) -> None:
        allocation.used -= self._counted

    def add(self, entry_id: StreamId, deadline_ms: int) -> bool:
        """Add what comes after all that are here, in both orders. False if it does not."""
        records, last = self._records, self._end - 1
        if deadline_ms == NONE:
            return False
        if self.size:
            latest_ms = deadline_octets.deadline_at(records, last)
            if latest_ms > deadline_ms:
                return False
            ms = deadline_octets.ms_at(records, last)
            if ms > entry_id.ms or (
                ms == entry_id.ms and deadline_octets.seq_at(records, last) >= entry_id.seq
            ):
                return False
        if self._end == self._room:
            self._grow()
        deadline_octets.put(self._records, self._end, deadline_ms, entry_id.ms, entry_id.seq)
        self._end += 1
        self.size += 1
        return True

    def _grow(self) -> None:
        """Have room for a quarter more: a bytearray by itself takes an eighth, and copies more."""
        deadline_octets.resize(self._records, self._room + self._room // 4 + 1)
        self._room = (octets.capacity(self._records) - 1) // BYTES
        deadline_octets.resize(self._records, self._room)
        self._count()

    def remove(self, entry_id: StreamId) -> int:
        """Forget the deadline of an entry; return it, or NONE. O(log N) on average."""
        at = self._find(entry_id)
        if at < 0:
            return NONE
        deadline_ms = deadline_octets.deadline_at(self._records, at)
        if deadline_ms != NONE:
            self._forget(at)
        return deadline_ms

    def deadline_of(self, entry_id: StreamId) -> int:
        """The deadline of an entry; NONE if it has none. O(log N)."""
        at = self._find(entry_id)
        return NONE if at < 0 else deadline_octets.deadline_at(self._records, at)

    def forget_first(self) -> None:
        """Forget the first deadline; there must be one. O(1) on average."""
        self._forget(self._first)

    def _forget(self, at: int) -> None:
        deadline_octets.forget(self._records, at)
        self.size -= 1
        self._shorten()

    def first_deadline(self) -> int:
        """The first of all; there must be one."""
        return deadline_octets.deadline_at(self._records, self._first)

    def begins_before(self, entry_id: StreamId) -> bool:
        """Whether that is of an id less than *entry_id*."""
        ms = deadline_octets.ms_at(self._records, self._first)
        return ms < entry_id.ms or (
            ms == entry_id.ms and deadline_octets.seq_at(self._records, self._first) < entry_id.seq
        )

    def pairs(self, until_ms: int, most: int) -> list[tuple[int, StreamId]]:
        """Up to *most* of those up to *until_ms*, the first first: ``(deadline, id)``."""
        found: list[tuple[int, StreamId]] = []
        at = self._first
        while at < self._end and len(found) < most:
            deadline_ms = deadline_octets.deadline_at(self._records, at)
            if deadline_ms > until_ms:
                break
            if deadline_ms != NONE:
                found.append((deadline_ms, self._id_at(at)))
            at += 1
        return found

    def _id_at(self, at: int) -> StreamId:
        return stream_id.make_id(
            deadline_octets.ms_at(self._records, at), deadline_octets.seq_at(self._records, at)
        )

    def _find(self, entry_id: StreamId) -> int:
        """The number of the record with that id; -1: there is none."""
        low, high = self._first, self._end
        while low < high:
            middle = (low + high) // 2
            ms = deadline_octets.ms_at(self._records, middle)
            seq = deadline_octets.seq_at(self._records, middle)
            if ms == entry_id.ms and seq == entry_id.seq:
                return middle
            if ms < entry_id.ms or (ms == entry_id.ms and seq < entry_id.seq):
                low = middle + 1
            else:
                high = middle
        return -1

    def _shorten(self) -> None:
        """Let the first and the last record have deadlines; give back room that is not needed."""
        records = self._records
        if not self.size:
            self._records = bytearray()
            self._first = self._end = self._room = 0
        else:
            while deadline_octets.deadline_at(records, self._first) == NONE:
                self._first += 1
            end = self._end
            while deadline_octets.deadline_at(records, end - 1) == NONE:
                end -= 1
            if end < self._end:
                deadline_octets.resize(records, end)
                self._end = self._room = end
            if self._end > 2 * self.size + FEW:
                self._close_up()
        self._count()

    def _close_up(self) -> None:
        """Keep no record without a deadline. O(N), after as many have gone."""
        old, kept = self._records, bytearray(self.size * BYTES)
        end = 0
        for at in range(self._first, self._end):
            deadline_ms = deadline_octets.deadline_at(old, at)
            if deadline_ms != NONE:
                ms, seq = deadline_octets.ms_at(old, at), deadline_octets.seq_at(old, at)
                deadline_octets.put(kept, end, deadline_ms, ms, seq)
                end += 1
        self._records = kept
        self._first = 0
        self._end = self._room = self.size

    def _count(self) -> None:
        size = octets.capacity(self._records)
        if size != self._counted:
            allocation.used += size - self._counted
            self._counted = size
