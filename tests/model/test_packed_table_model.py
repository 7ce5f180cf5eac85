"""PackedTable compared with a dict, and scans while items are added and removed."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage import allocation
from storage.hash_table.packed_table import PackedTable
from tests.used_memory import used_at_start
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(25), stateful_step_count=30, deadline=None)

# Around the sizes where a text's length takes more bytes, and where it becomes far.
SIZES = [0, 1, 8, 126, 127, 128, 129, 255, 256, 510, 511, 512, 513, 3000]
names = st.integers(0, 1500).map(lambda n: b"%d" % n) | st.builds(
    lambda n, size: (b"%d:" % n).ljust(size, b"k"), st.integers(0, 9), st.sampled_from(SIZES)
)
values = st.binary(max_size=20) | st.builds(
    lambda byte, size: bytes([byte]) * size, st.integers(0, 255), st.sampled_from(SIZES)
)


class PackedTableMachine(RuleBasedStateMachine):
    """Sets and removes single items, and ranges of items so that segments split and merge."""

    @initialize(items=st.sampled_from([0, 160, 1000]))
    def fill(self, items: int) -> None:
        self.at_start = used_at_start()
        self.table = PackedTable()
        self.model: dict[bytes, bytes] = {}
        self.cursor = 0
        self.with_values = False
        self.must_see: set[bytes] = set()
        self.seen: list[bytes] = []
        self.set_many(0, items, 8)

    @rule(key=names, value=values)
    def set_one(self, key: bytes, value: bytes) -> None:
        assert self.table.set(key, value) == (key not in self.model)
        self.model[key] = value

    @rule(key=names)
    def pop_one(self, key: bytes) -> None:
        assert self.table.pop(key, b"none") == self.model.pop(key, b"none")
        self.must_see.discard(key)

    @rule(key=names)
    def discard_one(self, key: bytes) -> None:
        assert self.table.discard(key) == (self.model.pop(key, None) is not None)
        self.must_see.discard(key)

    @rule(first=st.integers(0, 1500), items=st.integers(0, 600), size=st.sampled_from(SIZES))
    def set_many(self, first: int, items: int, size: int) -> None:
        for n in range(first, first + items):
            self.set_one(b"%d" % n, (b"%d" % n).rjust(size, b"0"))

    @rule(first=st.integers(0, 1500), items=st.integers(0, 1500))
    def discard_many(self, first: int, items: int) -> None:
        for n in range(first, first + items):
            self.discard_one(b"%d" % n)

    @rule(key=names)
    def look_up(self, key: bytes) -> None:
        assert self.table.get(key) == self.model.get(key)
        assert self.table.get(key, b"none") == self.model.get(key, b"none")
        assert (key in self.table) == (key in self.model)

    @rule(count=st.sampled_from([1, 2, 10, 100, 1000]), with_values=st.booleans())
    def scan_a_page(self, count: int, with_values: bool) -> None:
        """A scan returns each key once that exists from its begin to its end."""
        if self.cursor == 0:
            self.must_see = set(self.model)
            self.seen = []
        if with_values:
            self.cursor, flat = self.table.scan_items(self.cursor, count)
            page = flat[::2]
            assert flat[1::2] == [self.model[key] for key in page]
        else:
            self.cursor, page = self.table.scan(self.cursor, count)
        assert set(page) <= set(self.model)
        self.seen += page
        if self.cursor == 0:
            assert self.must_see <= set(self.seen)
            assert all(self.seen.count(key) == 1 for key in self.must_see)

    @rule()
    def go_on_with_a_copy(self) -> None:
        self.table = self.table.copy()

    @rule()
    def clear(self) -> None:
        self.table.clear()
        self.model.clear()
        self.must_see.clear()

    @rule()
    def check_everything(self) -> None:
        self.table.check()
        walk = self.table.iterate()
        walked = []
        while walk.next():
            walked.append((walk.key(), walk.value()))
        assert len(walked) == len(self.model)
        assert dict(walked) == self.model
        assert set(self.table) == set(self.model)

    @invariant()
    def agrees_with_the_model(self) -> None:
        assert len(self.table) == len(self.model)
        assert dict(self.table.items()) == self.model

    def teardown(self) -> None:
        if hasattr(self, "table"):
            self.check_everything()
            assert allocation.used_bytes() > self.at_start
            del self.table
            assert allocation.used_bytes() == self.at_start


PackedTableMachine.TestCase.settings = SETTINGS
TestPackedTable = PackedTableMachine.TestCase
