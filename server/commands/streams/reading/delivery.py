"""What XREADGROUP gives a consumer: what was asked for, what the policy says, what was found."""

from __future__ import annotations

from server.commands.streams.reading.stream_request import NO_LIMIT
from server.table.command import NO_CLAIM
from storage import octets
from storage.side_data.group_policy import GroupPolicy
from storage.stream import pending as pendings
from storage.stream import stream_id
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.entry_filter import EntryFilter
from storage.stream.group_order import GroupOrder
from storage.stream.pending import NOBODY, PARKED, Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, StreamId

_NO_CLAIM = NO_CLAIM  # as a C number, as the others
_NOBODY, _PARKED = NOBODY, PARKED
_NO_LIMIT = NO_LIMIT
MOST_PARKED_AT_ONCE = 1000  # entries in one call, so that nobody waits for long
MOST_CLAIMS = 10_000  # pending entries that one call looks at for those that are to be claimed
_MOST_CLAIMS = MOST_CLAIMS
FEW_CLAIMS = 10  # in each stream at least, if there are many
RELEASED_ONLY = 2**62  # as min_idle: nothing is idle for so long, but what was released is given
_RELEASED_ONLY = RELEASED_ONLY
NO_ENTRIES: list[Pending] = []
NO_IDS: list[StreamId] = []
NEW = MAX  # stands for the ID ``>``: no pending entry has a greater ID


