"""Stream with consumer groups compared with a naive model after each random operation."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from storage.errors import IdIsZero, IdNotGreater
from storage.stream import deletions, group_lag, stream_node
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.deletions import ACKED, DELREF, KEEPREF, Deletion, ReferencedTrim
from storage.stream.pending import id_of
from storage.stream.rdb_nodes import NodeCheck
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId
from tests.worth import rounds

NAMES = [b"a", b"bb", b"17"]
VALUES = st.one_of(st.sampled_from([b"", b"0", b"-1", b"70000"]), st.binary(max_size=80))
GROUPS = st.sampled_from([b"g1", b"g2"])
CONSUMERS = st.sampled_from([b"alice", b"bob", b"carol"])
CONFIGS = st.sampled_from(
    [StreamConfig(4096, 3), StreamConfig(4096, 1), StreamConfig(120, 0), StreamConfig(0, 7)]
)


@dataclass
class ModelPending:
    """A pending entry: its last delivery."""

    consumer: bytes | None  # None: it was released
    time: int
    count: int
    order: int  # when it was last put into the delivery queue

    def place(self) -> tuple[bool, int, int]:
        """Where it is in the queue."""
        return self.consumer is not None, 0 if self.consumer is None else self.time, self.order


@dataclass
class ModelGroup:
    """A consumer group whose pending entries are a dictionary."""

    last_id: StreamId
    consumers: set[bytes] = field(default_factory=set)
    pending: dict[StreamId, ModelPending] = field(default_factory=dict)


class StreamMachine(RuleBasedStateMachine):
    """A stream, and as its model a list of entries and a dictionary of groups."""

    def __init__(self) -> None:
        super().__init__()
        self.stream = Stream()
        self.entries: list[tuple[StreamId, list[bytes]]] = []
        self.last_id = ZERO
        self.max_deleted_id = ZERO
        self.added: list[StreamId] = []
        self.groups: dict[bytes, ModelGroup] = {}
        self.now = 1000
        self.order = 0

    # ------------------------------------------------------------------ entries

    @rule(
        step=st.sampled_from([0, 0, 0, 1, 2, 1000, 2**40]),
        seq=st.sampled_from([None, None, 0, 5, 2**63]),
        own=st.integers(0, 5),
        values=st.lists(VALUES, min_size=1, max_size=3),
        config=CONFIGS,
    )
    def append(
        self, step: int, seq: int | None, own: int, values: list[bytes], config: StreamConfig
    ) -> None:
        ms = self.last_id.ms + step
        entry_id = self.stream.next_seq_id(ms) if seq is None else StreamId(ms, seq)
        names = NAMES if own else NAMES[::-1]
        fields = [part for pair in zip(names, values, strict=False) for part in pair]
        try:
            self.stream.append(entry_id, [b"XADD", *fields], 1, config)
        except (IdIsZero, IdNotGreater):
            assert entry_id <= self.last_id
            return
        assert entry_id > self.last_id
        self.entries.append((entry_id, fields))
        self.added.append(entry_id)
        self.last_id = entry_id

    def some_id(self, data: st.DataObject) -> StreamId:
        """Usually an id that was added at some time, or the id before or after it."""
        if not self.added or data.draw(st.integers(0, 9)) == 0:
            return data.draw(st.sampled_from([ZERO, StreamId(1, 0), MAX]))
        entry_id = data.draw(st.sampled_from(self.added))
        return data.draw(st.sampled_from([entry_id, entry_id, entry_id.prev(), entry_id.next()]))

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        to_delete = [self.some_id(data) for _ in range(data.draw(st.integers(1, 3)))]
        living = {entry_id for entry_id, _ in self.entries}
        gone = living.intersection(to_delete)
        assert self.stream.delete_all(to_delete) == len(gone)
        self.entries = [entry for entry in self.entries if entry[0] not in gone]
        self.max_deleted_id = max(gone | {self.max_deleted_id})

    @rule(data=st.data())
    def trim_by_length(self, data: st.DataObject) -> None:
        maxlen = data.draw(st.integers(0, len(self.entries) + 1))
        deleted = self.stream.trim_by_length(maxlen)
        assert deleted == max(0, len(self.entries) - maxlen)
        del self.entries[:deleted]

    @rule(data=st.data())
    def trim_by_id(self, data: st.DataObject) -> None:
        minid = self.some_id(data)
        deleted = self.stream.trim_by_id(minid)
        assert deleted == sum(entry_id < minid for entry_id, _ in self.entries)
        del self.entries[:deleted]

    @rule(data=st.data(), by_id=st.booleans(), limit=st.sampled_from([0, 1, 4, 10]))
    def trim_approximately(self, data: st.DataObject, by_id: bool, limit: int) -> None:
        """Only whole nodes go, no more entries than asked for, and no more than the limit."""
        sizes = [stream_node.alive(node) for _, node in self.stream.rax]
        if by_id:
            minid = self.some_id(data)
            wanted = sum(entry_id < minid for entry_id, _ in self.entries)
            deleted = self.stream.trim_by_id(minid, approximate=True, limit=limit)
        else:
            maxlen = data.draw(st.integers(0, len(self.entries)))
            wanted = len(self.entries) - maxlen
            deleted = self.stream.trim_by_length(maxlen, approximate=True, limit=limit)
        assert deleted <= wanted
        assert not limit or deleted <= limit
        assert deleted in [sum(sizes[:count]) for count in range(len(sizes) + 1)]
        del self.entries[:deleted]

    @rule(data=st.data(), few=st.integers(0, 6))
    def read_newer(self, data: st.DataObject, few: int) -> None:
        near_the_end = [entry_id for entry_id, _ in self.entries[-8:]]
        after = data.draw(st.sampled_from([ZERO, self.some_id(data), *near_the_end]))
        if after < MAX:
            entry = self.stream.newer(after, few)
            found = []
            while entry.next():
                found.append((entry.id, entry.read_fields()))
            assert found == [entry for entry in self.entries if entry[0] > after]

    @rule(data=st.data(), reverse=st.booleans())
    def delete_while_iterating(self, data: st.DataObject, reverse: bool) -> None:
        start, end = self.some_id(data), self.some_id(data)
        inside = [entry for entry in self.entries if start <= entry[0] <= end]
        ids = [entry_id for entry_id, _ in inside]
        to_delete = {entry_id for entry_id in ids if data.draw(st.booleans())}
        entry = self.stream.range(start, end, reverse)
        seen = []
        while entry.next():
            seen.append((entry.id, entry.read_fields()))
            if entry.id in to_delete:
                self.stream.delete_current(entry)
        assert seen == (inside[::-1] if reverse else inside)
        self.entries = [entry for entry in self.entries if entry[0] not in to_delete]
        self.max_deleted_id = max(to_delete | {self.max_deleted_id})
        self.stream.first_id = self.stream.first_entry_id()
        self.stream.max_deleted_id = self.max_deleted_id

    @rule(most=st.integers(1, 5))
    def compact(self, most: int) -> None:
        self.stream.compact(most)

    @rule(count=st.integers(11, 25))
    def fill_a_node_and_delete_most_of_it(self, count: int) -> None:
        config = StreamConfig(0, 25)
        for _ in range(count):
            if self.last_id >= StreamId(2**63, 0):
                return
            entry_id = StreamId(self.last_id.ms + 1, 0)
            self.stream.append(entry_id, [b"XADD", b"a", b"1"], 1, config)
            self.entries.append((entry_id, [b"a", b"1"]))
            self.added.append(entry_id)
            self.last_id = entry_id
        gone = [entry_id for entry_id, _ in self.entries[-count:-2]]
        self.stream.delete_all(gone)
        self.entries = [*self.entries[:-count], *self.entries[-2:]]
        self.max_deleted_id = max(self.max_deleted_id, gone[-1])

    @rule()
    def continue_with_a_copy(self) -> None:
        self.stream = self.stream.copy()

    @rule(data=st.data(), reverse=st.booleans())
    def read_range(self, data: st.DataObject, reverse: bool) -> None:
        start, end = self.some_id(data), self.some_id(data)
        found = read_all(self.stream, start, end, reverse)
        inside = [entry for entry in self.entries if start <= entry[0] <= end]
        assert found == (inside[::-1] if reverse else inside)

    @rule(data=st.data())
    def count_a_range(self, data: st.DataObject) -> None:
        start, end = self.some_id(data), self.some_id(data)
        inside = [entry_id for entry_id, _ in self.entries if start <= entry_id <= end]
        assert self.stream.count(start, end) == len(inside)

    @rule(data=st.data())
    def find_by_number(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(-1, len(self.entries)))
        found = self.stream.positions().neighbours(number)
        ids = [entry_id for entry_id, _ in self.entries]
        if 0 <= number < len(ids):
            assert found == (ids[number], ids[min(number + 1, len(ids) - 1)])
        else:
            assert found is None

    # ------------------------------------------------------------------ groups

    def group(self, name: bytes) -> tuple[ConsumerGroup, ModelGroup]:
        if name not in self.groups:
            self.groups[name] = ModelGroup(ZERO)
            self.stream.create_group(name, ZERO)
        return self.stream.groups[name], self.groups[name]

    @rule(name=GROUPS, consumer=CONSUMERS, count=st.integers(1, 5), step=st.integers(-50, 100))
    def read(self, name: bytes, consumer: bytes, count: int, step: int) -> None:
        group, model = self.group(name)
        self.now += step
        reader = group.find_consumer(consumer) or group.create_consumer(consumer, self.now)
        model.consumers.add(consumer)
        fresh = [entry_id for entry_id, _ in self.entries if entry_id > model.last_id][:count]
        if model.last_id == MAX:
            return
        entry = self.stream.newer(model.last_id, count - 1)
        for entry_id in fresh:
            assert entry.next()
            assert entry.id == entry_id
            group_lag.move_on(self.stream, group, entry_id)
            group.deliver(entry_id, reader, self.now)
            model.pending[entry_id] = ModelPending(consumer, self.now, 1, self.next_order())
            model.last_id = entry_id

    def next_order(self) -> int:
        self.order += 1
        return self.order

    def some_pending(self, model: ModelGroup, data: st.DataObject) -> StreamId:
        if not model.pending or data.draw(st.integers(0, 5)) == 0:
            return self.some_id(data)
        return data.draw(st.sampled_from(sorted(model.pending)))

    @rule(name=GROUPS, data=st.data())
    def ack(self, name: bytes, data: st.DataObject) -> None:
        group, model = self.group(name)
        entry_id = self.some_pending(model, data)
        assert group.ack(entry_id) == (model.pending.pop(entry_id, None) is not None)

    @rule(name=GROUPS, consumer=CONSUMERS, data=st.data(), age=st.integers(0, 300))
    def claim(self, name: bytes, consumer: bytes, data: st.DataObject, age: int) -> None:
        group, model = self.group(name)
        entry_id = self.some_pending(model, data)
        claimer = group.find_consumer(consumer) or group.create_consumer(consumer, self.now)
        model.consumers.add(consumer)
        pending = group.find(entry_id)
        assert (pending is None) == (entry_id not in model.pending)
        if pending is None:
            pending = group.force(entry_id, self.now)
            model.pending[entry_id] = ModelPending(consumer, 0, 1, 0)
        group.claim(pending, claimer, self.now - age)
        twin = model.pending[entry_id]
        twin.consumer, twin.time, twin.order = consumer, self.now - age, self.next_order()

    @rule(name=GROUPS, data=st.data())
    def release(self, name: bytes, data: st.DataObject) -> None:
        group, model = self.group(name)
        entry_id = self.some_pending(model, data)
        pending = group.find(entry_id)
        if pending is None:
            group.force_released(entry_id)
            model.pending[entry_id] = ModelPending(None, 0, 0, self.next_order())
            return
        group.release(pending)
        twin = model.pending[entry_id]
        twin.consumer, twin.time, twin.order = None, 0, self.next_order()

    @rule(name=GROUPS, data=st.data(), step=st.integers(0, 10))
    def deliver_again(self, name: bytes, data: st.DataObject, step: int) -> None:
        group, model = self.group(name)
        self.now += step
        pending = group.find(self.some_pending(model, data))
        if pending is not None and group.owner(pending) is not None:
            group.deliver_again(pending, self.now)
            twin = model.pending[id_of(pending)]
            twin.time, twin.count, twin.order = self.now, twin.count + 1, self.next_order()

    @rule(name=GROUPS, consumer=CONSUMERS)
    def delete_consumer(self, name: bytes, consumer: bytes) -> None:
        group, model = self.group(name)
        dropped = [i for i, pending in model.pending.items() if pending.consumer == consumer]
        known = consumer in model.consumers
        assert group.delete_consumer(consumer) == (len(dropped) if known else None)
        model.consumers.discard(consumer)
        for entry_id in dropped:
            del model.pending[entry_id]

    @rule(name=GROUPS, data=st.data())
    def set_group_id(self, name: bytes, data: st.DataObject) -> None:
        group, model = self.group(name)
        model.last_id = self.some_id(data)
        group.move_to(model.last_id)
        group.entries_read = -1

    @rule(name=GROUPS)
    def delete_group(self, name: bytes) -> None:
        known = self.groups.pop(name, None) is not None
        assert self.stream.delete_group(name) == known

    @precondition(lambda self: self.groups)
    @rule(data=st.data(), count=st.integers(0, 4), mine=st.booleans())
    def pending_range(self, data: st.DataObject, count: int, mine: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.groups)))
        group, model = self.group(name)
        start, end = self.some_id(data), self.some_id(data)
        min_idle = data.draw(st.integers(0, 200))
        names = sorted(model.consumers)
        consumer = data.draw(st.sampled_from(names)) if mine and names else None
        member = None if consumer is None else group.find_consumer(consumer)
        expected = [
            entry_id
            for entry_id, pending in sorted(model.pending.items())
            if start <= entry_id <= end
            and (consumer is None or pending.consumer == consumer)
            and (not min_idle or pending.consumer is None or self.now - pending.time >= min_idle)
        ]
        found = group.pending_range(start, end, count, member, min_idle, self.now)
        assert [id_of(pending) for pending in found] == expected[:count]

    # ------------------------------------------------------------------ by reference

    @rule(count=st.integers(1, 12))
    def make_more_groups(self, count: int) -> None:
        """So many that the stream indexes what is pending in any."""
        for number in range(count):
            group, model = self.group(b"more%d" % number)
            model.last_id = max(model.last_id, self.last_id)
            group.move_to(model.last_id)

    def is_referenced(self, entry_id: StreamId) -> bool:
        return any(
            entry_id > model.last_id or entry_id in model.pending for model in self.groups.values()
        )

    def drop_references(self, entry_id: StreamId) -> None:
        for model in self.groups.values():
            model.pending.pop(entry_id, None)

    @rule(data=st.data(), policy=st.sampled_from([KEEPREF, DELREF, ACKED]), acks=st.booleans())
    def delete_by_reference(self, data: st.DataObject, policy: int, acks: bool) -> None:
        name = data.draw(GROUPS)
        group, model = self.group(name)
        deletion = Deletion(self.stream, policy)
        for _ in range(data.draw(st.integers(1, 3))):
            entry_id = self.some_pending(model, data)
            alive = {entry_id for entry_id, _ in self.entries}
            was_pending = model.pending.pop(entry_id, None) is not None if acks else True
            expected = deletions.MISSING
            if was_pending:
                if policy == ACKED and self.is_referenced(entry_id):
                    expected = deletions.REFERENCED
                else:
                    if entry_id in alive or acks:
                        expected = deletions.DELETED
                    if policy == DELREF:
                        self.drop_references(entry_id)
                    if entry_id in alive:
                        self.entries = [entry for entry in self.entries if entry[0] != entry_id]
                        self.max_deleted_id = max(self.max_deleted_id, entry_id)
            found = deletion.ack(name, group, entry_id) if acks else deletion.delete(entry_id)
            assert found == expected
        deletion.end()

    @rule(data=st.data(), policy=st.sampled_from([DELREF, ACKED]), by_id=st.booleans())
    def trim_by_reference(self, data: st.DataObject, policy: int, by_id: bool) -> None:
        maxlen = -1 if by_id else data.draw(st.integers(0, len(self.entries) + 1))
        minid = self.some_id(data) if by_id else MAX
        kept = list(self.entries)
        for entry in self.entries:
            if len(kept) <= maxlen or entry[0] >= minid:
                break
            if policy == DELREF:
                self.drop_references(entry[0])
            elif self.is_referenced(entry[0]):
                continue
            kept.remove(entry)
        deleted = ReferencedTrim(self.stream, policy, maxlen, minid, 0).run()
        assert deleted == len(self.entries) - len(kept)
        self.entries = kept

    # ------------------------------------------------------------------ invariants

    @invariant()
    def entries_agree(self) -> None:
        assert read_all(self.stream, ZERO, MAX) == self.entries
        assert read_all(self.stream, ZERO, MAX, reverse=True) == self.entries[::-1]
        for key, node in self.stream.rax:
            node.check()
            NodeCheck(bytearray(node.dump()), key).run()

    @invariant()
    def counters_agree(self) -> None:
        stream = self.stream
        assert stream.length == len(stream) == len(self.entries)
        assert stream.last_id == self.last_id
        assert stream.entries_added == len(self.added)
        assert stream.max_deleted_id == self.max_deleted_id
        assert stream.first_id == (self.entries[0][0] if self.entries else ZERO)
        assert stream.last_entry_id() == (self.entries[-1][0] if self.entries else ZERO)

    @invariant()
    def groups_agree(self) -> None:
        assert set(self.stream.groups) == set(self.groups)
        for name, model in self.groups.items():
            self.group_agrees(self.stream.groups[name], model)

    def group_agrees(self, group: ConsumerGroup, model: ModelGroup) -> None:
        assert group.last_id == model.last_id
        assert [member.name for member in group.sorted_consumers()] == sorted(model.consumers)
        found = {}
        for key, pending in group.pel:
            owner = group.owner(pending)
            assert owner is None or owner.pel.find(key) is pending
            name = None if owner is None else owner.name
            found[id_of(pending)] = (name, pending.delivery_time, pending.delivery_count)
        assert found == {i: (p.consumer, p.time, p.count) for i, p in model.pending.items()}
        owned = sum(len(member.pel) for member in group.consumers.values())
        assert owned + group.released() == len(found)
        assert group.by_time.released() == [p for p in group.by_time if group.owner(p) is None]
        by_time = sorted(model.pending.items(), key=lambda item: item[1].place())
        assert [id_of(pending) for pending in group.by_time] == [i for i, _ in by_time]

    @invariant()
    def a_known_lag_is_right(self) -> None:
        """A known lag is the number of entries after the group's last id."""
        for name, model in self.groups.items():
            lag = group_lag.lag(self.stream, self.stream.groups[name])
            if lag is not None and model.last_id <= self.last_id:
                assert lag == sum(entry_id > model.last_id for entry_id, _ in self.entries)

    @rule(name=GROUPS)
    def count_a_lag(self, name: bytes) -> None:
        group, model = self.group(name)
        if model.last_id <= self.last_id:
            behind = sum(entry_id > model.last_id for entry_id, _ in self.entries)
            assert group_lag.counted_lag(self.stream, group) == behind


def read_all(
    stream: Stream, start: StreamId, end: StreamId, reverse: bool = False
) -> list[tuple[StreamId, list[bytes]]]:
    entry = stream.range(start, end, reverse)
    found = []
    while entry.next():
        found.append((entry.id, entry.read_fields()))
    return found


StreamMachine.TestCase.settings = settings(
    max_examples=rounds(60), stateful_step_count=30, deadline=None
)
TestStream = StreamMachine.TestCase
