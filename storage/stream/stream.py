"""A stream: an append-only log of entries with growing ids, and its consumer groups.

    rax     id key -> node (listpack of entries, see storage/stream/stream_node.py)
    groups  name -> ConsumerGroup
    producers   those that add each entry once, or limits of its own for them (producers.py)
    positions   how many entries lie before an id, once somebody has asked (positions.py)

Entries are only ever added after the last one, so the last node is cached and an append does
not search the rax. A deleted entry stays in its node, marked, until all of the node is gone, or the
node is rewritten in the background since most of it is deleted (storage/stream/sparse.py).

Of the first node is known how many bytes of its entries are before the first living one, so that a
trim by one entry looks at no entry twice:

    _head    [master | deleted | deleted | first_id | ...
                     |--- _skip bytes ---|
"""

from __future__ import annotations

from typing import Final

from storage import allocation, octets
from storage.errors import (
    BelowMaxDeleted,
    GroupExists,
    IdIsZero,
    IdNotGreater,
    IdsExhausted,
    LastIdTooSmall,
    TooFewAdded,
    TooLarge,
)
from storage.listpack.listpack import Listpack
from storage.rax.rax import Rax
from storage.rax.rax_iterator import RaxIterator
from storage.stream import references as all_references
from storage.stream import sparse, stream_id, stream_iterator, stream_node
from storage.stream.consumer_group import UNKNOWN, ConsumerGroup
from storage.stream.places import Places
from storage.stream.positions import Positions
from storage.stream.producers import Limits, Producers
from storage.stream.references import References
from storage.stream.stream_id import MAX, U64_MAX, ZERO, StreamId
from storage.stream.stream_iterator import StreamIterator

MAX_ENTRY_SIZE = 1 << 30  # bytes of all names and values of an entry, but see fits_alone()
_MOST_ROOM = 4096  # bytes that a new node reserves ahead of need, at most
_MOST_BYTES = MAX_ENTRY_SIZE  # the same, and those that follow, as C numbers
_WORD = 10  # bytes that a word has in a node besides its text, at most
_FULL = MAX_ENTRY_SIZE - 64  # bytes: an entry's numbers need the rest, or the node's counts will
_TOP = U64_MAX
_MOST_ADDED = 2**63 - 1  # the count of entries ever added never goes beyond


class StreamConfig:
    """How large a node may get; one object for all streams. 0 means no limit but 1 GiB.

    *producers* has the limits of streams that have none of their own.
    """

    __slots__ = ("node_max_bytes", "node_max_entries", "producers")

    def __init__(self, node_max_bytes: int = 4096, node_max_entries: int = 100) -> None:
        self.node_max_bytes = node_max_bytes
        self.node_max_entries = node_max_entries
        self.producers = Limits()

    def trim_limit(self) -> int:
        """How many entries one trim with ``~`` may delete if the client sets no limit."""
        if self.node_max_entries <= 0:
            return 10_000
        return min(100 * self.node_max_entries, 1_000_000)


DEFAULT_CONFIG = StreamConfig()
OBJECT = 192  # bytes of a stream with its last id, compiled
GROUPS = 224  # bytes of the dictionary of groups
_FEW_GROUPS: Final = all_references.FEW
_NO_GROUPS: Final[dict[bytes, ConsumerGroup]] = {}  # of every stream without; it stays empty


