"""The count of used memory returns to its start when all data are removed, whatever was done."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from storage import allocation
from storage.hashes.hash import Hash
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits, SetLimits
from storage.lists.quicklist import QuickList
from storage.rax.rax import Rax
from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import StreamId
from tests.used_memory import used_at_start
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(40), stateful_step_count=40, deadline=None)
CONFIG = StreamConfig(node_max_bytes=300, node_max_entries=5)
SET_LIMITS = SetLimits(8, 5, 20)

keys = st.integers(0, 5).map(lambda n: b"key:%d" % n)
words = st.integers(0, 9000).map(lambda n: b"x" * n) | st.integers().map(lambda n: b"%d" % n)
numbers = st.integers(0, 60)


LIMITS = ListpackLimits(20, 100)

T = TypeVar("T", Hash, QuickList, Stream, MemberSet, SortedSet)


class AllocationMachine(RuleBasedStateMachine):
    """A database with values of every type, changed by random operations."""

    def __init__(self) -> None:
        super().__init__()
        self.at_start = used_at_start()
        self.db = Keyspace(0, KeyEvents())

    def value(self, key: bytes, kind: type[T]) -> T:
        value = self.db.find(key, ANY)
        if isinstance(value, kind):
            return value
        made = kind()
        self.db.put(key, made)
        return made

    @rule(key=keys, value=words | st.integers(-(2**63), 2**63 - 1))
    def set(self, key: bytes, value: bytes | int) -> None:
        self.db.put(key, value)

    @rule(key=keys)
    def set_raw(self, key: bytes) -> None:
        self.db.put(key, bytearray(b"raw"))

    @rule(key=keys, when_ms=st.integers(0, 2**40))
    def expire(self, key: bytes, when_ms: int) -> None:
        if key in self.db:
            self.db.expire_at(key, when_ms)

    @rule(key=keys)
    def persist(self, key: bytes) -> None:
        self.db.persist(key)

    @rule(key=keys)
    def remove(self, key: bytes) -> None:
        self.db.remove(key)

    @rule(first=st.integers(0, 400), count=st.integers(0, 400))
    def set_many(self, first: int, count: int) -> None:
        for n in range(first, first + count):
            self.db.put(b"%d" % n, b"value")

    @rule(first=st.integers(0, 400), count=st.integers(0, 400))
    def remove_many(self, first: int, count: int) -> None:
        for n in range(first, first + count):
            self.db.remove(b"%d" % n)

    @rule(key=keys, value=words, count=st.integers(1, 9), left=st.booleans())
    def push(self, key: bytes, value: bytes, count: int, left: bool) -> None:
        values = self.value(key, QuickList)
        for _ in range(count):
            values.push_left(value) if left else values.push_right(value)

    @rule(key=keys, count=st.integers(1, 9), left=st.booleans())
    def pop(self, key: bytes, count: int, left: bool) -> None:
        values = self.value(key, QuickList)
        for _ in range(count):
            values.pop_left() if left else values.pop_right()

    @rule(key=keys, index=numbers, value=words)
    def set_element(self, key: bytes, index: int, value: bytes) -> None:
        values = self.value(key, QuickList)
        if index < len(values):
            values.set(index, value)
            values.insert(value, b"before", before=True)

    @rule(key=keys, count=st.integers(-3, 3), value=words)
    def remove_elements(self, key: bytes, count: int, value: bytes) -> None:
        values = self.value(key, QuickList)
        first = values.get(0)
        values.remove(count, value if first is None else first)

    @rule(key=keys, start=st.integers(-5, 20), stop=st.integers(-5, 20))
    def trim(self, key: bytes, start: int, stop: int) -> None:
        self.value(key, QuickList).trim(start, stop)

    @rule(key=keys, member=words, count=st.integers(0, 40))
    def add_members(self, key: bytes, member: bytes, count: int) -> None:
        values = self.value(key, MemberSet)
        for text in (member, *(b"%d" % n for n in range(count))):
            values.add(text, SET_LIMITS)

    @rule(key=keys, count=st.integers(0, 40))
    def remove_members(self, key: bytes, count: int) -> None:
        values = self.value(key, MemberSet)
        for member in list(values)[:count]:
            values.remove(member)

    @rule(key=keys, field=numbers, value=words, count=st.integers(1, 300))
    def set_fields(self, key: bytes, field: int, value: bytes, count: int) -> None:
        fields = self.value(key, Hash)
        for n in range(field, field + count):
            fields.set(b"%d" % n, value, LIMITS)

    @rule(key=keys, field=numbers, count=st.integers(1, 300))
    def remove_fields(self, key: bytes, field: int, count: int) -> None:
        fields = self.value(key, Hash)
        for n in range(field, field + count):
            fields.remove(b"%d" % n)

    @rule(key=keys, first=numbers, step=st.integers(-2, 2), count=st.integers(1, 300))
    def add_scores(self, key: bytes, first: int, step: int, count: int) -> None:
        values = self.value(key, SortedSet)
        for n in range(first, first + count):
            values.put(b"%d" % n, n * step, LIMITS)

    @rule(key=keys, member=words, count=st.integers(1, 300))
    def remove_scores(self, key: bytes, member: bytes, count: int) -> None:
        values = self.value(key, SortedSet)
        values.put(member, 0, LIMITS)
        values.remove_range(0, min(count, len(values)))

    @rule(key=keys, value=words, count=st.integers(1, 40))
    def add(self, key: bytes, value: bytes, count: int) -> None:
        stream = self.value(key, Stream)
        for _ in range(count):
            stream.append(stream.next_auto_id(len(stream) * 7), [b"name", value], 0, CONFIG)

    @rule(key=keys, ms=numbers, maxlen=numbers)
    def drop(self, key: bytes, ms: int, maxlen: int) -> None:
        stream = self.value(key, Stream)
        stream.delete(StreamId(ms * 7, 0))
        stream.trim_by_length(maxlen)

    @rule(key=keys)
    def find_by_number(self, key: bytes) -> None:
        stream = self.value(key, Stream)
        stream.positions().neighbours(len(stream) // 2)

    @rule(key=keys, group=keys, name=keys, count=numbers)
    def deliver(self, key: bytes, group: bytes, name: bytes, count: int) -> None:
        stream = self.value(key, Stream)
        to = stream.find_group(group) or stream.create_group(group, StreamId(0, 0))
        consumer = to.find_consumer(name) or to.create_consumer(name, 0)
        for n in range(count):
            to.deliver(StreamId(n * 3, n % 2), consumer, n)

    @rule(key=keys, group=keys, name=keys, ms=numbers)
    def settle(self, key: bytes, group: bytes, name: bytes, ms: int) -> None:
        stream = self.value(key, Stream)
        of = stream.find_group(group)
        if of is not None:
            of.ack(StreamId(ms * 3, ms % 2))
            if ms > 40:
                of.delete_consumer(name)
            if ms > 50:
                stream.delete_group(group)

    @rule(key=keys, to=keys)
    def copy(self, key: bytes, to: bytes) -> None:
        value = self.db.find(key, ANY)
        if isinstance(value, Stream | QuickList | Hash | MemberSet | SortedSet):
            self.db.put(to, value.copy())

    @rule()
    def clear(self) -> None:
        self.db.clear()

    @invariant()
    def used_memory_is_above_its_start(self) -> None:
        assert allocation.used_bytes() > self.at_start

    def teardown(self) -> None:
        for key in list(self.db.keys()):
            self.db.remove(key)
        self.db.clear()  # forgets what it keeps to be used again
        empty = Keyspace(0, KeyEvents())
        cost = allocation.used_bytes()
        del empty
        cost -= allocation.used_bytes()
        assert allocation.used_bytes() - self.at_start == cost
        del self.db
        assert allocation.used_bytes() == self.at_start


AllocationMachine.TestCase.settings = SETTINGS
TestAllocation = AllocationMachine.TestCase


def test_a_freed_rax_leaves_no_memory_counted() -> None:
    start = used_at_start()
    tree = Rax()
    for n in range(3000):
        tree.insert(b"%d" % (n * n), n)
    full = allocation.used_bytes()
    for n in range(0, 3000, 2):
        tree.remove(b"%d" % (n * n))
    assert start < allocation.used_bytes() < full
    del tree
    assert allocation.used_bytes() == start
