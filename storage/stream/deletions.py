"""Deleting entries with regard to the groups that refer to them: XDELEX, XACKDEL, ACKED, DELREF.

    KEEPREF   the entry goes; groups in which it is pending keep its id, as with XDEL
    DELREF    the entry goes, and it is no longer pending in any group
    ACKED     the entry goes only if no group refers to it: all have been given it, and none has it
              pending

Without groups nothing refers to an entry. storage/stream/references.py says how it is found out.
"""

from __future__ import annotations

from storage.listpack.listpack import Listpack
from storage.stream import stream_id, stream_node
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.references import References
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO, StreamId

KEEPREF = 0
DELREF = 1
ACKED = 2

# What became of an id.
MISSING = -1
DELETED = 1
REFERENCED = 2

_KEEPREF, _DELREF, _ACKED = KEEPREF, DELREF, ACKED  # the same as C numbers
_MISSING, _DELETED, _REFERENCED = MISSING, DELETED, REFERENCED

# With a limit below this, a trim with ACKED counts all nodes, also those that cannot lose an entry.
MANY_ENTRIES = 10_000


class Done:
    """What a log has to say: the ids that were deleted, and those that were acknowledged.

    Of a trim, *deleted* has those that are greater than an entry which was left.
    """

    __slots__ = ("acked", "deleted", "greatest")

    def __init__(self) -> None:
        self.acked: dict[bytes, list[bytes]] = {}  # by the group's name
        self.deleted: list[bytes] = []
        self.greatest = ZERO  # of what is deleted

    def note_deleted(self, entry_id: StreamId) -> None:
        """An entry is gone."""
        self.deleted.append(entry_id.encode())
        if stream_id.compare(entry_id, self.greatest) > 0:
            self.greatest = entry_id

    def forget_deleted(self, text: bytes) -> bool:
        """Forget the entry of that id, if it is the last that was deleted; whether it is."""
        is_last = bool(self.deleted) and self.deleted[-1] == text
        if is_last:
            self.deleted.pop()
        return is_last

    def note_acked(self, name: bytes, entry_id: StreamId) -> None:
        """An entry is no longer pending in the group *name*."""
        self.acked.setdefault(name, []).append(entry_id.encode())


class Deletion:
    """Deletes entries of *stream* by their ids, as *policy* says. ``end`` must follow.

    All that is done is noted in *done*, if that is given.
    """

    __slots__ = (
        "_done", "_first_gone", "_references", "acked", "deleted", "dropped", "policy", "stream",
    )  # fmt: skip

    def __init__(self, stream: Stream, policy: int, done: Done | None = None) -> None:
        self.stream = stream
        self._done = done
        self.policy = policy
        self._references = None if policy == _KEEPREF else stream.references()
        self._first_gone = False
        self.deleted = 0  # entries
        self.dropped = 0  # references, in whatever groups
        self.acked = 0  # entries that were pending in the group of ack()

    def delete(self, entry_id: StreamId) -> int:
        """Delete an entry: DELETED, MISSING or REFERENCED. O(log N + E), or see is_referenced."""
        references = self._references
        if references is not None:
            if self.policy == _ACKED:
                if is_referenced(self.stream, references, entry_id):
                    return _REFERENCED
            else:
                self.dropped += drop_references(self.stream, references, entry_id, self._done)
        gone = self.stream.delete_one(entry_id)
        if not gone:
            return _MISSING
        self.deleted += 1
        if self._done is not None:
            self._done.note_deleted(entry_id)
        self._first_gone = self._first_gone or gone == 2
        return _DELETED

    def ack(self, name: bytes, group: ConsumerGroup, entry_id: StreamId) -> int:
        """Acknowledge an entry, then delete it: DELETED, REFERENCED, or MISSING if not pending.

        It is DELETED, too, if there was no such entry any more. *name* is the group's.
        """
        if not group.ack(entry_id):
            return _MISSING
        self.acked += 1
        if self._done is not None:
            self._done.note_acked(name, entry_id)
        return _REFERENCED if self.delete(entry_id) == _REFERENCED else _DELETED

    def end(self) -> None:
        """All has been deleted."""
        if self._first_gone:
            self.stream.first_id = self.stream.first_entry_id()


def is_referenced(stream: Stream, references: References, entry_id: StreamId) -> bool:
    """Whether a group of *stream* has yet to be given an entry, or has it pending.

    O(log N), if few groups for each of them; and O(groups) if the one that was the furthest behind
    has moved since.
    """
    if stream_id.compare(entry_id, least(stream, references)) > 0:
        return True
    key = entry_id.key()
    if references.ids is not None:
        return references.count(key) > 0
    for group in stream.groups.values():  # noqa: SIM110 - any() would make a generator
        if group.pel.find(key) is not None:
            return True
    return False


def least(stream: Stream, references: References) -> StreamId:
    """The smallest last_id of all groups; there must be one."""
    found = references.least
    if found is None:
        found = MAX
        for group in stream.groups.values():
            if stream_id.compare(group.last_id, found) < 0:
                found = group.last_id
        references.least = found
    return found


