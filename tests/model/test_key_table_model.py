"""KeyTable compared with a dict, and scans while keys are added and removed."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.keyspace.key_table import KeyTable
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)

names = st.integers(0, 1500).map(lambda n: b"%d" % n + b"k" * (n * 7 % 700 if n % 50 == 0 else 0))
sizes = st.sampled_from([0, 1, 8, 20, 127, 128, 511, 512, 900])
values = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    sizes.map(lambda size: b"v" * size),
    sizes.map(bytearray),
)


class KeyTableMachine(RuleBasedStateMachine):
    """Sets and removes single keys, and ranges of keys so that segments split and merge."""

    @initialize(keys=st.sampled_from([0, 160, 1000]))
    def fill(self, keys: int) -> None:
        self.table = KeyTable()
        self.model: dict[bytes, object] = {}
        self.last_uses: dict[bytes, int] = {}
        self.cursor = 0
        self.must_see: set[bytes] = set()
        self.seen: list[bytes] = []
        self.insert_many(0, keys)

    @rule(key=names, value=values, last_use=st.integers(0, 2**32 - 1))
    def set_one(self, key: bytes, value: object, last_use: int) -> None:
        self.table.set(key, value, last_use)
        self.model[key] = value
        self.last_uses[key] = last_use

    @rule(key=names)
    def pop_one(self, key: bytes) -> None:
        assert self.table.pop(key, -1) == self.model.pop(key, -1)
        self.must_see.discard(key)

    @rule(key=names)
    def discard_one(self, key: bytes) -> None:
        assert self.table.discard(key) == (self.model.pop(key, None) is not None)
        self.must_see.discard(key)

    @rule(first=st.integers(0, 1500), keys=st.integers(0, 600))
    def insert_many(self, first: int, keys: int) -> None:
        for n in range(first, first + keys):
            self.set_one(b"%d" % n, n if n % 3 else b"%d" % n, n)

    @rule(first=st.integers(0, 1500), keys=st.integers(0, 1500))
    def pop_many(self, first: int, keys: int) -> None:
        for n in range(first, first + keys):
            self.pop_one(b"%d" % n)

    @rule(key=names, last_use=st.integers(0, 2**32 - 1))
    def use_one(self, key: bytes, last_use: int) -> None:
        assert self.table.use(key, last_use) == self.model.get(key)
        if key in self.model:
            self.last_uses[key] = last_use

    @rule(key=names)
    def look_up(self, key: bytes) -> None:
        assert self.table.get(key) == self.model.get(key)
        assert (key in self.table) == (key in self.model)
        assert self.table.last_use_of(key) == (self.last_uses[key] if key in self.model else -1)

    @rule(count=st.sampled_from([1, 2, 10, 100, 1000]))
    def scan_a_page(self, count: int) -> None:
        """A scan returns each key once that exists from its begin to its end."""
        if self.cursor == 0:
            self.must_see = set(self.model)
            self.seen = []
        self.cursor, page = self.table.scan(self.cursor, count)
        assert set(page) <= set(self.model)
        self.seen += page
        if self.cursor == 0:
            assert self.must_see <= set(self.seen)
            assert all(self.seen.count(key) == 1 for key in self.must_see)

    @invariant()
    def is_whole(self) -> None:
        self.table.check()

    @invariant()
    def agrees_with_the_model(self) -> None:
        assert len(self.table) == len(self.model)
        assert dict(self.table.items()) == self.model
        assert set(self.table) == set(self.model)


KeyTableMachine.TestCase.settings = SETTINGS
TestKeyTable = KeyTableMachine.TestCase
