"""A key table of hashes and strings compared with dicts, while values are packed and changed."""

from __future__ import annotations

import functools
import gc

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage import allocation
from storage.hashes.hash import Hash
from storage.keyspace.key_table import KeyTable
from storage.keyspace.settings import LooseKeys
from storage.limits import ListpackLimits
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
LIMITS = ListpackLimits(20, 300)

keys = st.integers(0, 300).map(lambda n: b"%d" % n)
fields = st.integers(0, 30).map(lambda n: b"f%d" % n)
texts = st.sampled_from([0, 1, 7, 8, 100, 250, 301]).map(lambda size: b"v" * size)


@functools.cache
def collect_once() -> None:
    """Free what earlier tests have left in cycles: it would be freed during this one."""
    gc.collect()


class SmallValuesMachine(RuleBasedStateMachine):
    """Adds, changes, reads and removes values; whatever is loose may be packed between."""

    @initialize(keys=st.sampled_from([0, 100, 300]), many=st.sampled_from([0, 3, 1024]))
    def fill(self, keys: int, many: int) -> None:
        collect_once()
        self.before = allocation.used_bytes()
        self.all_loose = LooseKeys()
        self.all_loose.many = many
        self.table = KeyTable(self.all_loose)
        self.model: dict[bytes, bytes | dict[bytes, bytes]] = {}
        for n in range(keys):
            self.change(b"%d" % n, b"f1", b"v")

    @rule(key=keys, field=fields, text=texts)
    def change(self, key: bytes, field: bytes, text: bytes) -> None:
        value = self.table.get(key)
        if not isinstance(value, Hash):
            value = Hash()
            self.table.set(key, value)
            self.model[key] = {}
        value.set(field, text, LIMITS)
        model = self.model[key]
        assert isinstance(model, dict)
        model[field] = text

    @rule(key=keys, field=fields, text=texts)
    def change_lent(self, key: bytes, field: bytes, text: bytes) -> None:
        value, model = self.table.lend(key, 7), self.model.get(key)
        if isinstance(value, Hash) and isinstance(model, dict):
            value.set(field, text, LIMITS)
            model[field] = text
            self.table.give_back(key, value)
            assert self.table.last_use_of(key) == 7

    @rule(key=keys, field=fields)
    def remove_field(self, key: bytes, field: bytes) -> None:
        value, model = self.table.get(key), self.model.get(key)
        if isinstance(value, Hash) and isinstance(model, dict) and len(model) > 1:
            assert value.remove(field) == (model.pop(field, None) is not None)

    @rule(key=keys, text=texts)
    def set_text(self, key: bytes, text: bytes) -> None:
        self.table.set(key, text)
        self.model[key] = text

    @rule(key=keys)
    def discard(self, key: bytes) -> None:
        assert self.table.discard(key) == (self.model.pop(key, None) is not None)

    @rule(key=keys)
    def pop(self, key: bytes) -> None:
        assert plain(self.table.pop(key)) == self.model.pop(key, None)

    @rule(count=st.sampled_from([1, 50, 1000]))
    def pack(self, count: int) -> None:
        self.table.pack(count)

    @invariant()
    def agrees_with_the_model(self) -> None:
        self.table.check()
        assert {key: plain(value) for key, value in self.table.items()} == self.model
        assert self.all_loose.count == self.table.loose

    def teardown(self) -> None:
        if hasattr(self, "table"):
            del self.table
            assert self.all_loose.count == 0
            assert allocation.used_bytes() == self.before


def plain(value: object) -> object:
    return dict(value) if isinstance(value, Hash) else value


SmallValuesMachine.TestCase.settings = SETTINGS
TestSmallValues = SmallValuesMachine.TestCase