def drop_references(
    stream: Stream, references: References, entry_id: StreamId, done: Done | None
) -> int:
    """Let an entry be pending in no group; return in how many it was. Each is noted in *done*.

    O(log N) if it was in none, and at most for each group.
    """
    dropped = 0
    most = len(stream.groups)
    if references.ids is not None:
        most = references.count(entry_id.key())
    if most:
        for name, group in stream.groups.items():
            if group.ack(entry_id):
                dropped += 1
                if done is not None:
                    done.note_acked(name, entry_id)
                if dropped == most:
                    break
    return dropped


def any_pending(stream: Stream, references: References, first: bytes, last: bytes) -> bool:
    """Whether an entry from key to key, both included, is pending in a group."""
    if references.ids is not None:
        place = references.ids.seek(">=", first)
        return place.next() and place.current_key() <= last
    for group in stream.groups.values():
        place = group.pel.seek(">=", first)
        if place.next() and place.current_key() <= last:
            return True
    return False


class ReferencedTrim:
    """Trims *stream* as *policy* says, which is DELREF or ACKED.

    Of the oldest entries, as many are deleted as the policy allows until *maxlen* are left and all
    are looked at that are less than *minid* (-1 and the greatest id mean no such bound). A *limit*
    (0: none) ends the trim before the node with which more would be deleted if all of it went.
    Noted in *done* are the references that DELREF drops, and what ACKED deletes beyond an entry
    that it keeps.
    """

    __slots__ = (
        "_deleted", "_done", "_references", "keeps", "limit", "maxlen", "minid", "policy",
        "stream", "upto",
    )  # fmt: skip

    def __init__(
        self,
        stream: Stream,
        policy: int,
        maxlen: int,
        minid: StreamId,
        limit: int,
        done: Done | None = None,
    ) -> None:
        self.stream = stream
        self._done = done
        self.policy = policy
        self.maxlen = max(maxlen, 0)
        self.minid = minid
        self.limit = limit
        self._references = stream.references()
        self._deleted = 0
        self.keeps = False  # an entry that was looked at is left
        self.upto = minid  # all that is less was looked at

    def run(self) -> int:
        """Trim; return how many entries were deleted.

        O(entries looked at). Nodes to whose entries no group refers are dropped whole, and those
        which an earlier trim with ACKED found to be kept are not looked at again.
        """
        stream, references = self.stream, self._references
        is_acked = references is not None and self.policy == _ACKED
        start = b""
        if references is not None and is_acked and not 0 < self.limit < MANY_ENTRIES:
            start = references.kept_below.key()
            self.keeps = stream.length > 0 and (
                stream_id.compare(stream.first_id, references.kept_below) < 0
            )
        place = stream.rax.seek("<=", start) if start else stream.rax.seek("^", b"")
        if not place.valid:
            place = stream.rax.seek("^", b"")
        while place.next():
            node: Listpack = place.value
            if not self._trim_node(place.current_key(), node):
                break
        if references is not None and is_acked:
            looked_at = self.upto
            if stream_id.compare(looked_at, stream.last_id) > 0:
                looked_at = stream.last_id  # entries will be added beyond
            if stream_id.compare(looked_at, references.kept_below) > 0:
                references.kept_below = looked_at
        if self._deleted:
            stream.first_id = stream.first_entry_id()
        return self._deleted

    def _trim_node(self, key: bytes, node: Listpack) -> bool:
        """Delete what may be of one node. False if that was the last node to look at."""
        stream, references = self.stream, self._references
        first = stream_id.from_key(key)
        count = stream_node.alive(node)
        is_past = (
            stream.length <= self.maxlen
            or (self.limit and self._deleted + count > self.limit)
            or stream_id.compare(first, self.minid) >= 0
        )
        if is_past:
            self.upto = first
            return False
        last = stream_node.last_id(node, key)
        if stream.length - count >= self.maxlen and stream_id.compare(last, self.minid) < 0:
            is_free = references is None or not any_pending(stream, references, key, last.key())
            if is_free and references is not None and self.policy == _ACKED:
                is_free = stream_id.compare(last, least(stream, references)) <= 0
            if is_free:
                if self.keeps and self._done is not None:
                    self._note_all(first, last)
                stream.remove_node(key, node)
                stream.length -= count
                self._deleted += count
                return True
        return self._trim_entries(first, last)

    def _note_all(self, first: StreamId, last: StreamId) -> None:
        """All entries from *first* to *last* are going to be deleted."""
        entry = self.stream.range(first, last)
        while entry.next() and self._done is not None:
            self._done.note_deleted(entry.current_id())

    def _trim_entries(self, first: StreamId, last: StreamId) -> bool:
        """Delete what may be from *first* to *last*. False if the trim is over."""
        stream, references = self.stream, self._references
        entry = stream.range(first, last)
        while entry.next():
            entry_id = entry.current_id()
            is_past = stream.length <= self.maxlen or stream_id.compare(entry_id, self.minid) >= 0
            if references is not None and self.policy == _ACKED and not is_past:
                is_past = stream_id.compare(entry_id, least(stream, references)) > 0
                if not is_past and is_referenced(stream, references, entry_id):
                    self.keeps = True
                    continue
            if is_past:
                self.upto = entry_id
                return False
            if references is not None and self.policy == _DELREF:
                drop_references(stream, references, entry_id, self._done)
            if self.keeps and self._done is not None:
                self._done.note_deleted(entry_id)
            stream.delete_current(entry)
            self._deleted += 1
        return True
