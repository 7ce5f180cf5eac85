"""MemberSet compared with a Python set, through all its encodings."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage.chance import Chance
from storage.limits import SetLimits
from storage.listpack.listpack import Listpack
from storage.payload import dump, restore
from storage.rdb.options import ReadOptions
from storage.sets import intset
from storage.sets.member_set import MemberSet
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(100), stateful_step_count=40, deadline=None)

numbers = st.one_of(
    st.integers(-5, 20),
    st.integers(0, 63).flatmap(lambda bits: st.integers(-(2**bits), 2**bits - 1)),
)
texts = st.one_of(
    st.sampled_from([b"", b"a", b"-0", b"007", b"+1", b"x" * 30, b"y" * 31, b"z" * 600]),
    st.binary(max_size=3),
)
members = numbers.map(lambda n: b"%d" % n) | texts


class MemberSetMachine(RuleBasedStateMachine):
    """Every operation, with limits at which a set is converted early."""

    @initialize(
        limits=st.tuples(st.integers(0, 12), st.integers(0, 9), st.sampled_from([1, 4, 30])),
        seed=st.integers(),
    )
    def begin(self, limits: tuple[int, int, int], seed: int) -> None:
        self.limits = SetLimits(*limits)
        self.chance = Chance(seed)
        self.values = MemberSet()
        self.model: set[bytes] = set()
        self.scans: list[tuple[int, set[bytes], set[bytes]]] = []

    def is_not_empty(self) -> bool:
        return bool(self.model)

    @rule(member=members)
    def add(self, member: bytes) -> None:
        assert self.values.add(member, self.limits) == (member not in self.model)
        self.model.add(member)

    @rule(many=st.lists(members, min_size=1, max_size=30))
    def add_many(self, many: list[bytes]) -> None:
        self.values.expect(many[0], len(many), self.limits)
        for member in many:
            self.add(member)

    @rule(many=st.lists(numbers, min_size=1, max_size=15))
    def add_numbers(self, many: list[int]) -> None:
        for number in many:
            self.add(b"%d" % number)

    @rule(first=st.integers(0, 300), count=st.integers(100, 400))
    def add_a_run(self, first: int, count: int) -> None:
        for n in range(first, first + count):
            self.add(b"member:%d" % n)

    @rule(member=members)
    def remove(self, member: bytes) -> None:
        assert self.values.remove(member) == (member in self.model)
        self._forget(member)

    @precondition(is_not_empty)
    @rule(share=st.floats(0, 1))
    def remove_some(self, share: float) -> None:
        for member in sorted(self.model)[: int(share * len(self.model))]:
            self.remove(member)

    @precondition(is_not_empty)
    @rule()
    def pop(self) -> None:
        member = self.values.pop(self.chance)
        assert member in self.model
        self._forget(member)

    def _forget(self, member: bytes) -> None:
        """Scans under way owe only the members that stay all the time."""
        self.model.discard(member)
        for _, _, owed in self.scans:
            owed.discard(member)

    @rule(member=members)
    def has(self, member: bytes) -> None:
        assert self.values.has(member) == (member in self.model)

    @precondition(is_not_empty)
    @rule(count=st.integers(1, 50))
    def draw(self, count: int) -> None:
        assert self.values.random_member(self.chance) in self.model
        drawn = list(self.values.draws(self.chance, count))
        assert len(drawn) == count
        assert self.model.issuperset(drawn)
        sample = self.values.sample(self.chance, min(count, len(self.model)))
        assert len(set(sample)) == min(count, len(self.model))
        assert self.model.issuperset(sample)

    @rule()
    def begin_a_scan(self) -> None:
        self.scans.append((0, set(), set(self.model)))

    @precondition(lambda self: bool(self.scans))
    @rule(count=st.integers(1, 20))
    def scan_a_page(self, count: int) -> None:
        """What was there from a scan's first page to its last is returned."""
        cursor, found, owed = self.scans.pop(0)
        cursor, page = self.values.scan(cursor, count)
        assert self.model.issuperset(page)
        found.update(page)
        if cursor:
            self.scans.append((cursor, found, owed))
        else:
            assert found.issuperset(owed)

    @rule()
    def copy(self) -> None:
        copied = self.values.copy()
        assert copied.encoding == self.values.encoding
        for member in [b"1", b"other", *self.model]:
            self.values.remove(member)
        self.values = copied

    @rule()
    def dump_and_restore(self) -> None:
        if not self.model:
            return
        restored = restore(dump(self.values), ReadOptions(set_limits=self.limits))
        assert set(restored) == self.model

    @invariant()
    def agrees_with_the_model(self) -> None:
        found = list(self.values)
        assert len(found) == len(self.values) == len(self.model)
        assert set(found) == self.model

    @invariant()
    def is_sound_and_within_the_limits(self) -> None:
        found = self.values.members
        if isinstance(found, bytes):
            intset.check(found)
            assert list(self.values) == sorted(self.model, key=int)
            assert len(self.model) <= self.limits.intset_entries
        elif isinstance(found, Listpack):
            found.check()
            assert len(self.model) <= self.limits.listpack_entries
            assert all(len(member) <= self.limits.listpack_value for member in self.model)
        else:
            found.check()


MemberSetMachine.TestCase.settings = SETTINGS
TestMemberSet = MemberSetMachine.TestCase
