"""Of entries with one value of a field, which is the newest: the index of COMPACT.

    entries   1 k=a   2 k=b   3 k=a   4 n=x   5 k=b   6 k=a
    index     a -> 3, b -> 2 when all up to ``upto`` = 4 were walked over; 1 has been replaced

The entries that are new are walked over in batches, each of them backwards. So the first entry of a
value is the newest; all before it go at once, and a node of which nothing is left goes whole. Then
each value is looked up: if the index knows it, the batch has replaced the entry that the index has,
which goes if it is there and has that very value.

What a client deletes, or a trim, stays in the index; when it has more than twice as many values as
there are entries, it is made anew, by a walk over all. Entries that are too new for the caller are
not walked over: they neither go nor replace others.

    PackedTable   value, or its digest (16 bytes) -> id (16 bytes): about 40 bytes for each value
"""

from __future__ import annotations

from operator import itemgetter

from storage import allocation, xxh3
from storage.hash_table.packed_table import PackedTable
from storage.listpack.listpack import Listpack
from storage.stream import stream_id, stream_node
from storage.stream.places import Places
from storage.stream.removal import Removal
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId
from storage.stream.stream_iterator import StreamIterator

_FEW = 1000  # values; an index of no more is not made anew
_SHORT = 16  # bytes of a value that has a digest; a shorter one is its own name
_BATCH = 1024  # entries: half a millisecond at most
_BATCH_BYTES = 262_144  # of entries, but for the last one: defends memory against long values
_OLDER = 250  # bytes of one that may have been replaced, besides its value
_BY_KEY = itemgetter(0)


class Newest:
    """The newest entries by their values of *field*. It is empty at first."""

    __slots__ = (
        "_deleted", "_held", "_looked_to", "_older", "_table", "_used", "_walked_to", "field",
        "upto",
    )  # fmt: skip

    def __init__(self, field: bytes) -> None:
        self.field = field
        self.upto = ZERO  # all entries up to this id have been dealt with
        self._walked_to = ZERO  # all up to this id were walked over
        self._looked_to = ZERO  # there are no others up to this id
        self._table = PackedTable()
        self._used = 0  # bytes of the items in the table
        # Which entries the last batch may have replaced: their rax keys, values, and what has.
        self._older: list[tuple[bytes, bytes, bytes]] = []
        self._held = 0  # bytes of those
        self._deleted = 0  # entries of the stream: when that was noted, and by us since

    def values(self) -> int:
        """How many values it has."""
        return len(self._table)

    def bytes_used(self) -> int:
        """How much memory it takes, about."""
        return self._used + self._held

    def is_behind(self, stream: Stream, end: StreamId) -> bool:
        """Whether remove_some() may find entries of *stream*, up to *end*, that are to go."""
        looked_to = self._looked_to
        return bool(self._older) or (
            stream_id.compare(looked_to, stream.last_id) < 0
            and stream_id.compare(looked_to, end) < 0
        )

    def is_beyond(self, end: StreamId) -> bool:
        """Whether it knows of entries after *end*, which are to stay and to replace none."""
        return stream_id.compare(self._looked_to, end) > 0

    def remove_some(self, stream: Stream, most: int, end: StreamId) -> list[StreamId]:
        """Delete some of the entries of *stream*, up to *end*, that newer ones have replaced.

        is_behind() must be true. Returns the ids. Looks at *most* of the entries that the last
        batch may have replaced, O(log N + E) for each; or else at a new batch, O(1) for each entry
        of its nodes.
        """
        if self._older:
            older = self._older[:most]
            del self._older[:most]
            gone = self._remove_older(stream, older)
            self._deleted += len(gone)
        else:
            if len(self._table) > 2 * stream.length + _FEW:
                self._table.clear()
                self._used = 0
                self.upto = self._walked_to = self._looked_to = ZERO
            gone = self._remove_batch(stream, end)
            self._deleted = stream.entries_added - stream.length
        if not self._older:
            self._held = 0
            self.upto = self._walked_to
        return gone

    def _remove_batch(self, stream: Stream, end: StreamId) -> list[StreamId]:
        """Walk over a new batch, note what it may have replaced; delete what others of it have."""
        start = self._looked_to.next()
        last = _end_of_batch(stream, start, end)
        if stream_id.compare(last, stream.last_id) > 0:
            last = stream.last_id  # entries will be added beyond
        newest: dict[bytes, bytes] = {}
        removal = self._walk(stream, start, last, newest)
        self._note(newest)
        self._looked_to = last
        if stream_id.compare(last, stream.last_id) == 0:
            self._walked_to = last
        return removal.run()

    def _walk(
        self, stream: Stream, start: StreamId, last: StreamId, newest: dict[bytes, bytes]
    ) -> Removal:
        """The removal of those entries from *start* to *last* that others of them have replaced.

        *newest* gets the rax keys of those others, by their values.
        """
        removal = Removal(stream)
        first_key = start.key()
        is_first = True
        place = stream.rax.seek("<=", last.key())
        while place.prev():
            node: Listpack = place.value
            key = place.current_key()
            is_last = key <= first_key
            places = _places_within(node, key, start, last, is_first or is_last)
            name = stream_node.index_of_name(node, self.field)
            for index in range(places.count - 1, -1, -1):
                at = places.at(index)
                if is_first:
                    self._walked_to = stream_node.id_at(node, key, at)
                    is_first = False
                value = stream_node.value_of(node, at, self.field, name)
                if value is None:
                    continue
                entry_id = stream_node.id_at(node, key, at)
                if value in newest:
                    removal.add(key, node, at, entry_id)
                else:
                    newest[value] = entry_id.key()
            if is_last:
                break
        return removal

    def _note(self, newest: dict[bytes, bytes]) -> None:
        """Put the values of a batch in the index; note what they may have replaced."""
        used = allocation.used_bytes()
        for value, key in newest.items():
            name = _name_of(value)
            older = self._table.get(name)
            if older is not None:
                self._older.append((older, value, key))
                self._held += _OLDER + len(value)
            self._table.set(name, key)
        self._older.sort(key=_BY_KEY)  # so that each node is walked over once
        self._used += allocation.used_bytes() - used

    def _remove_older(
        self, stream: Stream, older: list[tuple[bytes, bytes, bytes]]
    ) -> list[StreamId]:
        """Delete those of *older* that are there and have their value; return their ids.

        If what has replaced one has gone meanwhile, it is the newest of its value again.
        """
        removal = Removal(stream)
        may_be_gone = self._deleted != stream.entries_added - stream.length
        entry = stream.finder()
        for key, value, newer in older:
            if may_be_gone and not stream.contains(stream_id.from_key(newer)):
                self._table.set(_name_of(value), key)
                continue
            entry_id = stream_id.from_key(key)
            if entry.find(entry_id) and entry.value_of(self.field) == value:
                node = entry.node
                assert node is not None
                removal.add(entry.key(), node, entry.entry_at, entry_id)
        return removal.run()


