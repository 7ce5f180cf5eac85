"""Rax compared with a sorted dict: keys, iterators while keys change, and Redis's node count."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage.rax.rax import Rax
from storage.rax.rax_iterator import RaxIterator
from tests.worth import rounds

any_key = st.binary(max_size=4).map(lambda key: bytes(byte % 5 for byte in key))
few_ms = st.tuples(st.integers(0, 3), st.integers(0, 400))
many_ms = st.tuples(st.integers(0, 3000), st.sampled_from([0, 0, 0, 1, 7]))
id_key = st.one_of(few_ms, many_ms).map(lambda i: i[0].to_bytes(8, "big") + i[1].to_bytes(8, "big"))


def redis_nodes(keys: list[bytes]) -> int:
    """How many nodes Redis's rax has, computed from where the sorted *keys* diverge."""
    places = {b"", *keys}
    for one, two in pairwise(keys):
        length = next((n for n in range(len(one)) if one[n] != two[n]), len(one))
        if length < len(one):
            places |= {one[:length], one[: length + 1], two[: length + 1]}
    return len(places)


class RaxMachine(RuleBasedStateMachine):
    """A tree with its iterator, and as the model a dict and the iterator's key."""

    @initialize(keys=st.sampled_from([any_key, id_key]))
    def start(self, keys: st.SearchStrategy[bytes]) -> None:
        self.rax = Rax()
        self.model: dict[bytes, object] = {}
        self.keys = keys
        self.iterator: RaxIterator | None = None
        self.at: bytes | None = None
        self.fresh = False

    @rule(data=st.data(), value=st.one_of(st.integers(), st.none()))
    def insert(self, data: st.DataObject, value: int | None) -> None:
        key = data.draw(self.keys)
        assert self.rax.insert(key, value) == self.model.get(key)
        self.model[key] = value

    @rule(data=st.data(), count=st.integers(1, 40))
    def insert_ids(self, data: st.DataObject, count: int) -> None:
        key = data.draw(self.keys)
        for n in range(count if len(key) == 16 else 0):
            later = (int.from_bytes(key, "big") + n * (1 if count % 2 else 2**64)) % 2**128
            self.rax.insert(later.to_bytes(16, "big"), n)
            self.model[later.to_bytes(16, "big")] = n

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        known = st.sampled_from(sorted(self.model)) if self.model else self.keys
        key = data.draw(st.one_of(known, self.keys))
        assert self.rax.remove(key, "none") == self.model.pop(key, "none")

    @rule(data=st.data(), count=st.integers(1, 40))
    def remove_a_range(self, data: st.DataObject, count: int) -> None:
        ordered = sorted(self.model)
        first = data.draw(st.integers(0, len(ordered)))
        for key in ordered[first : first + count]:
            assert self.rax.remove(key) == self.model.pop(key)

    @rule(data=st.data())
    def find(self, data: st.DataObject) -> None:
        key = data.draw(self.keys)
        assert self.rax.find(key, "none") == self.model.get(key, "none")
        assert (key in self.rax) == (key in self.model)

    @rule(data=st.data(), op=st.sampled_from([">=", ">", "<=", "<", "=", "^", "$"]))
    def seek(self, data: st.DataObject, op: str) -> None:
        key = data.draw(self.keys)
        ordered = sorted(self.model)
        index = {
            ">=": bisect_left(ordered, key),
            ">": bisect_right(ordered, key),
            "<=": bisect_right(ordered, key) - 1,
            "<": bisect_left(ordered, key) - 1,
            "=": ordered.index(key) if key in self.model else -1,
            "^": 0,
            "$": len(ordered) - 1,
        }[op]
        self.iterator = self.rax.seek(op, key)
        self.at = ordered[index] if 0 <= index < len(ordered) else None
        self.fresh = True
        self.compare_positions(self.iterator.valid)

    @precondition(lambda self: self.iterator is not None)
    @rule(steps=st.integers(1, 5))
    def step_forward(self, steps: int) -> None:
        for _ in range(steps):
            if not self.fresh and self.at is not None:
                ordered = sorted(self.model)
                index = bisect_right(ordered, self.at)
                self.at = ordered[index] if index < len(ordered) else None
            assert self.iterator is not None
            self.compare_positions(self.iterator.next(), self.fresh)
            self.fresh = False

    @precondition(lambda self: self.iterator is not None)
    @rule(steps=st.integers(1, 5))
    def step_back(self, steps: int) -> None:
        for _ in range(steps):
            if not self.fresh and self.at is not None:
                ordered = sorted(self.model)
                index = bisect_left(ordered, self.at)
                self.at = ordered[index - 1] if index > 0 else None
            assert self.iterator is not None
            self.compare_positions(self.iterator.prev(), self.fresh)
            self.fresh = False

    def compare_positions(self, moved: bool, was_fresh: bool = False) -> None:
        assert self.iterator is not None
        assert moved == self.iterator.valid == (self.at is not None)
        if moved:
            assert self.iterator.key == self.at
            if not was_fresh and self.at in self.model:
                assert self.iterator.value == self.model[self.at]

    @rule()
    def remove_all_while_iterating(self) -> None:
        seen = []
        for key, value in self.rax:
            seen.append((key, value))
            self.rax.remove(key)
        assert seen == sorted(self.model.items())
        self.model.clear()

    @invariant()
    def agrees_with_the_model(self) -> None:
        ordered = sorted(self.model.items(), key=lambda item: item[0])
        assert len(self.rax) == len(ordered)
        assert list(self.rax) == ordered
        assert self.rax.first() == (ordered[0] if ordered else None)
        assert self.rax.last() == (ordered[-1] if ordered else None)

    @invariant()
    def has_as_many_nodes_as_redis_s_rax(self) -> None:
        self.rax.check()
        assert self.rax.node_count == redis_nodes(sorted(self.model))


RaxMachine.TestCase.settings = settings(
    max_examples=rounds(200), stateful_step_count=30, deadline=None
)
TestRax = RaxMachine.TestCase
