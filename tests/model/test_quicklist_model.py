"""QuickList compared with a list, with nodes of all sizes."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage.listpack.listpack import Listpack
from storage.lists import quicklist
from storage.lists.quicklist import QuickList
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(100), stateful_step_count=40, deadline=None)
THRESHOLD = 3000  # bytes

values = st.one_of(
    st.integers(-3, 12).map(lambda n: b"%d" % n),
    st.sampled_from([0, 10, 500, 1500, 2999, 3000, 5000, 9000]).map(lambda size: b"v" * size),
    st.binary(min_size=1, max_size=3),
)
indexes = st.integers(-60, 60)


class QuickListMachine(RuleBasedStateMachine):
    """Every operation at every index."""

    @initialize(
        fill=st.sampled_from([-2, -1, 1, 2, 5, 128]),
        threshold=st.sampled_from([0, THRESHOLD]),
        start=st.lists(values, max_size=40),
    )
    def fill(self, fill: int, threshold: int, start: list[bytes]) -> None:
        assert quicklist.set_packed_threshold(threshold)
        self.threshold = threshold or (4096 if fill == -1 else 8192) + 1
        self.list = QuickList(fill)
        self.model: list[bytes] = []
        for value in start:
            self.push_right(value)

    def teardown(self) -> None:
        quicklist.set_packed_threshold(0)

    def is_not_empty(self) -> bool:
        return bool(self.model)

    @rule(value=values)
    def push_left(self, value: bytes) -> None:
        self.list.push_left(value)
        self.model.insert(0, value)

    @rule(value=values)
    def push_right(self, value: bytes) -> None:
        self.list.push_right(value)
        self.model.append(value)

    @rule(count=st.integers(1, 20))
    def pop_left(self, count: int) -> None:
        for _ in range(count):
            assert self.list.pop_left() == (self.model.pop(0) if self.model else None)

    @rule(count=st.integers(1, 20))
    def pop_right(self, count: int) -> None:
        for _ in range(count):
            assert self.list.pop_right() == (self.model.pop() if self.model else None)

    @rule(values=st.lists(values, min_size=10, max_size=40), left=st.booleans())
    def push_many(self, values: list[bytes], left: bool) -> None:
        for value in values:
            if left:
                self.push_left(value)
            else:
                self.push_right(value)

    @rule(index=indexes)
    def get(self, index: int) -> None:
        inside = -len(self.model) <= index < len(self.model)
        assert self.list.get(index) == (self.model[index] if inside else None)

    @rule(index=indexes, value=values)
    def set(self, index: int, value: bytes) -> None:
        if -len(self.model) <= index < len(self.model):
            self.list.set(index, value)
            self.model[index] = value
        else:
            try:
                self.list.set(index, value)
            except IndexError:
                return
            raise AssertionError("an index out of range was accepted")

    @precondition(is_not_empty)
    @rule(index=indexes, value=values, before=st.booleans())
    def insert(self, index: int, value: bytes, before: bool) -> None:
        pivot = self.model[index % len(self.model)]
        assert self.list.insert(pivot, value, before)
        self.model.insert(self.model.index(pivot) + (0 if before else 1), value)

    @rule(before=st.booleans())
    def insert_beside_a_missing_element(self, before: bool) -> None:
        assert not self.list.insert(b"not there", b"new", before)

    @precondition(is_not_empty)
    @rule(index=indexes, count=st.integers(-4, 4))
    def remove(self, index: int, count: int) -> None:
        value = self.model[index % len(self.model)]
        places = [i for i, other in enumerate(self.model) if other == value]
        gone = places[count:] if count < 0 else places[: count or None]
        assert self.list.remove(count, value) == len(gone)
        self.model = [other for i, other in enumerate(self.model) if i not in gone]

    @rule(start=indexes, stop=indexes)
    def trim(self, start: int, stop: int) -> None:
        self.list.trim(start, stop)
        self.model = self.slice(start, stop)

    def slice(self, start: int, stop: int) -> list[bytes]:
        """The elements that LRANGE returns for these indexes."""
        size = len(self.model)
        first = max(start + size, 0) if start < 0 else start
        last = stop + size if stop < 0 else stop
        return self.model[first : max(last + 1, 0)]

    @rule(start=indexes, stop=indexes)
    def range(self, start: int, stop: int) -> None:
        assert self.list.range(start, stop) == self.slice(start, stop)

    @precondition(is_not_empty)
    @rule(
        index=indexes,
        rank=st.integers(-4, 4).filter(bool),
        count=st.integers(0, 3),
        maxlen=st.integers(0, 50),
    )
    def positions(self, index: int, rank: int, count: int, maxlen: int) -> None:
        value = self.model[index % len(self.model)]
        order = range(len(self.model)) if rank > 0 else range(len(self.model) - 1, -1, -1)
        places = [i for i in list(order)[: maxlen or None] if self.model[i] == value]
        expected = places[abs(rank) - 1 :][: count or None]
        assert self.list.positions(value, rank, count, maxlen) == expected

    @rule()
    def copy(self) -> None:
        self.list = self.list.copy()

    @rule()
    def rebuild_from_its_nodes(self) -> None:
        loaded = QuickList(self.list.fill)
        for node in self.list.nodes():
            loaded.add_node(node)
        self.list = loaded

    @invariant()
    def agrees_with_the_model(self) -> None:
        assert len(self.list) == len(self.model)
        assert list(self.list) == self.model

    @invariant()
    def can_be_iterated_backwards(self) -> None:
        iterator = self.list.iterate(-1, True)
        found = []
        while iterator.next():
            found.append(iterator.value())
        assert found[::-1] == self.model
        assert not iterator.next()

    @invariant()
    def no_node_is_empty_or_too_large(self) -> None:
        nodes = self.list.nodes()
        assert self.list.node_count == len(nodes)
        limit = 4096 if self.list.fill == -1 else 8192
        for node in nodes:
            if isinstance(node, Listpack):
                node.check()
                assert len(node) > 0
                assert node.size <= limit + 11
                assert self.list.fill < 0 or len(node) <= self.list.fill
            else:
                assert len(node) >= self.threshold


QuickListMachine.TestCase.settings = SETTINGS
TestQuickList = QuickListMachine.TestCase