def _name_of(value: bytes) -> bytes:
    """What stands for *value* in the index."""
    return value if len(value) < _SHORT else xxh3.digest(value)


def _places_within(
    node: Listpack, key: bytes, start: StreamId, last: StreamId, is_partly: bool
) -> Places:
    """Where the living entries of a node begin; if *is_partly*, of those from *start* to *last*."""
    places = Places(stream_node.alive(node))
    at = stream_node.alive_from(node, stream_node.first_entry(node))
    while at < node.size - 1:
        if is_partly:
            entry_id = stream_node.id_at(node, key, at)
            is_early = stream_id.compare(entry_id, start) < 0
            if not is_early and stream_id.compare(entry_id, last) <= 0:
                places.add(at)
        else:
            places.add(at)
        at = stream_node.alive_from(node, stream_node.entry_after(node, at))
    return places


def _end_of_batch(stream: Stream, start: StreamId, end: StreamId) -> StreamId:
    """Up to which id the batch from *start* goes: as many nodes as fit, at most up to *end*."""
    place = stream.rax.seek("<=", start.key())
    if not place.valid:
        place = stream.rax.seek("^", b"")
    entries = size = 0
    last = ZERO
    while place.next():
        node: Listpack = place.value
        entries += stream_node.entries(node)
        size += node.size
        if entries > _BATCH or size > _BATCH_BYTES:
            if stream_id.compare(last, start) < 0:
                return _end_of_part(stream.range(start, end), end)
            return last
        last = stream_node.last_id(node, place.current_key())
        if stream_id.compare(last, end) >= 0:
            return end
    return end if stream_id.compare(end, stream.last_id) < 0 else stream.last_id


def _end_of_part(entry: StreamIterator, end: StreamId) -> StreamId:
    """As above, of a node that does not fit; *entry* walks from the start to *end*."""
    if not entry.next():
        return end
    node = entry.node
    first_at = entry.entry_at
    left = _BATCH
    while True:
        last = entry.current_id()
        left -= 1
        if left == 0 or entry.entry_at - first_at > _BATCH_BYTES:
            return last
        if not entry.next():
            return end
        if entry.node is not node:
            return last