class Stream:
    """A stream. In complexities, N is the number of nodes, E the number of entries in a node."""

    __slots__ = (
        "_bytes",
        "_head",
        "_is_noted",
        "_positions",
        "_skip",
        "_tail",
        "_tail_ms",
        "_tail_seq",
        "entries_added",
        "first_id",
        "groups",
        "last_id",
        "length",
        "max_deleted_id",
        "producers",
        "rax",
    )

    def __init__(self) -> None:
        self.rax = Rax()
        self.length = 0  # entries alive
        self.last_id = ZERO  # the greatest id ever given
        self.first_id = ZERO  # the first entry alive; 0-0 if there is none
        self.max_deleted_id = ZERO  # the greatest id that XDEL has deleted; trimming does not count
        self.entries_added = 0  # ever
        self.groups = _NO_GROUPS  # made with the first group
        self.producers: Producers | None = None
        self._positions: Positions | None = None
        self._head: Listpack | None = None  # the first node, if it is known
        self._skip = 0  # bytes, as drawn above; 0 if the first node is not known
        self._is_noted = False  # whether nodes are to be rewritten
        self._bytes = 0  # of all nodes but _tail: see node_bytes()
        self._tail: Listpack | None = None  # the last node, if it is known
        self._tail_ms = self._tail_seq = 0
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT
        if self._is_noted:
            sparse.forget(id(self))
        if self.groups is not _NO_GROUPS:
            allocation.used -= GROUPS
            for name in self.groups:
                allocation.used -= allocation.of_bytes(name)

    def __len__(self) -> int:
        return self.length

    # ------------------------------------------------------------------ ids

    def is_full(self) -> bool:
        """Whether the last id is the greatest possible one."""
        return self.last_id.ms == _TOP and self.last_id.seq == _TOP

    def next_auto_id(self, now_ms: int) -> StreamId:
        """The id that ``*`` gets: the time, or the next id if clocks went back.

        Raises IdsExhausted.
        """
        if now_ms > self.last_id.ms:
            return stream_id.make_id(now_ms, 0)
        return self.last_id.next()

    def next_seq_id(self, ms: int) -> StreamId:
        """The id that ``ms-*`` gets. Raises IdNotGreater."""
        last = self.last_id
        if ms > last.ms:
            return stream_id.make_id(ms, 0)
        if ms < last.ms or last.seq == _TOP:
            raise IdNotGreater
        return stream_id.make_id(ms, last.seq + 1)

    # ------------------------------------------------------------------ appending

    def append(
        self,
        entry_id: StreamId,
        fields: list[bytes],
        start: int = 0,
        config: StreamConfig = DEFAULT_CONFIG,
    ) -> None:
        """Add the entry ``fields[start:]`` (name, value, ...), of at least one field. O(size).

        Raises IdIsZero, IdsExhausted, IdNotGreater, TooLarge.
        """
        last = self.last_id
        if stream_id.compare(entry_id, last) <= 0:
            raise self._refusal(entry_id)
        size = 0
        for at in range(start, len(fields)):
            word = fields[at]
            size += len(word)
        node = self._node_with_room(size, len(fields) - start, config)
        if node is None:
            if not stream_node.fits_alone(fields, start):
                raise TooLarge
            node = self._new_tail(entry_id, fields, start)
        stream_node.append_entry(
            node,
            octets.id_delta(entry_id.ms, self._tail_ms),
            octets.id_delta(entry_id.seq, self._tail_seq),
            fields,
            start,
        )
        if self._positions is not None:
            self._positions.changed(self._tail_ms, self._tail_seq, 1)
        self.length += 1
        if self.entries_added < _MOST_ADDED:
            self.entries_added += 1
        self.last_id = entry_id
        if self.length == 1:
            self.first_id = entry_id

    def _refusal(self, entry_id: StreamId) -> IdIsZero | IdsExhausted | IdNotGreater:
        """Why *entry_id*, which is not greater than the last, cannot be added."""
        if entry_id == ZERO:
            return IdIsZero()
        return IdsExhausted() if self.is_full() else IdNotGreater()

    def _node_with_room(self, size: int, words: int, config: StreamConfig) -> Listpack | None:
        """The last node if an entry of so many *words*, of *size* bytes, may be added to it."""
        node = self._tail
        if node is None:
            node = self._find_tail()
            if node is None:
                return None
        most = config.node_max_bytes
        if most == 0 or most > _MOST_BYTES:
            most = _MOST_BYTES
        size += node.size
        if size >= most or size + _WORD * words > _FULL:  # only the second counts what is no text
            node.shrink()
            return None
        if config.node_max_entries and stream_node.entries(node) >= config.node_max_entries:
            node.shrink()
            return None
        return node

    def _find_tail(self) -> Listpack | None:
        found = self.rax.last()
        if found is None:
            return None
        key: bytes = found[0]
        self._tail_ms, self._tail_seq = octets.u64_be(key, 0), octets.u64_be(key, 8)
        tail: Listpack = found[1]
        self._tail = tail
        self._bytes -= tail.size
        if self._positions is not None:
            self._positions.tail_found(self._tail_ms, self._tail_seq)
        return tail

    def _new_tail(self, entry_id: StreamId, fields: list[bytes], start: int) -> Listpack:
        """A new last node, whose first entry is going to be *entry_id*.

        The nodes of a stream are alike, so a new one gets as much room as the one before took. If
        it grew step by step, it would leave holes of many sizes in memory.
        """
        filled = self._tail
        node = stream_node.new_node(fields, start)
        if filled is not None:
            self._bytes += filled.size
            node.reserve(min(filled.size, _MOST_ROOM))
            if stream_node.is_sparse(filled):
                self._note(octets.id_key(self._tail_ms, self._tail_seq))
        self.rax.insert(entry_id.key(), node)
        if self._positions is not None:
            self._positions.node_added(entry_id.ms, entry_id.seq)
        self._tail = node
        self._tail_ms, self._tail_seq = entry_id.ms, entry_id.seq
        return node

    # ------------------------------------------------------------------ reading

    def range(
        self, start: StreamId = ZERO, end: StreamId = MAX, reverse: bool = False
    ) -> StreamIterator:
        """A walk over the entries from *start* to *end*, both included. O(log N + E) to start."""
        return stream_iterator.new_iterator(self.rax, start, end, reverse)

    def newer(self, after: StreamId, few: int) -> StreamIterator:
        """A walk over the entries beyond *after*: as range(), but O(few) to start if they are few.

        Those who read what is new ask for these: most often for the last entry only.
        """
        return stream_iterator.new_follower(self.rax, after.next(), few)

    def finder(self) -> StreamIterator:
        """A walk for StreamIterator.find(): single entries, quickly if their ids ascend."""
        return stream_iterator.new_finder(self.rax)

    def contains(self, entry_id: StreamId) -> bool:
        """Whether there is an entry of that id, not deleted. O(log N + E), O(1) once trimmed."""
        if stream_id.compare(entry_id, self.first_id) < 0:
            return False
        return stream_iterator.new_iterator(self.rax, entry_id, entry_id).next()

    def first_entry_id(self) -> StreamId:
        """The id of the first entry alive, looked up; 0-0 if there is none."""
        found = self.rax.first()
        if found is None:
            return ZERO
        key: bytes = found[0]
        node: Listpack = found[1]
        if node is not self._head:
            self._head = node
            self._skip = 0
        first = stream_node.first_entry(node)
        at = stream_node.alive_from(node, first + self._skip)
        if at == node.size - 1:  # none, in a file of others
            entry = stream_iterator.new_iterator(self.rax, ZERO, MAX)
            return entry.current_id() if entry.next() else ZERO
        self._skip = at - first
        return stream_node.id_at(node, key, at)

    def last_entry_id(self) -> StreamId:
        """The id of the last entry alive, which may be less than last_id; 0-0 if there is none."""
        entry = stream_iterator.new_iterator(self.rax, ZERO, MAX, True)
        return entry.current_id() if entry.next() else ZERO

    # ------------------------------------------------------------------ counting

    def node_bytes(self) -> int:
        """How many bytes its nodes have, deleted entries that are still in them included. O(1).

        It is counted when a node is closed, changed by a deletion, or goes: so to add an entry to
        the last node costs nothing.
        """
        return self._bytes if self._tail is None else self._bytes + self._tail.size

    def positions(self) -> Positions:
        """Where the entries are in the order of all. O(1), but O(N) for the first time."""
        if self._positions is None:
            self._positions = Positions(self.rax)
        return self._positions

    def count(self, start: StreamId, end: StreamId) -> int:
        """How many entries lie from *start* to *end*, both included. O(log N + E), see above."""
        if self.length == 0 or stream_id.compare(start, end) > 0:
            return 0
        ends_late = stream_id.compare(end, self.last_id) >= 0
        if ends_late and stream_id.compare(start, self.first_id) <= 0:
            return self.length
        positions = self.positions()
        before = positions.before(start)
        return (self.length if ends_late else positions.before(end.next())) - before

    # ------------------------------------------------------------------ deleting

    def delete(self, entry_id: StreamId) -> bool:
        """Delete one entry. False if there is none of that id. O(log N + E)."""
        return self.delete_all([entry_id]) == 1

    def delete_all(self, entry_ids: list[StreamId]) -> int:
        """Delete entries; return how many there were of those ids. As delete_those()."""
        return len(self.delete_those(entry_ids))

    def delete_those(self, entry_ids: list[StreamId]) -> list[StreamId]:
        """Delete entries; return the ids of those that were there.

        O(log N + E) for each; less if the ids ascend, see StreamIterator.find().
        """
        deleted: list[StreamId] = []
        first_gone = False
        place = self.finder()
        for entry_id in entry_ids:
            gone = self._delete_at(place, entry_id)
            if gone:
                deleted.append(entry_id)
                first_gone = first_gone or gone == 2
        if first_gone:
            self.first_id = self.first_entry_id()
        return deleted

    def delete_one(self, entry_id: StreamId) -> int:
        """Delete one entry: 0 if there is none, 1, or 2 if it was first_id, which is to be set."""
        return self._delete_at(self.finder(), entry_id)

    def _delete_at(self, entry: StreamIterator, entry_id: StreamId) -> int:
        if not entry.find(entry_id):
            return 0
        self.delete_current(entry)
        if stream_id.compare(entry_id, self.max_deleted_id) > 0:
            self.max_deleted_id = entry_id
        return 2 if stream_id.compare(entry_id, self.first_id) == 0 else 1

    def delete_current(self, entry: StreamIterator) -> None:
        """Mark the entry at which *entry* stands as deleted; the walk goes on from there.

        Updates the length only: the caller sets first_id and max_deleted_id.
        """
        node = entry.node
        assert node is not None
        if stream_node.alive(node) == 1:
            self.remove_node(entry.key(), node)
            entry.leave_node()
        else:
            size = node.size
            stream_node.mark_deleted(node, entry.entry_at)
            stream_node.count_deleted(node, 1)
            if self._positions is not None:
                self._positions.changed(entry.ms, entry.seq, -1)
            entry.shifted(node.size - size)
            if node is not self._tail:
                self._bytes += node.size - size
                if stream_node.is_sparse(node):
                    self._note(entry.key())
        self.length -= 1

    def delete_places(self, key: bytes, node: Listpack, places: Places) -> None:
        """Delete the living entries of the node at *key* that begin at *places*. O(1) for each.

        These ascend or descend. Updates the length only, as delete_current(). No walk may stand in
        that node.
        """
        count = places.count
        if count == stream_node.alive(node):
            self.remove_node(key, node)
            self.length -= count
        else:
            size = node.size
            ascends = places.at(0) < places.at(count - 1)
            for index in range(count):  # from the last one: a mark may move what is after it
                at = places.at(count - 1 - index if ascends else index)
                stream_node.mark_deleted(node, at)
            self._count_marked(key, node, count, size)

    def _count_marked(self, key: bytes, node: Listpack, count: int, size: int) -> None:
        """*count* entries of the node at *key*, which had *size* bytes, were marked as deleted."""
        stream_node.count_deleted(node, count)
        if self._positions is not None:
            self._positions.changed(octets.u64_be(key, 0), octets.u64_be(key, 8), -count)
        self.length -= count
        if node is not self._tail:
            self._bytes += node.size - size
            if stream_node.is_sparse(node):
                self._note(key)

    def remove_node(self, key: bytes, node: Listpack) -> None:
        """Take a node out. The caller updates the length."""
        self.rax.remove(key)
        if self._positions is not None:
            ms, seq = octets.u64_be(key, 0), octets.u64_be(key, 8)
            self._positions.changed(ms, seq, -stream_node.alive(node))
        if node is self._tail:
            self._tail = None
        else:
            self._bytes -= node.size
        if node is self._head:
            self._head = None
            self._skip = 0

    # ------------------------------------------------------------------ trimming

    def trim_by_length(self, maxlen: int, approximate: bool = False, limit: int = 0) -> int:
        """Delete the oldest entries until *maxlen* are left; return how many were deleted.

        With *approximate* whole nodes only, and no more than *limit* entries (0: any number).
        """
        if self.length <= maxlen or (approximate and self._head_stays(maxlen)):
            return 0
        deleted = 0
        node = self.rax.seek("^", b"")
        while self.length > maxlen and node.next():
            count = stream_node.alive(node.value)
            if limit and deleted + count > limit:
                break
            if self.length - count >= maxlen:
                self.remove_node(node.current_key(), node.value)
                self.length -= count
                deleted += count
            elif approximate:
                break
            else:
                deleted += self._mark_from_front(node, self.length - maxlen, MAX)
                break
        if deleted:
            self.first_id = self.first_entry_id()
        return deleted

    def trim_by_id(self, minid: StreamId, approximate: bool = False, limit: int = 0) -> int:
        """Delete all entries with ids less than *minid*; otherwise like trim_by_length."""
        if minid == ZERO:
            return 0
        deleted = 0
        node = self.rax.seek("^", b"")
        while node.next():
            count = stream_node.alive(node.value)
            if limit and deleted + count > limit:
                break
            if stream_node.last_id(node.value, node.current_key()) < minid:
                self.remove_node(node.current_key(), node.value)
                self.length -= count
                deleted += count
            elif approximate:
                break
            else:
                deleted += self._mark_from_front(node, count, minid.prev())
                break
        if deleted:
            self.first_id = self.first_entry_id()
        return deleted

    def _head_stays(self, maxlen: int) -> bool:
        """Whether *maxlen* entries need the first node, and so all nodes."""
        if self._head is None:
            found = self.rax.first()
            if found is None:
                return True
            self._head = found[1]
            self._skip = 0
        return self.length - stream_node.alive(self._head) < maxlen

    def _mark_from_front(self, place: RaxIterator, count: int, end: StreamId) -> int:
        """Mark the first *count* entries, up to *end*, as deleted; all are in the first node.

        *place* stands there.
        """
        node: Listpack = place.value
        key = place.current_key()
        if node is not self._head:
            self._head = node
            self._skip = 0
        size = node.size
        first = stream_node.first_entry(node)
        at = stream_node.alive_from(node, first + self._skip)
        deleted = 0
        while (
            deleted < count
            and at < node.size - 1
            and stream_id.compare(stream_node.id_at(node, key, at), end) <= 0
        ):
            stream_node.mark_deleted(node, at)
            at = stream_node.alive_from(node, at)
            deleted += 1
        self._skip = at - first
        self._count_marked(key, node, deleted, size)
        return deleted

    # ------------------------------------------------------------------ sparse nodes

    def is_noted(self) -> bool:
        """Whether there are nodes for compact()."""
        return self._is_noted

    def _note(self, key: bytes) -> None:
        self._is_noted = True
        sparse.note(id(self), key)

    def compact(self, most: int) -> int:
        """Rewrite up to *most* nodes of which the greater half is deleted; return how many.

        No walk over the entries may be under way. O(bytes of the nodes).
        """
        if not self._is_noted:
            return 0
        keys = sparse.take(id(self), most)
        for key in keys:
            node: Listpack | None = self.rax.find(key)
            if node is None or node is self._tail or stream_node.alive(node) == 0:
                continue
            if stream_node.is_sparse(node):
                made = stream_node.compacted(node)
                self._bytes += made.size - node.size
                self.rax.insert(key, made)
                self._head = None
                self._skip = 0
        if not sparse.has_more(id(self)):
            sparse.forget(id(self))
            self._is_noted = False
        return len(keys)

    # ------------------------------------------------------------------ counters, groups

    def set_id(
        self,
        last_id: StreamId,
        entries_added: int | None = None,
        max_deleted_id: StreamId = ZERO,
    ) -> None:
        """Set the counters as XSETID does; 0-0 and None leave a counter as it is.

        Raises BelowMaxDeleted, LastIdTooSmall, TooFewAdded.
        """
        if last_id < self.max_deleted_id:
            raise BelowMaxDeleted
        if self.length:
            if last_id < self.last_entry_id():
                raise LastIdTooSmall
            if entries_added is not None and entries_added < self.length:
                raise TooFewAdded
        if last_id < self.last_id:  # an id that has gone may come again
            for group in self.groups.values():
                group.by_time.look_again()
        self.last_id = last_id
        if entries_added is not None:
            self.entries_added = entries_added
        if max_deleted_id > ZERO:
            self.max_deleted_id = max_deleted_id

    def create_group(
        self, name: bytes, last_id: StreamId, entries_read: int = UNKNOWN
    ) -> ConsumerGroup:
        """A new group that has read everything up to *last_id*. Raises GroupExists."""
        if name in self.groups:
            raise GroupExists
        group = ConsumerGroup(last_id, entries_read)
        self._add_group(name, group)
        return group

    def _add_group(self, name: bytes, group: ConsumerGroup) -> None:
        if self.groups is _NO_GROUPS:
            self.groups = {}
            allocation.used += GROUPS
        references = self._known_references()
        if references is not None:
            group.references = references
            references.least = None
        self.groups[name] = group
        allocation.used += allocation.of_bytes(name)

    def find_group(self, name: bytes) -> ConsumerGroup | None:
        """The group of that name, or None."""
        return self.groups.get(name)

    def delete_group(self, name: bytes) -> bool:
        """Forget a group with its consumers and pending entries. False if there was none."""
        group = self.groups.pop(name, None)
        if group is None:
            return False
        if group.references is not None:
            for key, _ in group.pel:
                group.references.removed(key)
            group.references.group_gone()
        allocation.used -= allocation.of_bytes(name)
        return True

    def _known_references(self) -> References | None:
        """What has been made of references(); all groups have the same."""
        for group in self.groups.values():
            return group.references
        return None

    def references(self) -> References | None:
        """The references of all groups, made if needed, with an index if they are many.

        None if there are no groups. O(1), but O(pending entries) to make an index.
        """
        found = self._known_references()
        if found is None:
            if not self.groups:
                return None
            found = References()
            for group in self.groups.values():
                group.references = found
        if found.ids is None and len(self.groups) > _FEW_GROUPS:
            found.ids = Rax()
            for group in self.groups.values():
                for key, _ in group.pel:
                    found.added(key)
        return found

    def sorted_groups(self) -> list[tuple[bytes, ConsumerGroup]]:
        """All groups with their names, by name, as redis lists them."""
        return [(name, self.groups[name]) for name in sorted(self.groups)]

    # ------------------------------------------------------------------ loading, copying

    def add_node(self, key: bytes, node: Listpack) -> None:
        """Add a node that was made elsewhere and checked. The caller sets the counters."""
        self._bytes = self.node_bytes() + node.size
        self.rax.insert(key, node)
        self._head = self._tail = None
        self._skip = 0
        self._positions = None

    def copy(self) -> Stream:
        """An independent stream equal to this one, with its groups. O(size)."""
        made = Stream()
        for key, node in self.rax:
            made.add_node(key, Listpack.load(node.dump()))
        made.length = self.length
        made.last_id = self.last_id
        made.first_id = self.first_id
        made.max_deleted_id = self.max_deleted_id
        made.entries_added = self.entries_added
        for name, group in self.groups.items():
            made._add_group(name, group.copy())
        if self.producers is not None:
            made.producers = self.producers.copy()
        return made
