"""Retention: streams give up entries by their policies (storage/side_data/stream_policy.py).

A tick of cron begins a round over the streams that have a policy, in slices of SLICE_S:

    1. Names that were not looked at are compared with the patterns of stream-policy.
    2. The stream that has waited longest gives up what is due: whole nodes by age, length and
       bytes, then single entries (XTRIM MINID); what no group needs any more (XDEL); what a newer
       entry has replaced (XDEL).
    3. One that is not done when the slice is over comes again after the others.

While there is something to give up, the next slice follows after a turn of the loop, until a
quarter of the time between two ticks is used up. Else the round goes on at the next tick: streams
that give up nothing take one slice of each tick, however many they are.

What was done is logged, as it is to be done again: a replica, and a log that is replayed, never
give up anything by themselves. While writes are paused, refused, or a script runs, all waits.
"""

from __future__ import annotations

from collections.abc import Callable

from server.commands.streams.groups.group_steps import MOST_IDS
from server.parts.state import ServerState
from storage.keyspace.keyspace import Keyspace
from storage.side_data.stream_policy import StreamPolicy
from storage.stream import retention
from storage.stream.newest import Newest
from storage.stream.retention import FreeEntries
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO, StreamId

SLICE_S = 0.0005
SHARE = 0.25
NODES = 16  # that are dropped between two looks at the clock
ENTRIES = 64  # that are looked at between two looks at the clock; of COMPACT, also some more
ANY = -1
OBJECT = 80  # bytes


class Tended:
    """What is noted of a stream that has a policy: *policy* is what holds for it.

    *own* and *generation* are what that was made of. *newest* is the index of COMPACT; *frees*:
    groups note for us what is acknowledged.
    """

    __slots__ = ("frees", "generation", "newest", "own", "policy")

    def __init__(self) -> None:
        self.own: StreamPolicy | None = None
        self.generation = -1
        self.policy: StreamPolicy | None = None
        self.newest: Newest | None = None
        self.frees = False

    def bytes_used(self) -> int:
        """How much memory that takes, beside the stream and its policy."""
        return OBJECT if self.newest is None else OBJECT + self.newest.bytes_used()


