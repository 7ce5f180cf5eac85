"""One call of XCLAIM or XAUTOCLAIM: what it claims, and what it answers."""

from __future__ import annotations

from server.commands.streams import stream_reply
from server.commands.streams.adding import stream_delays
from server.commands.streams.groups import dead_letters, group_orders, group_steps
from server.commands.streams.groups.dead_letters import DELIVERIES
from server.dispatch.call import Call
from storage.side_data.deadlines import Deadlines
from storage.side_data.group_policy import GroupPolicy
from storage.stream import pending as pendings
from storage.stream import stream_id
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.lane_claims import LaneClaims
from storage.stream.pending import NOBODY, PARKED, Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

ATTEMPTS = 10  # pending entries XAUTOCLAIM examines for each it may return
LEAST_DUE = 100  # so many may be due, at least, for those that it finds by time
_ATTEMPTS, _LEAST_DUE = ATTEMPTS, LEAST_DUE  # as C numbers
_NOBODY, _PARKED = NOBODY, PARKED


class Claim:
    """One call of XCLAIM or XAUTOCLAIM: consumer, conditions, and the reply so far."""

    __slots__ = (
        "_deadlines",
        "_finder",
        "call",
        "changes",
        "claimed",
        "consumer",
        "dead",
        "delivery_time",
        "forced",
        "group",
        "is_new",
        "just_id",
        "lanes",
        "min_idle",
        "out",
        "policy",
        "retry_count",
        "stream",
    )

    def __init__(
        self, call: Call, stream: Stream, group: ConsumerGroup, min_idle: int, just_id: bool
    ) -> None:
        self.call = call
        self.stream = stream
        self.group = group
        self.is_new = self.group.find_consumer(self.call.argv[3]) is None
        self.consumer = _consumer(call, group)
        self.min_idle = min_idle
        self.just_id = just_id
        self.delivery_time = self.call.now_ms
        self.retry_count: int | None = None
        self.out = self.call.client.out.another()
        self._finder = stream.finder()  # most often they come in their order
        self.claimed = 0
        self.changes = 0  # claimed, or dropped because the entry has gone
        self.policy: GroupPolicy | None = None
        self._deadlines: Deadlines | None = None  # of the stream, if entries have expired
        if self.call.db.side:
            key, name = self.call.argv[1], self.call.argv[2]
            schedule = None if call.is_replayed() else stream_delays.schedule_of(call, key)
            if schedule is not None and schedule.deadlines.first() <= call.now_ms:
                self._deadlines = schedule.deadlines
            self.policy = group_steps.policy_of(call, key, name)
            group_orders.order_of(call, key, name, self.policy, stream, group)
        order = None if call.is_replayed() else group.order  # what is replayed is done as it says
        self.lanes = None if order is None else LaneClaims(order, self.consumer.index)
        self.dead: list[Pending] = []  # what was delivered too often to be claimed
        self.forced: list[Pending] = []  # what was not pending before

    def is_idle(self, pending: Pending) -> bool:
        """Whether it was last delivered as long ago as the claim demands, and it is its turn."""
        if self.min_idle and not self.group.is_idle(pending, self.min_idle, self.call.now_ms):
            return False
        lanes = self.lanes
        return lanes is None or lanes.may_claim(pending)

    def _has_expired(self, entry_id: StreamId) -> bool:
        """Whether nobody may have the entry any more, though it has not been removed yet."""
        deadlines = self._deadlines
        return deadlines is not None and deadlines.has_expired(entry_id, self.call.now_ms)

    def take(self, pending: Pending) -> None:
        """Give *pending*, whose entry exists, to the consumer, and write it to the reply.

        That is a delivery, unless only the id is asked for; what is dead by the group's policy has
        had its last one.
        """
        if self._is_dead(pending):
            self.dead.append(pending)
            return
        self.group.claim(pending, self.consumer, self.delivery_time, self.call.now_ms)
        if self.retry_count is not None:
            pendings.set_count(pending, self.retry_count)
        elif not self.just_id:
            self.group.count_delivery(pending)
        entry_id = pendings.id_of(pending)
        if self.just_id:
            self.out.bulk(entry_id.encode())
        else:
            stream_reply.write_entry(self.out, self._finder, entry_id)
        self.claimed += 1
        self.consumer.active_time = self.call.now_ms
        self.changed(pending, entry_id)
        if self.lanes is not None:
            self._take_back(self.lanes.others_after(pending))

    def _take_back(self, others: list[Pending]) -> None:
        """What others have of a lane that is the consumer's now goes back to it."""
        if others:
            group_orders.park(self.group, others)
            group_orders.log(self.call, self.call.argv[1], self.call.argv[2], others)

    def _is_dead(self, pending: Pending) -> bool:
        if self.policy is None or self.just_id or self.retry_count is not None:
            return False
        return self.policy.is_dead(pendings.count_of(pending))

    def drop(self, pending: Pending, entry_id: StreamId) -> None:
        """Forget *pending*, whose entry has been deleted."""
        self.changed(pending, entry_id)
        self.group.ack(entry_id)

    def end(self) -> None:
        """All has been claimed. A consumer that was made and given nothing must be logged too."""
        if self.dead:
            dead_letters.bury(
                self.call, self.call.argv[1], self.call.argv[2], self.dead, DELIVERIES
            )
            self._forget_forced()
        if self.claimed:
            self.call.server.blocking.delivered(self.call.db.index, self.call.argv[1])
        elif self.changes:  # something was dropped
            group_steps.left(self.call, self.call.argv[1], self.call.argv[2])
        if self.is_new and not self.claimed:
            argv = self.call.argv
            made = (b"XGROUP", b"CREATECONSUMER", argv[1], argv[2], argv[3])
            self.call.db.group_changed(argv[1], None, changes=0, log=made)

    def _forget_forced(self) -> None:
        """What was made pending, is dead and could not move is not pending, as before.

        It has no owner, and was not released either: no file can say so.
        """
        for pending in self.forced:
            if pending.consumer_index == _NOBODY:
                self.group.ack(pendings.id_of(pending))

    def changed(self, pending: Pending, entry_id: StreamId) -> None:
        """Say that *pending* was claimed, or dropped; a replica drops it for the same reason."""
        self.changes += 1
        argv, call = self.call.argv, self.call
        if not call.is_logged:
            call.db.group_changed(argv[1], None)
            return
        owner = self.group.owner(pending)
        if owner is None:  # it was released, and its entry has been deleted
            ack = (b"XACK", argv[1], argv[2], entry_id.encode())
            call.db.group_changed(argv[1], None, changes=1, log=ack)
            return
        claim = group_steps.claim_words(argv[1], argv[2], owner.name, pending, self.group)
        call.db.group_changed(argv[1], None, changes=1, log=claim)

    def claim_one(self, entry_id: StreamId, force: bool) -> None:
        """Claim an entry, if it is pending and idle, or with *force* is not pending.

        One that is not in the stream any more is dropped.
        """
        pending = self.group.find(entry_id)
        if not self.stream.contains(entry_id):
            if pending is not None:
                self.drop(pending, entry_id)
        elif self._has_expired(entry_id):
            pass
        elif pending is not None:
            if self.is_idle(pending):
                self.take(pending)
        elif force:
            lane = group_orders.lane_at(self.call, self.stream, self.group, entry_id)
            forced = self.group.force(entry_id, self.call.now_ms, lane)
            lanes = self.lanes
            if lane and lanes is not None and not lanes.may_claim(forced):
                self.group.ack(entry_id)
                return
            self.forced.append(forced)
            self.take(forced)

    def claim_from(self, start: StreamId, count: int) -> tuple[StreamId, list[StreamId]]:
        """Claim what is idle from *start* on.

        Returns the id to continue from, and the ids of deleted entries. Both claimed and deleted
        ones use up *count*. The walk is by id; if it ends before it has found them, those after
        its end that are due are found by time. If these are all that are due, the next of them is
        where to continue, else the entry at which the walk has stopped.
        """
        deleted: list[StreamId] = []
        attempts = most_due = count * _ATTEMPTS
        place = self.group.pel.seek(">=", start.key())
        while attempts and count and place.next():
            attempts -= 1
            pending = place.value
            count -= self._claim_idle(pending, deleted)
        if not place.next():
            return ZERO, deleted
        cursor = stream_id.from_key(place.current_key())
        if not count:
            return cursor, deleted
        most_due = max(most_due, _LEAST_DUE)
        due = self.group.due(self.min_idle, self.call.now_ms, most_due)
        for pending in due:
            entry_id = pendings.id_of(pending)
            if stream_id.compare(entry_id, cursor) < 0:
                continue
            if not count:
                return cursor if len(due) == most_due else entry_id, deleted
            count -= self._claim_idle(pending, deleted)
        return cursor if len(due) == most_due else ZERO, deleted

    def _claim_idle(self, pending: Pending, deleted: list[StreamId]) -> bool:
        """Claim *pending* if it is idle, drop it if its entry is gone; False if neither."""
        entry_id = pendings.id_of(pending)
        if not self.stream.contains(entry_id):
            self.drop(pending, entry_id)
            deleted.append(entry_id)
            return True
        if not self.is_idle(pending) or self._is_held(pending) or self._has_expired(entry_id):
            return False
        self.take(pending)
        return True

    def _is_held(self, pending: Pending) -> bool:
        """Whether BACKOFF or DELAY holds it: then it may be claimed by its id only."""
        at_ms = pending.delivery_time
        is_nobodys = pending.consumer_index == _NOBODY
        return is_nobodys and at_ms != _PARKED and at_ms > self.call.now_ms


def _consumer(call: Call, group: ConsumerGroup) -> Consumer:
    """The consumer that claims, made if needed."""
    name = call.argv[3]
    consumer = group.find_consumer(name)
    if consumer is None:
        consumer = group.create_consumer(name, call.now_ms)
        call.db.group_changed(call.argv[1], b"xgroup-createconsumer")
    consumer.seen_time = call.now_ms
    return consumer