class Delivery:
    """What one XREADGROUP gives a consumer from one stream: entries with IDs beyond *after*.

    With CLAIM, those come first that others were given *min_idle* ms ago or before.
    """

    __slots__ = (
        "after", "claimed", "dead", "dead_stay", "deadline", "fence", "given", "gone", "group",
        "has_left_some", "has_new_consumer", "has_passed", "ids_only", "is_cut", "is_more", "key",
        "min_idle", "most_claims", "most_of_value", "most_parked", "order", "parked", "policy",
        "reads_on", "room", "stream", "taken_ms", "tells_deadline", "tells_deliveries",
        "tells_fence", "turn_ms", "was_set_back", "where",
    )  # fmt: skip

    # What was asked for.
    key: bytes
    stream: Stream
    group: ConsumerGroup
    after: StreamId
    min_idle: int  # ms; what was given so long ago is claimed, unless it is NO_CLAIM
    where: EntryFilter | None  # which entries are wanted; None: all
    ids_only: bool  # whether the reply has no fields
    most_claims: int  # how many idle entries are looked at that are not given
    tells_deliveries: bool  # whether the reply says how long ago, and how often
    tells_deadline: bool  # whether the reply says until when the consumer has an entry
    tells_fence: bool  # whether the reply says the number of the turn of the active consumer

    # What the group's policy says.
    policy: GroupPolicy | None
    deadline: int  # until when the consumer has what it is given; 0: for ever
    fence: int  # the number of its turn; 0: none
    turn_ms: int  # after how long the consumer may be active; 0: it is, or all are; -1: not by time
    room: int  # how many new entries may be given
    order: GroupOrder | None  # the lanes of a group with ORDERBY
    most_of_value: int  # how many entries with one value a consumer may have; 0: no matter
    most_parked: int  # how many new entries one call lets wait for their lanes
    was_set_back: bool  # whether entries that the group has not read may be pending

    # What was found.
    given: list[StreamId]  # the ids of the new entries that were written
    claimed: list[Pending]  # the entries that were claimed and written
    taken_ms: dict[bytes, int] | None  # when those were delivered that CLAIM has taken, by id
    parked: list[Pending]  # new entries that wait for their lanes; *most_parked* at most
    dead: list[Pending]  # what was delivered too often to be claimed; MOST_DEAD at most
    dead_stay: bool  # nothing takes them now: what is due after them is given all the same
    gone: list[StreamId]  # pending entries that were not in the stream: they are acknowledged
    has_left_some: bool  # whether what others have had was left, as the consumer has no room
    has_new_consumer: bool  # whether the consumer was made, which only what it is given tells
    has_passed: bool  # whether the group has moved beyond entries that are not wanted
    reads_on: bool  # whether as much was parked as one call may
    is_more: bool  # whether more is due than was looked at
    is_cut: bool  # whether the size of the reply has left no room for an entry

    def claim(self, min_idle: int) -> None:
        """Give what others were given *min_idle* ms ago, too; say how long ago, and how often."""
        self.min_idle = min_idle
        self.tells_deliveries = True

    def share_claims(self, streams: int) -> None:
        """Look at fewer entries in each of so many *streams*: not at more than one call may."""
        self.most_claims = max(_MOST_CLAIMS // streams, FEW_CLAIMS)

    def follow(self, policy: GroupPolicy) -> None:
        """Give what *policy* makes anyone's, too; but nothing that is dead."""
        self.policy = policy
        self.dead = []
        if self.min_idle == _NO_CLAIM and policy.visibility_ms:
            self.min_idle = policy.visibility_ms
        elif self.min_idle == _NO_CLAIM and policy.gives_released():
            self.min_idle = _RELEASED_ONLY

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

    def tell(self, deadline: bool, fence: bool) -> None:
        """Say until when the consumer has each entry; and the number of its turn."""
        self.tells_deadline = deadline
        self.tells_fence = fence

    def limit(self, policy: GroupPolicy, consumer: Consumer) -> None:
        """Give *consumer* only as many new entries as *policy* has room for; the dead take none."""
        dead_of_consumer = 0
        for pending in self.dead:
            if pending.consumer_index == consumer.index:
                dead_of_consumer += 1
        pending_of_all = len(self.group.pel) - len(self.dead)
        if self.order is not None:
            pending_of_all -= self.order.waiting
        self.room = policy.room(pending_of_all, len(consumer.pel) - dead_of_consumer)

    def room_of_one(self, consumer: Consumer) -> int:
        """How many entries that others have had *consumer* may be given."""
        most = 0 if self.policy is None else self.policy.max_pending_of_one
        return most - len(consumer.pel) if most else _NO_LIMIT

    def is_of_new(self) -> bool:
        """Whether it gives entries that the group has not read yet."""
        return stream_id.compare(self.after, NEW) == 0

    def has_ready(self) -> bool:
        """Whether entries of a lane may be given."""
        return self.order is not None and self.order.ready.size > 0

    def note_parked(self, pending: Pending) -> None:
        """Note a new entry that waits for its lane."""
        if self.parked is NO_ENTRIES:
            self.parked = []
        self.parked.append(pending)

    def note_gone(self, ids: list[StreamId]) -> None:
        """Note pending entries that were not in the stream."""
        if self.gone is NO_IDS:
            self.gone = ids
        else:
            self.gone += ids

    # ------------------------------------------------------------------ what a pending entry is

    def is_dead(self, pending: Pending) -> bool:
        """Whether it is moved to the dead letters when it is due, by any reader."""
        return self.policy is not None and self.policy.is_dead(pendings.count_of(pending))

    def leaves(self, pending: Pending) -> bool:
        """Whether it leaves the group when it is due: it is dead, or not in the stream any more."""
        if self.policy is None:
            return False
        return self.is_dead(pending) or not self.stream.contains(pendings.id_of(pending))

    def is_wanted(self, where: EntryFilter, pending: Pending) -> bool:
        """Whether it is in the stream, and *where* names it. *where* counts the look."""
        where.looks += 1
        entry_id = pendings.id_of(pending)
        entry = self.stream.range(entry_id, entry_id)
        return entry.next() and where.matches(entry)

    def awaits_backoff(self) -> bool:
        """Whether what was not acknowledged in time is held for a while before it is given."""
        policy = self.policy
        if policy is None or self.tells_deliveries:
            return False
        return policy.visibility_ms > 0 and bool(policy.backoff_ms)

    def gives_back(self) -> bool:
        """Whether what was not acknowledged in time leaves its consumer before it is given."""
        return self.order is not None or self.awaits_backoff()

    def is_to_wait(self, pending: Pending, now_ms: int) -> bool:
        """Whether *pending*, which was not acknowledged in time, is to be held for a while."""
        policy = self.policy
        assert policy is not None
        if pending.consumer_index == _NOBODY:
            return False
        wait_ms = policy.wait_ms(pendings.count_of(pending))
        return wait_ms > 0 and pending.delivery_time + policy.visibility_ms + wait_ms > now_ms

    def has_lane(self, pending: Pending) -> bool:
        """Whether it is given in the order of its lane only."""
        order = self.order
        return order is not None and order.has_lane(pending)

    def may_take(self, pending: Pending) -> bool:
        """Whether CLAIM may take it, which has a lane, from its consumer.

        It has to be the first of its lane, and wanted: else it would only wait there for what
        others have.
        """
        order, where = self.order, self.where
        lane = None if order is None else order.lane_of(pending)
        if lane is None or lane.first is not pending:
            return False
        return where is None or self.is_wanted(where, pending)

    def note_taken(self, pending: Pending) -> None:
        """Note when it was delivered: CLAIM takes it from its consumer, and tells that."""
        if self.taken_ms is None:
            self.taken_ms = {}
        self.taken_ms[pendings.id_of(pending).key()] = pending.delivery_time

    def idle_ms(self, pending: Pending, now_ms: int) -> int:
        """How long ago it was delivered; 0 for what has waited in its lane, as XPENDING tells."""
        at_ms = pending.delivery_time
        if at_ms == _PARKED and self.taken_ms is not None:
            at_ms = self.taken_ms.get(pendings.id_of(pending).key(), at_ms)
        return max(0, octets.since(at_ms, now_ms))


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
    made.min_idle = _NO_CLAIM
    made.where = where
    made.ids_only = ids_only
    made.most_claims = _MOST_CLAIMS
    made.tells_deliveries = False
    made.tells_deadline = False
    made.tells_fence = False
    made.policy = None
    made.deadline = 0
    made.fence = 0
    made.turn_ms = 0
    made.room = _NO_LIMIT
    made.order = None
    made.most_of_value = 0
    made.most_parked = MOST_PARKED_AT_ONCE
    made.was_set_back = False
    made.given = []
    made.claimed = []
    made.taken_ms = None
    made.parked = NO_ENTRIES
    made.dead = NO_ENTRIES
    made.dead_stay = False
    made.gone = NO_IDS
    made.has_left_some = False
    made.has_new_consumer = False
    made.has_passed = False
    made.reads_on = False
    made.is_more = False
    made.is_cut = False
    return made