class Retention:
    """Goes over the streams of all databases. *monotonic_s* is the system's clock."""

    def __init__(self, state: ServerState, monotonic_s: Callable[[], float]) -> None:
        self._state = state
        self._databases = state.databases
        self._policies = state.stream_policies
        self._monotonic_s = monotonic_s
        self._left: dict[int, int] = {}  # streams to go over in this round, by database
        self._until_s = 0.0  # by when the slices of this tick are over
        self._end_s = 0.0  # of this slice
        self._has_followed = False
        self.has_worked = False  # in the last slice: something was given up, or looked for

    def begin(self) -> None:
        """A round begins, and with it a tick."""
        self._until_s = self._monotonic_s() + SHARE / self._state.config.hz
        if self._state.restrictions.is_replica:
            self._has_followed = True
        elif self._has_followed:
            self._has_followed = False
            self._policies.look_again()  # at names that the primary's copy has brought
        self._left = {db.index: len(db.tended) for db in self._databases if db.tended}

    @property
    def may_go_on(self) -> bool:
        """Whether entries may go now."""
        state = self._state
        restrictions = state.restrictions
        return (
            not (restrictions.loading or restrictions.stopping or restrictions.is_replica)
            and restrictions.busy is None
            and restrictions.write_refusal is None
            and not state.pausing.active
        )

    @property
    def is_over(self) -> bool:
        """Whether the round is, or this tick has had its share of time."""
        return self.is_done or self._monotonic_s() >= self._until_s

    @property
    def is_done(self) -> bool:
        """Whether all streams have given up what they do at this time."""
        return not self._left and not self._policies.is_looking

    def go_on(self) -> None:
        """Work for a slice of time."""
        self._end_s = self._monotonic_s() + SLICE_S
        self.has_worked = False
        while self._policies.is_looking:
            self.has_worked = True
            self._policies.look()
            if not self._policies.is_looking:  # all have been found
                self._left = {db.index: len(db.tended) for db in self._databases if db.tended}
            if self._is_time_up():
                return
        while self._left:
            index = next(iter(self._left))
            left = self._left.pop(index)
            db = self._databases[index]
            if not db.tended:
                continue
            if not self._tend_next(db):
                self.has_worked = True
                self._left[index] = left  # after the other databases
            elif left > 1:
                self._left[index] = left - 1
            if self._is_time_up():
                return

    def _is_time_up(self) -> bool:
        return self._monotonic_s() >= self._end_s

    def _tend_next(self, db: Keyspace) -> bool:
        """See to the stream that has waited longest. False if there was not enough time."""
        key, noted = next(iter(db.tended.items()))
        stream = db.table.get(key)
        if noted is None:
            noted = db.tended[key] = Tended()
        policy = self._policy(db, key, noted) if isinstance(stream, Stream) else None
        if noted.frees and (policy is None or not policy.acked):
            _stop_noting(stream)
            noted.frees = False
        if policy is None:
            del db.tended[key]
            return True
        if not policy.field:
            noted.newest = None
        db.tended.move_to_end(key)
        if db.peek(key) is None:  # it has expired, and will be removed as a whole
            return True
        return (
            self._trim(db, key, stream, policy)
            and (not policy.acked or self._free(db, key, stream, noted))
            and (not policy.field or self._compact(db, key, stream, policy, noted))
        )

    def _policy(self, db: Keyspace, key: bytes, noted: Tended) -> StreamPolicy | None:
        """What holds for the stream at *key*: made anew if that has changed."""
        own = self._policies.own(db, key)
        if noted.own is not own or noted.generation != self._policies.generation:
            noted.own, noted.generation = own, self._policies.generation
            noted.policy = self._policies.in_force(db, key)
        return noted.policy

    # ------------------------------------------------------------------ age, length, bytes

    def _trim(self, db: Keyspace, key: bytes, stream: Stream, policy: StreamPolicy) -> bool:
        """Have the oldest entries go. False if time was up before all were gone that are due."""
        minid = self._first_that_stays(stream, policy)
        length = policy.length or ANY
        size = policy.size or ANY
        is_short = length == ANY or stream.length <= length
        is_small = size == ANY or stream.node_bytes() <= size
        if not stream.length or (is_short and is_small and minid <= stream.first_id):
            return True
        before, is_done = stream.length, False
        while not is_done:
            is_done = not retention.drop_nodes(stream, NODES, minid, length, size)
            if not is_done and self._is_time_up():
                break
        if is_done:
            stream.trim_by_id(minid)
            if length != ANY:
                stream.trim_by_length(length)
        deleted = before - stream.length
        if deleted:
            minid = stream.first_id if stream.length else MAX
            log = [b"XTRIM", key, b"MINID", b"=", minid.encode()]
            self._changed(db, key, stream, b"xtrim", deleted, [log])
        return is_done

    def _first_that_stays(self, stream: Stream, policy: StreamPolicy) -> StreamId:
        """All entries before this id are to go, by their age or since no group needs them."""
        minid = ZERO
        if policy.age_ms:
            minid = StreamId(max(self._state.events.clock.now_ms - policy.age_ms + 1, 0), 0)
        if policy.acked:
            references = retention.known_references(stream)
            if references is not None:
                minid = max(minid, retention.first_needed(stream, references))
        return minid

    # ------------------------------------------------------------------ acknowledged, replaced

    def _free(self, db: Keyspace, key: bytes, stream: Stream, noted: Tended) -> bool:
        """Have those go that no group needs, between others. False if time was up before."""
        references = retention.known_references(stream)
        if references is None:
            return True
        while not retention.count_some(stream, references, ENTRIES):
            self.has_worked = True
            if self._is_time_up():
                return False
        noted.frees = True
        bound = retention.first_needed(stream, references)
        gone: list[StreamId] = []
        is_done = False
        while not is_done:
            free = FreeEntries(stream, references, bound, ENTRIES)
            gone += stream.delete_those(free.ids)
            is_done = free.is_done
            if not is_done and self._is_time_up():
                break
        self._tell_deleted(db, key, stream, gone)
        return is_done

    def _compact(
        self, db: Keyspace, key: bytes, stream: Stream, policy: StreamPolicy, noted: Tended
    ) -> bool:
        """Have those go that a newer entry has replaced. False if time was up before."""
        newest = noted.newest
        end = self._last_of_age(policy.min_age_ms)
        # MIN-AGE may have grown, and the clock been set back.
        if newest is None or newest.field != policy.field or newest.is_beyond(end):
            newest = noted.newest = Newest(policy.field)
        gone: list[StreamId] = []
        while newest.is_behind(stream, end):
            gone += newest.remove_some(stream, ENTRIES, end)
            if self._is_time_up():
                break
        self._tell_deleted(db, key, stream, gone)
        return not newest.is_behind(stream, end)

    def _last_of_age(self, age_ms: int) -> StreamId:
        """The last id that is *age_ms* old."""
        if not age_ms:
            return MAX
        ms = self._state.events.clock.now_ms - age_ms
        return StreamId(ms, MAX.seq) if ms >= 0 else ZERO

    def _tell_deleted(self, db: Keyspace, key: bytes, stream: Stream, gone: list[StreamId]) -> None:
        """The entries *gone* have been deleted."""
        if not gone:
            return
        log = []
        if self._state.propagation.is_on:  # each id has to be written as text
            texts = [entry_id.encode() for entry_id in gone]
            pages = (texts[at : at + MOST_IDS] for at in range(0, len(texts), MOST_IDS))
            log = [[b"XDEL", key, *page] for page in pages]
        if key in db.side:
            self._state.agenda.entries_gone(db, key, gone)
        self._changed(db, key, stream, b"xdel", len(gone), log)

    def _changed(
        self,
        db: Keyspace,
        key: bytes,
        stream: Stream,
        event: bytes,
        deleted: int,
        log: list[list[bytes]],
    ) -> None:
        self.has_worked = True
        if stream.is_noted():
            self._state.stream_compaction.note(db.index, key)
        for words in log:
            self._state.propagation.add(db.index, words)
        db.changed(key, event, changes=deleted)


def _stop_noting(stream: Stream) -> None:
    """No group has to note what is acknowledged."""
    references = retention.known_references(stream)
    if references is not None:
        references.acked = references.counting = None
