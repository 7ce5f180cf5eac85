"""A hash of which fields expire compared with two dicts, in both of its forms."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.chance import Chance
from storage.hashes.hash import Hash
from storage.hashes.timed_fields import NO_EXPIRY
from storage.hashes.triplets import Triplets
from storage.limits import ListpackLimits
from storage.payload import dump, restore
from storage.rdb.options import ReadOptions
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(60), stateful_step_count=30, deadline=None)

fields = st.integers(-3, 12).map(lambda n: b"%d" % n) | st.sampled_from(
    [b"", b"f" * 64, b"f" * 65, b"f" * 5000]
)
texts = fields | st.binary(max_size=3)
times = st.integers(1, 20) | st.integers(1, 2**46 - 1) | st.just(NO_EXPIRY)


class TimedHashMachine(RuleBasedStateMachine):
    """Every operation on any field; the clock is a number that each step is given."""

    @initialize(entries=st.sampled_from([0, 1, 5, 30]), value=st.sampled_from([3, 64]))
    def begin(self, entries: int, value: int) -> None:
        self.limits = ListpackLimits(entries, value)
        self.hash = Hash()
        self.model: dict[bytes, bytes] = {}
        self.times: dict[bytes, int] = {}

    @rule(field=fields, text=texts)
    def set(self, field: bytes, text: bytes) -> None:
        assert self.hash.set(field, text, self.limits) == (field not in self.model)
        self.model[field] = text
        self.times.pop(field, None)

    @rule(field=fields, text=texts)
    def set_keeping_time(self, field: bytes, text: bytes) -> None:
        is_new = self.hash.set_keeping_time(field, text, self.limits)
        assert is_new == (field not in self.model)
        self.model[field] = text

    @rule(first=st.integers(0, 90), count=st.integers(0, 40))
    def put_many(self, first: int, count: int) -> None:
        pairs = {b"%d" % n: b"v%d" % n for n in range(first, first + count)}
        words = [word for pair in pairs.items() for word in pair]
        assert self.hash.put(words, 0, self.limits) == len(pairs.keys() - self.model.keys())
        self.model |= pairs
        for field in pairs:
            self.times.pop(field, None)

    @rule(field=fields, when_ms=times)
    def expire_at(self, field: bytes, when_ms: int) -> None:
        if field in self.model:
            self.hash.expire_at(field, when_ms)
            self.times.pop(field, None)
            if when_ms != NO_EXPIRY:
                self.times[field] = when_ms

    @rule(field=fields)
    def remove(self, field: bytes) -> None:
        assert self.hash.remove(field) == (self.model.pop(field, None) is not None)
        self.times.pop(field, None)

    @rule(now_ms=st.integers(0, 30), most=st.integers(1, 9))
    def remove_what_is_due(self, now_ms: int, most: int) -> None:
        if self.hash.timed is None:
            return
        due = self.hash.timed.due(now_ms, most)
        expected = sorted(when_ms for when_ms in self.times.values() if when_ms < now_ms)[:most]
        assert [self.times[field] for field in due] == expected
        for field in due:
            self.remove(field)

    @rule(count=st.integers(0, 20), seed=st.integers(0, 9), before=st.sampled_from([0, 10]))
    def sample(self, count: int, seed: int, before: int) -> None:
        dead = frozenset(field for field, when_ms in self.times.items() if when_ms < before)
        live = self.model.keys() - dead
        chance = Chance(seed)
        found = dict(self.hash.sample(chance, count, dead))
        assert found.keys() <= live
        assert len(found) == min(count, len(live))
        if live:
            assert next(self.hash.draws(chance, dead))[0] in live

    @rule()
    def copy(self) -> None:
        other = self.hash.copy()
        self.hash.set(b"only here", b"", self.limits)
        self.hash = other

    @rule()
    def save_and_load(self) -> None:
        if self.model:
            loaded = restore(dump(self.hash), ReadOptions(hash_limits=self.limits))
            assert dict(loaded) == self.model
            assert loaded.next_expiry() == self.hash.next_expiry()
            assert {field: loaded.expiry(field) for field in self.times} == self.times
            self.hash = loaded

    @rule(entries=st.integers(0, 50))
    def other_limits(self, entries: int) -> None:
        self.limits = ListpackLimits(entries, self.limits.value)

    @invariant()
    def agrees_with_the_model(self) -> None:
        value = self.hash
        assert len(value) == len(self.model)
        assert dict(value) == self.model
        assert value.next_expiry() == min(self.times.values(), default=NO_EXPIRY)
        for field, text in self.model.items():
            assert value.get(field) == text
            assert value.expiry(field) == self.times.get(field, NO_EXPIRY)
        _, page = value.scan(0, 1000)
        assert dict(zip(page[::2], page[1::2], strict=True)) == self.model

    @invariant()
    def has_one_form(self) -> None:
        value = self.hash
        assert [value.pack, value.table, value.timed].count(None) == 2
        if isinstance(value.timed, Triplets):
            value.timed.pack.check()
            value.timed.check()
            assert value.encoding == b"listpackex"


TimedHashMachine.TestCase.settings = SETTINGS
TestTimedHash = TimedHashMachine.TestCase
