"""Consumer groups: which entries of a stream were delivered to whom and are not acknowledged yet.

    ConsumerGroup
      pel          rax: id key -> Pending      all pending entries of the group
      by_time      DeliveryQueue               the same, oldest delivery first
      consumers    name -> Consumer
                             pel   rax: id key -> Pending      those of this consumer

A pending entry is one object in all three places (see storage/stream/pending.py); every operation
here keeps the three consistent. An entry without an owner is in the group's indexes only: it was
released (XNACK), or XCLAIM FORCE or loading has just made it.

    _table    [free, alice, bob, 0, carol, 3]        consumers by index; NOBODY is none
               5                                     the indexes of deleted ones make a chain

Who asks by id whether any group of a stream has an entry pending, asks the pel of each group, or
their common index, if the groups are many (see storage/stream/references.py).

A group with ORDERBY has the entries by the values of a field, too, when somebody has read from it
(see storage/stream/group_order.py).

Many groups are made and few are used, so a group makes its indexes only when it gets its first
consumer or pending entry. Until then it has empty ones that all unused groups share. The bytes,
compiled, as the allocator rounds them:

    unused group   80    group
    when used     464    pel 64, queue 48, dictionary 64 + 160, table 64 + 16, an id of its own 48
    consumer      112    consumer 64, its place in the dictionary and the table 48
                   64    its pel; with entries 48 more for each node, and the branches
    pending entry  64    and 9 bytes or more in each pel

A group counts its redeliveries (in by_time) and its dead letters since the server has started, or
loaded it: they are no part of its value, so neither files nor replicas have them.

Compiled, the cyclic collector tracks no group, consumer, pending entry or index: nothing in a group
refers back to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from storage import allocation, octets
from storage.errors import Corrupt
from storage.rax.rax import Rax
from storage.stream import pending as pendings
from storage.stream.group_order import GroupOrder
from storage.stream.pending import NOBODY, PARKED, DeliveryQueue, Pending
from storage.stream.redeliveries import Redeliveries
from storage.stream.references import References
from storage.stream.stream_id import StreamId

NEVER = -1  # active_time of a consumer that was never given anything
FEW = 500  # steps of a walk by time, then by id, and so on; and twice as many each time
UNKNOWN = -1  # entries_read of a group that does not know how many entries it has passed
_PARKED, _NOBODY = PARKED, NOBODY  # as C numbers

# bytes of an object with what is made beside it, as listed above; a pel counts itself
CONSUMER = 112
GROUP = 80
IN_USE = 400

# What unused groups share. All of it stays empty.
_NO_PEL: Final = Rax()
_NO_QUEUE: Final = DeliveryQueue()
_NO_CONSUMERS: Final[dict[bytes, Consumer]] = {}
_NO_TABLE: Final[list[Any]] = [0]


class Consumer:
    """One member of a group. Its times are unix ms."""

    __slots__ = ("active_time", "index", "name", "pel", "seen_time")

    def __init__(self, name: bytes, index: int, now_ms: int) -> None:
        self.name = name
        self.index = index  # in the group's table
        self.seen_time = now_ms  # last attempt to read or claim
        self.active_time = NEVER  # last attempt that gave something
        self.pel = Rax()
        allocation.used += CONSUMER + allocation.of_bytes(name)

    def __del__(self) -> None:
        allocation.used -= CONSUMER + allocation.of_bytes(self.name)


class ConsumerGroup:
    """A group's position in the stream and its pending entries.

    Operations are O(log N) in the number of pending entries unless they say otherwise.
    """

    __slots__ = (
        "_table", "by_time", "consumers", "dead_lettered", "entries_read", "last_id", "order",
        "pel", "references",
    )  # fmt: skip

    def __init__(self, last_id: StreamId, entries_read: int = UNKNOWN) -> None:
        self.last_id = last_id  # the last entry that was delivered
        self.entries_read = entries_read  # how many entries were ever added up to last_id
        self.pel = _NO_PEL
        self.by_time = _NO_QUEUE
        self.consumers = _NO_CONSUMERS
        self._table = _NO_TABLE  # as drawn above
        self.references: References | None = None  # the stream's, if it asks by id
        self.order: GroupOrder | None = None  # of a group with ORDERBY that somebody reads
        self.dead_lettered = 0  # entries that have moved to its dead letters
        allocation.used += GROUP

    def __del__(self) -> None:
        allocation.used -= GROUP
        if self._table is not _NO_TABLE:
            allocation.used -= IN_USE

    def _use(self) -> None:
        """Make what the group needs before it gets a consumer or a pending entry."""
        if self._table is _NO_TABLE:
            self.pel = Rax()
            self.by_time = DeliveryQueue()
            self.consumers = {}
            self._table = [0]
            allocation.used += IN_USE

    # ------------------------------------------------------------------ consumers

    def find_consumer(self, name: bytes) -> Consumer | None:
        """The consumer of that name, or None."""
        return self.consumers.get(name)

    def create_consumer(self, name: bytes, now_ms: int) -> Consumer:
        """A new consumer; there must be none of that name."""
        self._use()
        free: int = self._table[0]
        index = free or len(self._table)
        consumer = Consumer(name, index, now_ms)
        if free:
            self._table[0] = self._table[free]
            self._table[free] = consumer
        else:
            self._table.append(consumer)
        self.consumers[name] = consumer
        return consumer

    def delete_consumer(self, name: bytes) -> int | None:
        """Forget a consumer and its pending entries; return how many it had, None if no consumer.

        O(N) in the number of its pending entries.
        """
        consumer = self.consumers.pop(name, None)
        if consumer is None:
            return None
        dropped = len(consumer.pel)
        for key, pending in consumer.pel:
            self.pel.remove(key)
            self.by_time.remove(pending)
            self.by_time.forget(key)
            if self.references is not None:
                self.references.removed(key)
            if self.order is not None:
                self.order.removed(key, pending)
        self._table[consumer.index] = self._table[0]
        self._table[0] = consumer.index
        return dropped

    def sorted_consumers(self) -> list[Consumer]:
        """All consumers by name, as redis lists them. O(M log M), O(M) if none has come since."""
        names = list(self.consumers)
        names.sort()  # in O(M) what is sorted already
        if names != list(self.consumers):
            self.consumers = {name: self.consumers[name] for name in names}
        return list(self.consumers.values())

    def owner(self, pending: Pending) -> Consumer | None:
        """The consumer that owns *pending*; None for an entry without an owner."""
        if pending.consumer_index == _NOBODY:
            return None
        owner: Consumer = self._table[pending.consumer_index]
        return owner

    def move_to(self, entry_id: StreamId) -> None:
        """Let *entry_id* be the last one that was delivered."""
        if self.references is not None:
            self.references.group_moves(self.last_id, entry_id)
        self.last_id = entry_id

    def set_to(self, entry_id: StreamId) -> None:
        """Let the group read on after *entry_id*, which may be before what it has read already."""
        self.move_to(entry_id)
        if self.order is not None:
            self.order.was_set_back = True

    # ------------------------------------------------------------------ delivery

    def deliver(
        self, entry_id: StreamId, consumer: Consumer, now_ms: int, lane: int = 0
    ) -> Pending:
        """Record that an entry was delivered to *consumer*; the delivery count is 1.

        *lane* is the number of its lane, if the group has an order and the entry a lane; else 0.

        If the entry is pending already (the group was set back), *consumer* becomes its owner, as
        if it had claimed it: a replica does.
        """
        key = entry_id.key()
        pending = pendings.new_pending(entry_id.ms, entry_id.seq, now_ms, 1, consumer.index, lane)
        previous: Pending | None = self.pel.insert(key, pending)
        if previous is not None:
            self.by_time.note(previous)
            self._take_out(key, previous)
        elif self.references is not None:
            self.references.added(key)
        consumer.pel.insert(key, pending)
        self.by_time.add(pending, now_ms)
        if lane and self.order is not None:
            self.order.add(key, pending, lane)
        return pending

    def deliver_again(self, pending: Pending, now_ms: int) -> None:
        """Record one more delivery of a pending entry to its owner."""
        self._set_time(pending, now_ms)
        self.count_delivery(pending)

    def count_delivery(self, pending: Pending) -> None:
        """*pending* is delivered: again, unless it was only made pending until now."""
        if pending.delivery_count:
            self.by_time.redeliveries += 1
        pendings.count_up(pending)

    def ack(self, entry_id: StreamId) -> bool:
        """Acknowledge an entry. False if it was not pending."""
        key = entry_id.key()
        pending: Pending | None = self.pel.remove(key)
        if pending is None:
            return False
        self._take_out(key, pending)
        self.by_time.forget(key)
        if self.references is not None:
            self.references.removed(key)
        return True

    def _take_out(self, key: bytes, pending: Pending) -> None:
        """Remove from all indexes except the group's pel."""
        consumer = self.owner(pending)
        if consumer is not None:
            consumer.pel.remove(key)
        self.by_time.remove(pending)
        if self.order is not None:
            self.order.removed(key, pending)

    def _set_time(self, pending: Pending, delivery_time: int) -> None:
        """Let *pending* be delivered at that time, which is now."""
        self.by_time.note(pending)
        self.by_time.remove(pending)
        pending.delivery_time = delivery_time
        self.by_time.add(pending, delivery_time)

    # ------------------------------------------------------------------ claiming

    def force(self, entry_id: StreamId, now_ms: int, lane: int = 0) -> Pending:
        """Make an entry pending, without an owner (XCLAIM FORCE); it must not be pending yet.

        *lane* is as for deliver(). claim() is to follow, or ack().
        """
        pending = self._make_pending(entry_id, now_ms, 1, lane)
        self.by_time.add(pending, now_ms)
        self._tell_order(entry_id, pending, lane)
        return pending

    def _make_pending(
        self, entry_id: StreamId, delivery_time: int, count: int, lane: int = 0
    ) -> Pending:
        """A pending entry without an owner that is not in by_time yet."""
        self._use()
        ms, seq = entry_id.ms, entry_id.seq
        pending = pendings.new_pending(ms, seq, delivery_time, count, _NOBODY, lane)
        key = entry_id.key()
        self.pel.insert(key, pending)
        if self.references is not None:
            self.references.added(key)
        return pending

    def claim(
        self, pending: Pending, consumer: Consumer, delivery_time: int, now_ms: int = 0
    ) -> None:
        """Give *pending* to *consumer*, as if delivered at *delivery_time*. Its count is kept.

        *now_ms* is unix time, 0 if that is not known. O(K) in addition, if K entries were delivered
        later than *delivery_time*, up to now.
        """
        self.by_time.note(pending)
        owner = self.owner(pending)
        if owner is not consumer:
            key = pendings.id_of(pending).key()
            if owner is not None:
                owner.pel.remove(key)
            consumer.pel.insert(key, pending)
        self.by_time.remove(pending)
        pending.delivery_time = delivery_time
        pending.consumer_index = consumer.index
        self.by_time.add(pending, now_ms)
        if owner is None and self.order is not None:
            self.order.given(pending)

    def release(self, pending: Pending) -> None:
        """Take *pending* from its owner: it is the next to be claimed, after those released before.

        Its count is kept. One that had been released already goes after all others; one that has
        a lane is parked.
        """
        if self.order is not None and self.order.has_lane(pending):
            self.hold(pending, _PARKED)
        else:
            self._disown(pending)
            self.by_time.release(pending)

    def uncount(self, pending: Pending, count: int = UNKNOWN) -> None:
        """The last delivery of *pending*, which was released, does not count; or *count* is given.

        What was not delivered yet, by its count, begins anew.
        """
        if count == UNKNOWN:
            pendings.count_down(pending)
        else:
            pendings.set_count(pending, count)
        self.by_time.note(pending)

    def _disown(self, pending: Pending) -> None:
        """Take *pending* from its owner, if it has one, and out of by_time."""
        self.by_time.note(pending)
        owner = self.owner(pending)
        if owner is not None:
            owner.pel.remove(pendings.id_of(pending).key())
        self.by_time.remove(pending)
        pending.consumer_index = _NOBODY

    def hold(self, pending: Pending, until_ms: int) -> None:
        """Release *pending*, but let it be claimed from *until_ms* (unix time > 0) on only."""
        had_owner = pending.consumer_index != _NOBODY
        self._disown(pending)
        self.by_time.hold(pending, until_ms)
        order = self.order
        if order is not None and had_owner:
            order.given_back(pending)
        elif order is not None:
            order.moved(pending)

    def ripen(self, now_ms: int, most: int) -> None:
        """Release what was held until *now_ms* or less, *most* entries at most. O(log N) for each.

        First comes what was held the shortest. What has a lane is parked.
        """
        if self.order is None:
            self.by_time.ripen(now_ms, most)
            most = 0
        pending = self.by_time.first_held()
        while pending is not None and pending.delivery_time <= now_ms and most > 0:
            self.release(pending)
            most -= 1
            pending = self.by_time.first_held()

    def park(self, entry_id: StreamId, lane: int) -> Pending:
        """Let a new entry wait in the lane of that number until it is ready, with a count of 0.

        It must not be pending, and the group must have an order.
        """
        pending = self._make_pending(entry_id, 0, 0, lane)
        self.by_time.hold(pending, _PARKED)
        self._tell_order(entry_id, pending, lane)
        return pending

    def _tell_order(self, entry_id: StreamId, pending: Pending, lane: int) -> None:
        """Tell the order of an entry that is pending now, perhaps before the group has read it."""
        order = self.order
        if order is not None:
            order.was_set_back = True  # until the group has moved on
            if lane:
                order.add(entry_id.key(), pending, lane)

    def forget_order(self) -> None:
        """Have no order: who reads makes it anew. O(N) in its lanes."""
        if self.order is not None:
            self.order.lanes.clear()
            self.order = None

    def force_released(self, entry_id: StreamId, lane: int = 0) -> Pending:
        """Make an entry pending as one that was released (XNACK FORCE), with a count of 0.

        It must not be pending yet. *lane* is as for deliver(): in it the entry is parked.
        """
        if lane and self.order is not None:
            return self.park(entry_id, lane)
        pending = self._make_pending(entry_id, 0, 0)
        self.by_time.release(pending)
        self._tell_order(entry_id, pending, 0)
        return pending

    # ------------------------------------------------------------------ looking

    def find(self, entry_id: StreamId) -> Pending | None:
        """The pending entry of that id, or None."""
        pending: Pending | None = self.pel.find(entry_id.key())
        return pending

    def note_first(self, redelivered: Redeliveries | None) -> None:
        """Note there when entries that are delivered again were delivered first.

        None: nobody wants to know. What it has of entries that are not pending is forgotten:
        O(N log N) if it is another one than before. The group's policy is another one, so it is
        looked again at entries that have gone, and at those that were due.
        """
        self._use()
        self.by_time.look_again()
        if redelivered is not None and self.by_time.redelivered() is not redelivered:
            redelivered.keep_only(self.pel)
        self.by_time.note_first(redelivered)

    def first_delivery(self, pending: Pending) -> int:
        """When *pending* was delivered first (unix ms), if it was and that is known; else 0."""
        if pending.delivery_count == 0:
            return 0
        noted = self.by_time.redelivered()
        first = None if noted is None else noted.first(pendings.id_of(pending).key())
        if first is not None:
            return first
        is_first = pending.delivery_count == 1 and pending.consumer_index != _NOBODY
        return pending.delivery_time if is_first else 0

    def first_pending(self) -> Pending | None:
        """The pending entry of the smallest id, or None."""
        found = self.pel.first()
        return None if found is None else found[1]

    def last_pending(self) -> Pending | None:
        """The pending entry of the greatest id, or None."""
        found = self.pel.last()
        return None if found is None else found[1]

    def oldest(self) -> Pending | None:
        """The pending entry delivered longest ago, or None; newer_of() leads on. O(1).

        Those that were released come before all others.
        """
        return self.by_time.oldest()

    def released(self) -> int:
        """How many pending entries were released and have no owner. O(M) in the consumers."""
        owned = 0
        for consumer in self.consumers.values():
            owned += len(consumer.pel)
        return len(self.pel) - owned

    def pending_range(
        self,
        start: StreamId,
        end: StreamId,
        count: int,
        consumer: Consumer | None = None,
        min_idle: int = 0,
        now_ms: int = 0,
    ) -> list[Pending]:
        """At most *count* pending entries from *start* to *end*, of *consumer* or of all.

        With *min_idle*, only those last delivered at least so many ms before *now_ms*, which all
        released ones were. O(log N) and the entries looked at: without *min_idle* those that are
        returned, else see _idle_range().
        """
        if min_idle:
            return self._idle_range(start, end, count, consumer, min_idle, now_ms)
        found: list[Pending] = []
        last_key = end.key()
        entry = (self.pel if consumer is None else consumer.pel).seek(">=", start.key())
        while len(found) < count and entry.next() and entry.current_key() <= last_key:
            found.append(entry.value)
        return found

    def _idle_range(
        self,
        start: StreamId,
        end: StreamId,
        count: int,
        consumer: Consumer | None,
        min_idle: int,
        now_ms: int,
    ) -> list[Pending]:
        """pending_range() of those that are idle for *min_idle* ms.

        All idle ones are at the head of by_time; the first ones by id are wanted. So two walks go
        on by turns, one by time and one by id, and the one that is over first has the answer: it
        costs no more than a few times what the shorter walk does. By time nothing is found while
        an entry was delivered before 1970: so long ago may wrap around, as in Redis.
        """
        last_key = end.key()
        entry = (self.pel if consumer is None else consumer.pel).seek(">=", start.key())
        found: list[Pending] = []
        idle: list[Pending] = []
        idle += self.by_time.ripe(now_ms, len(self.pel))
        oldest = self.by_time.oldest()
        steps = FEW
        while True:
            while len(idle) < steps:
                if oldest is None:
                    return _chosen(idle, start, end, count, consumer)
                if oldest.delivery_time < 0:
                    break
                if not self.is_idle(oldest, min_idle, now_ms):
                    return _chosen(idle, start, end, count, consumer)
                idle.append(oldest)
                oldest = pendings.newer_of(oldest)
            for _ in range(steps):
                if len(found) >= count or not entry.next() or entry.current_key() > last_key:
                    return found
                pending = entry.value
                if self.is_idle(pending, min_idle, now_ms):
                    found.append(pending)
            steps *= 2

    def due(self, min_idle: int, now_ms: int, most: int) -> list[Pending]:
        """Of what is idle for *min_idle* ms, the *most* entries idle for longest, by id.

        None while an entry was delivered before 1970, as in _idle_range(). O(K log K) in those
        found, whatever else is pending.
        """
        found = self.by_time.ripe(now_ms, most)
        pending = self.by_time.oldest()
        if pending is not None and pending.delivery_time < 0:
            return []
        while len(found) < most and pending is not None and self.is_idle(pending, min_idle, now_ms):
            found.append(pending)
            pending = pendings.newer_of(pending)
        found.sort(key=_by_id)
        return found

    def is_idle(self, pending: Pending, min_idle: int, now_ms: int) -> bool:
        """Whether *pending* was delivered at least *min_idle* ms ago, or has been released.

        Not what is still held.
        """
        if pending.consumer_index == _NOBODY:
            return pending.delivery_time <= now_ms
        return octets.since(pending.delivery_time, now_ms) >= min_idle

    # ------------------------------------------------------------------ loading, copying

    def restore(self, entry_id: StreamId, delivery_time: int, count: int) -> Pending:
        """Add a pending entry that has no owner and is not in by_time yet; see settle.

        Raises Corrupt if there is one of that id.
        """
        if self.find(entry_id) is not None:
            raise Corrupt("two pending entries of one id")
        pending = self._make_pending(entry_id, delivery_time, 0)
        pendings.set_count(pending, count)
        return pending

    def assign(self, entry_id: StreamId, consumer: Consumer) -> None:
        """Give a restored entry to its owner. Raises Corrupt if it is missing or has one."""
        pending = self.find(entry_id)
        if pending is None or pending.consumer_index != _NOBODY:
            raise Corrupt("a consumer's pending entry is not the group's")
        pending.consumer_index = consumer.index
        consumer.pel.insert(entry_id.key(), pending)

    def settle(self, released: Sequence[StreamId] = ()) -> None:
        """Put all restored entries into by_time: once, after the last. O(N log N).

        Those of the ids *released* have no owner, and were released in that order; those of them
        that have a time are held until then. Raises Corrupt if one of them is not pending or has an
        owner, or if any other has none.
        """
        waiting: list[Pending] = []
        for _, pending in self.pel:
            if pending.consumer_index != _NOBODY:
                waiting.append(pending)
        if len(waiting) + len(released) != len(self.pel) or len(set(released)) != len(released):
            raise Corrupt("a pending entry without a consumer")
        waiting.sort(key=_delivery_time)
        self.by_time.clear()
        for pending in waiting:
            self.by_time.add(pending)
        for entry_id in released:
            found = self.find(entry_id)
            if found is None or found.consumer_index != _NOBODY:
                raise Corrupt("a released entry is not pending, or has a consumer")
            if found.delivery_time > 0:
                self.by_time.hold(found, found.delivery_time)
            else:
                self.by_time.release(found)

    def disown(self, consumer: Consumer, released: Sequence[StreamId]) -> None:
        """Release restored entries of *consumer*, in this order, and settle() again. O(N log N).

        Raises Corrupt if one of them is not its own.
        """
        for entry_id in released:
            pending = self.find(entry_id)
            if pending is None or self.owner(pending) is not consumer:
                raise Corrupt("a released entry is not of the consumer that has them")
            consumer.pel.remove(entry_id.key())
            pending.consumer_index = _NOBODY
        self.settle(released)

    def copy(self) -> ConsumerGroup:
        """An independent group equal to this one. O(N log N)."""
        made = ConsumerGroup(self.last_id, self.entries_read)
        for consumer in self.sorted_consumers():
            member = made.create_consumer(consumer.name, consumer.seen_time)
            member.active_time = consumer.active_time
        for pending in [*self.by_time, *self.by_time.held()]:
            entry_id = pendings.id_of(pending)
            twin = made.restore(entry_id, pending.delivery_time, pending.delivery_count)
            owner = self.owner(pending)
            if owner is not None:
                made.assign(entry_id, made.consumers[owner.name])
                made.by_time.add(twin)
            elif self.by_time.is_held(pending):
                made.by_time.hold(twin, pending.delivery_time)
            else:
                made.by_time.release(twin)
        return made


def _delivery_time(pending: Pending) -> int:
    return pending.delivery_time


def _by_id(pending: Pending) -> tuple[int, int]:
    return pending.ms, pending.seq


def _chosen(
    entries: list[Pending], start: StreamId, end: StreamId, count: int, consumer: Consumer | None
) -> list[Pending]:
    """Of *entries*, the first *count* from *start* to *end*, of *consumer* or of all."""
    first, last = (start.ms, start.seq), (end.ms, end.seq)
    chosen = sorted(
        (
            pending
            for pending in entries
            if first <= _by_id(pending) <= last
            and (consumer is None or pending.consumer_index == consumer.index)
        ),
        key=_by_id,
    )
    return chosen[: max(count, 0)]
