"""The reply of XREADGROUP: writes entries, and records that they are delivered."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.streams import stream_reply
from server.commands.streams.stream_reply import EntryWriter
from server.table.command import NO_CLAIM
from storage import octets
from storage.side_data.group_policy import GroupPolicy
from storage.stream import group_lag, lanes, stream_id
from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.entry_filter import EntryFilter
from storage.stream.group_order import GroupOrder
from storage.stream.lane import Lane
from storage.stream.pending import NOBODY, PARKED, Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, StreamId
from storage.stream.stream_iterator import StreamIterator

_NO_CLAIM = NO_CLAIM  # as a C number
NO_LIMIT = 2**62  # entries
FEW_UNREAD = 8  # entries of a node that are sought from its end
_PARKED, _NOBODY = PARKED, NOBODY  # as C numbers
RELEASED_ONLY = 2**62  # as min_idle: nothing is idle for so long, but what was released is given
MOST_DEAD = 200  # entries that a reader finds dead: they are moved, and nobody waits for long
MOST_CLAIMS = 10_000  # pending entries that one call looks at for those that WHERE names
CLAIMS_AGAIN_MS = 1000  # at the earliest, if none of them is one
MOST_PARKED = 100_000  # entries of a group: one slow value must not fill the memory
MOST_PARKED_AT_ONCE = 1000  # in one call, so that nobody waits for long
NO_ENTRIES: list[Pending] = []
NO_IDS: list[StreamId] = []
NEW = MAX  # stands for the ID ``>``: no pending entry has a greater ID


class Delivery:
    """What one XREADGROUP gives a consumer from one stream: entries with IDs beyond *after*.

    With CLAIM, those come first that others were given *min_idle* ms ago or before.
    """

    __slots__ = (
        "after", "claimed", "dead", "dead_stay", "deadline", "fence", "given", "gone", "group",
        "has_passed", "ids_only", "is_cut", "is_more", "key", "min_idle", "most_of_value", "order",
        "parked", "policy", "reads_on", "room", "stream", "tells_deadline", "tells_deliveries",
        "tells_fence", "turn_ms", "was_set_back", "where",
    )  # fmt: skip

    key: bytes
    stream: Stream
    group: ConsumerGroup
    after: StreamId
    given: list[StreamId]  # the ids of the new entries that were written
    claimed: list[Pending]  # the entries that were claimed and written
    policy: GroupPolicy | None  # what the group does by itself
    min_idle: int  # ms; what was given so long ago is claimed, unless it is NO_CLAIM
    tells_deliveries: bool  # whether the reply says how long ago, and how often
    tells_deadline: bool  # whether the reply says until when the consumer has an entry
    tells_fence: bool  # whether the reply says the number of the turn of the active consumer
    deadline: int  # until when the consumer has what it is given; 0: for ever
    fence: int  # the number of its turn; 0: none
    turn_ms: int  # after how long the consumer may be active; 0: it is, or all are; -1: not by time
    room: int  # how many new entries may be given, by the policy
    dead: list[Pending]  # what was delivered too often to be claimed; MOST_DEAD at most
    dead_stay: bool  # nothing takes them now: what is due after them is given all the same
    order: GroupOrder | None  # the lanes of a group with ORDERBY
    reads_on: bool  # whether as much was parked as one call may
    most_of_value: int  # how many entries with one value a consumer may have; 0: no matter
    was_set_back: bool  # whether entries that the group has not read may be pending
    parked: list[Pending]  # new entries that wait for their lanes; MOST_PARKED_AT_ONCE at most
    gone: list[StreamId]  # pending entries that were not in the stream: they are acknowledged
    ids_only: bool  # whether the reply has no fields
    where: EntryFilter | None  # which entries are wanted; None: all
    has_passed: bool  # whether the group has moved beyond entries that are not wanted
    is_more: bool  # whether more is due than was looked at
    is_cut: bool  # whether the size of the reply has left no room for an entry

    def claim(self, min_idle: int) -> None:
        """Give what others were given *min_idle* ms ago, too; say how long ago, and how often."""
        self.min_idle = min_idle
        self.tells_deliveries = True

    def follow(self, policy: GroupPolicy) -> None:
        """Give what *policy* makes anyone's, too; but nothing that is dead."""
        self.policy = policy
        self.dead = []
        if self.min_idle == _NO_CLAIM and policy.visibility_ms:
            self.min_idle = policy.visibility_ms
        elif self.min_idle == _NO_CLAIM and policy.gives_released():
            self.min_idle = RELEASED_ONLY

    def follow_order(self, order: GroupOrder) -> None:
        """Give entries with one value to one consumer at a time, in their order."""
        self.order = order
        self.parked = NO_ENTRIES
        self.gone = NO_IDS
        order.turn += 1
        self.most_of_value = 0 if self.policy is None else self.policy.max_pending_of_value
        if order.was_set_back:
            last = self.group.pel.last()
            order.was_set_back = last is not None and last[0] > self.group.last_id.key()
        self.was_set_back = order.was_set_back

    def is_any_due(self, now_ms: int) -> bool:
        """Whether an entry is held no longer, or was not acknowledged in time."""
        group = self.group
        held, owned = group.by_time.first_held(), group.by_time.first_owned()
        if held is not None and held.delivery_time <= now_ms:
            return True
        return owned is not None and group.is_idle(owned, self.min_idle, now_ms)

    def has_due(self, now_ms: int) -> bool:
        """As is_any_due(), or one was released: only such entries can be dead."""
        first = self.group.by_time.first_left()
        if first is not None and self.group.is_idle(first, self.min_idle, now_ms):
            return True
        return self.is_any_due(now_ms)

    def has_ready(self) -> bool:
        """Whether entries of a lane may be given."""
        return self.order is not None and self.order.ready.size > 0

    def awaits_backoff(self) -> bool:
        """Whether what was not acknowledged in time is held for a while before it is given."""
        policy = self.policy
        if policy is None or self.tells_deliveries:
            return False
        return policy.visibility_ms > 0 and bool(policy.backoff_ms)

    def is_to_wait(self, pending: Pending, now_ms: int) -> bool:
        """Whether *pending*, which was not acknowledged in time, is to be held for a while."""
        policy = self.policy
        assert policy is not None
        if pending.consumer_index == _NOBODY:
            return False
        wait_ms = policy.wait_ms(pendings.count_of(pending))
        return wait_ms > 0 and pending.delivery_time + policy.visibility_ms + wait_ms > now_ms

    def tell(self, deadline: bool, fence: bool) -> None:
        """Say until when the consumer has each entry; and the number of its turn."""
        self.tells_deadline = deadline
        self.tells_fence = fence

    def _limit(self, policy: GroupPolicy, consumer: Consumer) -> None:
        """Give *consumer* only as many new entries as *policy* has room for; the dead take none."""
        dead_of_consumer = 0
        for pending in self.dead:
            if pending.consumer_index == consumer.index:
                dead_of_consumer += 1
        pending_of_all = len(self.group.pel) - len(self.dead)
        if self.order is not None:
            pending_of_all -= self.order.waiting
        self.room = policy.room(pending_of_all, len(consumer.pel) - dead_of_consumer)

    def is_of_new(self) -> bool:
        """Whether it gives entries that the group has not read yet."""
        return stream_id.compare(self.after, NEW) == 0

    def find_new(self) -> StreamIterator | None:
        """A walk that stands at the first entry which the group has not read yet, or None."""
        stream, last_id = self.stream, self.group.last_id
        if stream.length == 0 or stream_id.compare(stream.last_id, last_id) <= 0:
            return None
        read = self.group.entries_read  # -1: not known
        unread = 0 if read < 0 else stream.entries_added - read
        entry = stream.newer(last_id, unread if 0 < unread <= FEW_UNREAD else 0)
        return entry if entry.next() else None

    def find_idle(self, min_idle: int, now_ms: int) -> Pending | None:
        """The entry delivered longest ago, if that is *min_idle* ms; one that is in the stream.

        By a policy also one that is not, as it leaves the group; else these are passed, once for
        all calls.
        """
        by_time = self.group.by_time
        pending = by_time.first_left()
        if self.where is not None:
            pending = self._first_wanted(self.where, pending, min_idle, now_ms)
        while pending is not None and self.group.is_idle(pending, min_idle, now_ms):
            if self.policy is not None or self.stream.contains(pendings.id_of(pending)):
                return pending
            by_time.is_gone(pending)
            pending = pendings.newer_of(pending)
        return None

    def ms_to_idle(self, min_idle: int, now_ms: int) -> int:
        """After how many ms find_idle() finds the first one; 0 if there is nothing to be found.

        Of many that help nobody, the MOST_CLAIMS that were delivered longest ago are looked at.
        """
        by_time = self.group.by_time
        pending = None if min_idle == RELEASED_ONLY else by_time.first_left()
        if self.where is not None and pending is not None:
            return self._ms_to_wanted(self.where, min_idle, now_ms)
        for _ in range(MOST_CLAIMS):
            if pending is None:
                return 0
            left = min_idle - octets.since(pending.delivery_time, now_ms)
            # By a policy, what is due and was not given is dead and cannot be moved: no time helps.
            is_stuck = self.policy is not None and left <= 0
            is_there: bool = self.policy is not None or self.stream.contains(
                pendings.id_of(pending)
            )
            if not is_stuck and is_there:
                return max(1, left)
            if not is_there:
                by_time.is_gone(pending)
            pending = pendings.newer_of(pending)
        return CLAIMS_AGAIN_MS

    def ms_to_held(self, now_ms: int) -> int:
        """After how many ms the first entry that is held may be given; 0 if none is held."""
        held = self.group.by_time.first_held()
        if held is None:
            return 0
        return max(1, held.delivery_time - now_ms)

    def _first_wanted(
        self, where: EntryFilter, start: Pending | None, min_idle: int, now_ms: int
    ) -> Pending | None:
        """The first of the idle entries from *start* on that *where* names, or that is dead.

        Of many, the MOST_CLAIMS that were delivered longest ago are looked at.
        """
        pending = start
        for _ in range(MOST_CLAIMS):
            if pending is None or not self.group.is_idle(pending, min_idle, now_ms):
                return None
            if self._leaves(pending) or self._is_wanted(where, pending):
                return pending
            pending = pendings.newer_of(pending)
        return None

    def _is_dead(self, pending: Pending) -> bool:
        """Whether it is moved to the dead letters when it is due, by any reader."""
        return self.policy is not None and self.policy.is_dead(pendings.count_of(pending))

    def _leaves(self, pending: Pending) -> bool:
        """Whether it leaves the group when it is due: it is dead, or not in the stream any more."""
        if self.policy is None:
            return False
        return self._is_dead(pending) or not self.stream.contains(pendings.id_of(pending))

    def _is_wanted(self, where: EntryFilter, pending: Pending) -> bool:
        """Whether it is in the stream, and *where* names it."""
        entry_id = pendings.id_of(pending)
        entry = self.stream.range(entry_id, entry_id)
        return entry.next() and where.matches(entry)

    def _ms_to_wanted(self, where: EntryFilter, min_idle: int, now_ms: int) -> int:
        """As ms_to_idle(), for the first that *where* names, of those that are looked at."""
        pending = self.group.by_time.first_left()
        for _ in range(MOST_CLAIMS):
            if pending is None:
                return 0
            left = min_idle - octets.since(pending.delivery_time, now_ms)
            is_stuck = self.policy is not None and left <= 0
            if not is_stuck and (self._leaves(pending) or self._is_wanted(where, pending)):
                return max(1, left)
            pending = pendings.newer_of(pending)
        return max(min_idle, CLAIMS_AGAIN_MS)

    def write_new(
        self,
        out: Encoder,
        entry: StreamIterator | None,
        consumer: Consumer,
        count: int,
        pends: bool,
        now_ms: int,
        end: int,
        is_first: bool,
        min_idle: int = NO_CLAIM,
    ) -> int:
        """Write the entry at which *entry* stands and those after it, *count* at most (0: all).

        They become the consumer's pending entries if *pends*. Before them are those to be claimed,
        unless *min_idle* is NO_CLAIM; they become the consumer's in any case. *out* is not made
        larger than *end* bytes; but if *is_first*, one entry is written in any case. Returns how
        many were written.
        """
        stream, group, given = self.stream, self.group, self.given
        writer = self._new_writer(out, now_ms)
        mark = out.open_array()
        if min_idle != _NO_CLAIM:
            self._write_idle(out, writer, consumer, count, now_ms, end, is_first, min_idle)
        if self.policy is not None and pends and self.policy.limits_pending():
            self._limit(self.policy, consumer)
        order = self.order
        if order is not None and order.ready.size:
            self._write_lanes(order, out, writer, consumer, count, now_ms, end, is_first)
        written = len(self.claimed)
        where = self.where
        if where is not None:
            entry = stream.range(group.last_id.next())  # it stands before the first one
        while (
            entry is not None
            and not self.is_cut
            and (written == 0 or written != count)
            and len(given) < self.room
        ):
            if where is not None and not self._find_wanted(where, entry):
                break
            lane = 0
            if order is not None:
                lane = lanes.lane_of(entry, order.field)
                if (  # most often its lane is free
                    self.was_set_back or order.lanes.has(lane)
                ) and not self._is_its_turn(order, entry, lane):
                    is_over = self.reads_on or order.waiting >= MOST_PARKED
                    if is_over or (where is None and not entry.next()):
                        break
                    continue
            size = out.size()
            writer.write(entry)
            if self.tells_deliveries:
                out.integer(0)
                out.integer(0)
            if self.tells_deadline:
                _write_number(out, self.deadline if pends else 0)
            if self.tells_fence:
                _write_number(out, self.fence)
            if out.size() > end and (written or not is_first):
                out.truncate(size)
                self.is_cut = True
                break
            entry_id = entry.current_id()
            group_lag.move_on(stream, group, entry_id)
            if pends:
                group.deliver(entry_id, consumer, now_ms, lane)
            given.append(entry_id)
            written += 1
            if where is None and not entry.next():
                break
        out.close_array(mark, written)
        if self.claimed or (pends and given):
            consumer.active_time = now_ms
        return written

    def _new_writer(self, out: Encoder, now_ms: int) -> EntryWriter:
        """What writes the entries, and what there is to tell with each."""
        writer = stream_reply.new_writer(out, self.ids_only)
        if self.tells_fence and self.policy is not None:
            self.fence = self.policy.fence
        if self.tells_deadline and self.policy is not None and self.policy.visibility_ms:
            self.deadline = now_ms + self.policy.visibility_ms
        if self.tells_deliveries or self.tells_deadline or self.tells_fence:
            elements = 2 - self.ids_only + 2 * self.tells_deliveries
            elements += self.tells_deadline + self.tells_fence
            writer.head = b"*%d\r\n" % elements
        return writer

    def _is_its_turn(self, order: GroupOrder, entry: StreamIterator, lane: int) -> bool:
        """Whether the new entry at which *entry* stands may be given now.

        If not, it is parked, and the group passes it; unless as much is parked as may be. One that
        is pending (the group was set back) is passed, too.
        """
        is_free = lane == 0 or order.may_give(lane, self.most_of_value)
        if is_free and not self.was_set_back:
            return True
        entry_id = entry.current_id()
        if not self.was_set_back or self.group.pel.find(entry_id.key()) is None:
            if is_free:
                return True
            if order.waiting >= MOST_PARKED:
                return False
            if len(self.parked) == MOST_PARKED_AT_ONCE:
                self.reads_on = True
                return False
            if self.parked is NO_ENTRIES:
                self.parked = []
            self.parked.append(self.group.park(entry_id, lane))
        group_lag.move_on(self.stream, self.group, entry_id)
        self.has_passed = True
        return False

    def _write_lanes(
        self,
        order: GroupOrder,
        out: Encoder,
        writer: EntryWriter,
        consumer: Consumer,
        count: int,
        now_ms: int,
        end: int,
        is_first: bool,
    ) -> None:
        """Claim and write the entries of lanes that are ready, as _write_idle() does.

        Lanes come in the order in which they became ready; MOST_CLAIMS of them are looked at.
        """
        passed: list[Lane] = []
        for _ in range(MOST_CLAIMS):
            if order.ready.size == 0 or self.is_cut or (count and len(self.claimed) >= count):
                break
            lane = order.first_ready()
            written = len(self.claimed)
            order.pass_over(lane)
            self._write_lane(order, lane, out, writer, consumer, count, now_ms, end, is_first)
            if len(self.claimed) == written:
                passed.append(lane)
        for lane in passed:
            order.look_again(lane)

    def _write_lane(
        self,
        order: GroupOrder,
        lane: Lane,
        out: Encoder,
        writer: EntryWriter,
        consumer: Consumer,
        count: int,
        now_ms: int,
        end: int,
        is_first: bool,
    ) -> None:
        """Claim and write the first entries of a lane: up to one that is held, or is not wanted.

        Those that have gone are acknowledged. The dead at its head are noted, and nothing is given
        before they have moved.
        """
        order.take_up(lane)
        most = self.most_of_value
        gone: list[StreamId] = []
        entry = self.stream.finder()
        pending = self._after_dead(lane)
        while pending is not None and not (count and len(self.claimed) >= count):
            if pending.delivery_time != _PARKED or self._is_dead(pending):
                break
            is_new = pendings.count_of(pending) == 0
            if is_new and self.room <= 0:
                break
            entry_id = pendings.id_of(pending)
            if not entry.find(entry_id):
                gone.append(entry_id)
            elif self.where is not None and not self.where.matches(entry):
                break
            else:
                self._give_again(out, writer, entry, pending, consumer, now_ms, end, is_first)
                if self.is_cut or (most and lane.taken >= most):
                    break
                self.room -= is_new
            pending = lane.after(pending)
        for entry_id in gone:
            self.group.ack(entry_id)
        if self.gone is NO_IDS:
            self.gone = gone
        else:
            self.gone += gone

    def _after_dead(self, lane: Lane) -> Pending | None:
        """The first entry of a lane; None, and they are noted, if those at its head are dead."""
        pending = lane.first
        has_dead = False
        while pending is not None and self._is_dead(pending):
            has_dead = True
            if len(self.dead) == MOST_DEAD:
                self.is_more = not self.dead_stay
                break
            self.dead.append(pending)
            pending = lane.after(pending)
        return None if has_dead else pending

    def _give_again(
        self,
        out: Encoder,
        writer: EntryWriter,
        entry: StreamIterator,
        pending: Pending,
        consumer: Consumer,
        now_ms: int,
        end: int,
        is_first: bool,
    ) -> None:
        """Write a pending entry and make it the consumer's, unless the reply has no room for it."""
        size = out.size()
        writer.write(entry)
        if self.tells_deliveries:
            # What was parked has no time of delivery: 0, as XPENDING tells.
            out.integer(max(0, octets.since(pending.delivery_time, now_ms)))
            out.integer(pendings.count_of(pending))
        if self.tells_deadline:
            _write_number(out, self.deadline)
        if self.tells_fence:
            _write_number(out, self.fence)
        if out.size() > end and (self.claimed or not is_first):
            out.truncate(size)
            self.is_cut = True
        else:
            self.group.claim(pending, consumer, now_ms, now_ms)
            self.group.count_delivery(pending)
            self.claimed.append(pending)

    def _find_wanted(self, where: EntryFilter, entry: StreamIterator) -> bool:
        """Go on to the next entry that *where* names; False if it finds none.

        The group passes the others, as if they were delivered and acknowledged.
        """
        found = where.find(entry)
        if where.passed:
            first = stream_id.make_id(where.first_ms, where.first_seq)
            last = stream_id.make_id(where.last_ms, where.last_seq)
            group_lag.move_past(self.stream, self.group, first, last, where.passed)
            self.has_passed = True
        return found

    def _write_idle(
        self,
        out: Encoder,
        writer: EntryWriter,
        consumer: Consumer,
        count: int,
        now_ms: int,
        end: int,
        is_first: bool,
        min_idle: int,
    ) -> None:
        """Claim and write the entries that are idle, the oldest first, as write_new() does.

        Those that are no longer in the stream leave the group by a policy, as the dead do: else
        nobody could read any more where a policy limits what is pending. Without one they stay.
        """
        group, claimed = self.group, self.claimed
        waits = self.awaits_backoff()
        last = group.by_time.newest()  # what is claimed goes behind it
        pending = group.by_time.first_left()
        entry = self.stream.finder()  # most often they come in their order
        looks = MOST_CLAIMS
        while pending is not None and group.is_idle(pending, min_idle, now_ms):
            newer = None if pending is last else pendings.newer_of(pending)
            if waits and self.is_to_wait(pending, now_ms):
                self.is_more = True
                break
            if self.has_lane(pending):
                if not self._is_dead(pending):  # it goes back to its lane at the next look
                    self.is_more = True
                    break
                pending = newer  # it cannot be moved
                continue
            entry_id = pendings.id_of(pending)
            is_there = entry.find(entry_id)
            if self._is_dead(pending) or (self.policy is not None and not is_there):
                if len(self.dead) < MOST_DEAD:
                    self.dead.append(pending)
                else:
                    looks -= 1
                    if not self.dead_stay or looks < 0:
                        self.is_more = not self.dead_stay
                        break
                pending = newer
                continue
            if self.where is not None:
                looks -= 1
                if looks < 0:
                    break
                if not self._is_wanted(self.where, pending):
                    pending = newer
                    continue
            if is_there:
                self._give_again(out, writer, entry, pending, consumer, now_ms, end, is_first)
                if self.is_cut:
                    break
                if len(claimed) == count:
                    break
            pending = newer

    def has_lane(self, pending: Pending) -> bool:
        """Whether it is given in the order of its lane only."""
        order = self.order
        return order is not None and order.has_lane(pending)

    def may_take(self, pending: Pending) -> bool:
        """Whether what was not acknowledged in time may leave its consumer for this one.

        With CLAIM and WHERE it has to be wanted, and the first of its lane: else it would only wait
        there for what others have.
        """
        order, where = self.order, self.where
        if order is None or where is None or not self.tells_deliveries:
            return True
        if not order.has_lane(pending):
            return True  # it leaves its consumer when it is given
        lane = order.lane_of(pending)
        return lane is not None and lane.first is pending and self._is_wanted(where, pending)

    def write_history(
        self,
        out: Encoder,
        consumer: Consumer,
        count: int,
        now_ms: int,
        end: int,
        is_first: bool,
        may_stop: bool = False,
    ) -> int:
        """Write the consumer's pending entries that follow *after*, *count* at most (0: all).

        Each entry that is still in the stream is delivered once more; those that *where* does not
        name stay as they are. Of a deleted one only the ID is written; with *ids_only* of the
        others, too. *end*, *is_first* and what is returned are as of write_new(). If it *may_stop*,
        it looks at no more entries than *where* may, and *after* is the last one.
        """
        written = 0
        where = self.where
        place = consumer.pel.seek(">", self.after.key())
        finder = self.stream.finder()
        mark = out.open_array()
        while place.next():
            delivered: Pending = place.value
            entry_id = pendings.id_of(delivered)
            size = out.size()
            if where is not None:
                if may_stop and not where.may_look():
                    break
                self.after = entry_id
                if not self._is_wanted(where, delivered):
                    continue
            if self.ids_only:
                is_there = self.stream.contains(entry_id)
                out.bulk(entry_id.encode())
            else:
                is_there = stream_reply.write_entry(out, finder, entry_id)
            if not is_there and not self.ids_only:
                out.array(2)
                out.bulk(entry_id.encode())
                out.null_array()
            if out.size() > end and (written or not is_first):
                out.truncate(size)
                self.is_cut = True
                break
            if is_there:
                self.group.deliver_again(delivered, now_ms)
            written += 1
            if written == count:
                break
        out.close_array(mark, written)
        return written


def _write_number(out: Encoder, number: int) -> None:
    """Write *number*; null for 0."""
    if number:
        out.integer(number)
    else:
        out.null()


def new_delivery(
    key: bytes,
    stream: Stream,
    group: ConsumerGroup,
    after: StreamId,
    ids_only: bool = False,
    where: EntryFilter | None = None,
) -> Delivery:
    """What is to be delivered from *stream*, which is at *key*."""
    made = Delivery.__new__(Delivery)
    made.key = key
    made.stream = stream
    made.group = group
    made.after = after
    made.given = []
    made.claimed = []
    made.policy = None
    made.min_idle = _NO_CLAIM
    made.tells_deliveries = False
    made.tells_deadline = False
    made.tells_fence = False
    made.deadline = 0
    made.fence = 0
    made.turn_ms = 0
    made.room = NO_LIMIT
    made.dead = NO_ENTRIES
    made.dead_stay = False
    made.order = None
    made.reads_on = False
    made.most_of_value = 0
    made.was_set_back = False
    made.parked = NO_ENTRIES
    made.gone = NO_IDS
    made.ids_only = ids_only
    made.where = where
    made.has_passed = False
    made.is_cut = False
    made.is_more = False
    return made
