"""Of entries with one value of a field, which is the newest: the index of COMPACT.

    entries   1 k=a   2 k=b   3 k=a   4 n=x   5 k=b   6 k=a
    index     a -> 3, b -> 2 when all up to ``upto`` = 4 were walked over; 1 has been replaced

The walk goes on from where it was, some entries at a time. One whose value is known already
replaces the entry that the index has, if that is there and has that very value. What a client
deletes, or a trim, stays in the index; when it has more than twice as many values as there are
entries, it is made anew, by a walk over all.

Entries that are too new for the caller are not walked over: they neither go nor replace others.

    PackedTable   value, or its digest (16 bytes) -> id (16 bytes): about 40 bytes for each value
"""

from __future__ import annotations

from operator import itemgetter

from storage import allocation, xxh3
from storage.hash_table.packed_table import PackedTable
from storage.listpack.listpack import Listpack
from storage.stream import stream_id, stream_iterator
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId
from storage.stream.stream_iterator import StreamIterator

_FEW = 1000  # values; an index of no more is not made anew
_SHORT = 16  # bytes of a value that has a digest; a shorter one is its own name
_MOST_HELD = 65_536  # bytes of values that wait to be compared: defends memory against long ones
_BY_KEY = itemgetter(0)


class Newest:
    """The newest entries by their values of *field*. It is empty at first."""

    __slots__ = ("_looked_to", "_table", "_used", "field", "upto")

    def __init__(self, field: bytes) -> None:
        self.field = field
        self.upto = ZERO  # all entries up to this id were walked over
        self._looked_to = ZERO  # there are no others up to this id
        self._table = PackedTable()
        self._used = 0  # bytes of the items in the table

    def values(self) -> int:
        """How many values it has."""
        return len(self._table)

    def bytes_used(self) -> int:
        """How much memory it takes, about."""
        return self._used

    def is_behind(self, stream: Stream, end: StreamId) -> bool:
        """Whether there may be entries of *stream*, up to *end*, that are new since the walk."""
        looked_to = self._looked_to
        return (
            stream_id.compare(looked_to, stream.last_id) < 0
            and stream_id.compare(looked_to, end) < 0
        )

    def replaced(self, stream: Stream, most: int, end: StreamId) -> list[StreamId]:
        """Walk over *most* more entries of *stream*, up to *end*; return which they have replaced.

        O(log N + E) for each.
        """
        if len(self._table) > 2 * stream.length + _FEW:
            self._table.clear()
            self._used = 0
            self.upto = self._looked_to = ZERO
        used = allocation.used_bytes()
        found: list[StreamId] = []
        candidates: list[tuple[bytes, bytes]] = []
        held = 0
        entry = stream.range(self.upto.next(), end)
        left = most
        while left > 0 and entry.next():
            left -= 1
            value = value_of(entry, self.field)
            self.upto = entry.current_id()
            if value is None:
                continue
            name = value if len(value) < _SHORT else xxh3.digest(value)
            older = self._table.get(name)
            if older is not None:
                candidates.append((older, value))
                held += len(value)
                if held > _MOST_HELD:
                    found += self._still_there(stream, candidates)
                    candidates, held = [], 0
            self._table.set(name, self.upto.key())
        self._looked_to = self.upto
        if left > 0 and stream_id.compare(end, stream.last_id) < 0:
            self._looked_to = end
        elif left > 0:
            self.upto = self._looked_to = stream.last_id
        self._used += allocation.used_bytes() - used
        return found + self._still_there(stream, candidates)

    def _still_there(self, stream: Stream, candidates: list[tuple[bytes, bytes]]) -> list[StreamId]:
        """The ids of those *candidates*, keys with values, that have this very value."""
        found: list[StreamId] = []
        candidates.sort(key=_BY_KEY)  # so that each node is walked over once
        entry = stream_iterator.new_finder(stream.rax)
        for key, value in candidates:
            entry_id = stream_id.from_key(key)
            if entry.find(entry_id) and value_of(entry, self.field) == value:
                found.append(entry_id)
        return found


def value_of(entry: StreamIterator, field: bytes) -> bytes | None:
    """The value of the first *field* of the entry at which *entry* stands; None without one."""
    node: Listpack | None = entry.node
    at = place_of(entry, field)
    return None if node is None or at < 0 else node.get_bytes(at)


def place_of(entry: StreamIterator, field: bytes) -> int:
    """Where that value is in the entry's listpack; -1 without one."""
    node: Listpack | None = entry.node
    if node is None:
        return -1
    name_at = entry.names_at
    at = entry.fields_at
    for _ in range(entry.num_fields):
        if entry.same_fields:
            if node.matches(name_at, field):
                return at
            name_at = node.next(name_at)
        else:
            is_it = node.matches(at, field)
            at = node.next(at)
            if is_it:
                return at
        at = node.next(at)
    return -1
