"""Hash compared with a dict, while it is a listpack, a table, and when it becomes one."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.chance import Chance
from storage.hashes.hash import Hash
from storage.limits import ListpackLimits
from storage.payload import dump, restore
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(60), stateful_step_count=30, deadline=None)

fields = st.one_of(
    st.integers(-3, 12).map(lambda n: b"%d" % n),
    st.sampled_from([0, 10, 64, 65, 511, 512, 5000]).map(lambda size: b"f" * size),
    st.binary(max_size=2),
)
texts = fields | st.integers(-(2**63), 2**63).map(lambda n: b"%d" % n)


class HashMachine(RuleBasedStateMachine):
    """Every operation on any field; a scan goes on all the time."""

    @initialize(
        entries=st.sampled_from([0, 1, 5, 30]),
        value=st.sampled_from([0, 3, 64, 10_000]),
        seed=st.integers(0, 9),
    )
    def begin(self, entries: int, value: int, seed: int) -> None:
        self.chance = Chance(seed)
        self.limits = ListpackLimits(entries, value)
        self.hash = Hash()
        self.model: dict[bytes, bytes] = {}
        self.was_table = False
        self._begin_scan()

    def _begin_scan(self) -> None:
        self.cursor = 0
        self.stayed = set(self.model)  # since the scan began
        self.found: list[bytes] = []

    @rule(field=fields, text=texts)
    def set(self, field: bytes, text: bytes) -> None:
        assert self.hash.set(field, text, self.limits) == (field not in self.model)
        self.model[field] = text

    @rule(first=st.integers(0, 90), count=st.integers(0, 40))
    def put_many(self, first: int, count: int) -> None:
        pairs = {b"n%d" % n: b"%d" % n for n in range(first, first + count)}
        words = [word for pair in pairs.items() for word in pair]
        assert self.hash.put(words, 0, self.limits) == len(pairs.keys() - self.model.keys())
        self.model |= pairs

    @rule(field=fields)
    def remove(self, field: bytes) -> None:
        assert self.hash.remove(field) == (self.model.pop(field, None) is not None)
        self.stayed.discard(field)

    @rule(count=st.integers(0, 60))
    def remove_many(self, count: int) -> None:
        for field in sorted(self.model)[:count]:
            self.remove(field)

    @rule(field=fields)
    def look_up(self, field: bytes) -> None:
        assert self.hash.get(field) == self.model.get(field)
        assert self.hash.has(field) == (field in self.model)

    @rule(count=st.integers(1, 50))
    def scan_a_page(self, count: int) -> None:
        """A field that stays while a scan goes on is found, whatever becomes of the hash."""
        self.cursor, page = self.hash.scan(self.cursor, count)
        self.found += page[::2]
        for field, text in zip(page[::2], page[1::2], strict=True):
            assert self.model[field] == text
        if self.cursor == 0:
            assert self.stayed <= set(self.found)
            self._begin_scan()

    @rule(count=st.integers(0, 20))
    def sample(self, count: int) -> None:
        sample = self.hash.sample(self.chance, min(count, len(self.model)))
        assert len(dict(sample)) == len(sample) == min(count, len(self.model))
        assert dict(sample).items() <= self.model.items()

    @rule()
    def copy(self) -> None:
        other = self.hash.copy()
        assert other.encoding == self.hash.encoding
        self.hash.set(b"only here", b"", self.limits)
        self.hash = other

    @rule()
    def save_and_load(self) -> None:
        if self.model:
            assert dict(restore(dump(self.hash))) == self.model

    @rule(entries=st.integers(0, 50))
    def other_limits(self, entries: int) -> None:
        self.limits = ListpackLimits(entries, self.limits.value)

    @invariant()
    def agrees_with_the_model(self) -> None:
        assert len(self.hash) == len(self.model)
        assert dict(self.hash) == self.model
        assert len(list(self.hash)) == len(self.model)

    @invariant()
    def is_a_table_once_and_for_all(self) -> None:
        is_table = self.hash.encoding == b"hashtable"
        assert is_table or not self.was_table
        self.was_table = is_table
        if self.hash.pack is not None:
            self.hash.pack.check()
            assert list(self.hash) == list(self.model.items())
        elif self.hash.table is not None:
            self.hash.table.check()


HashMachine.TestCase.settings = SETTINGS
TestHash = HashMachine.TestCase
