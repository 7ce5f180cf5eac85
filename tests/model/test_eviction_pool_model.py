"""EvictionPool compared with the sorted list of what has entered it, while keys are used and go."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.chance import Chance
from storage.keyspace.eviction_pool import SIZE, EvictionPool
from storage.keyspace.eviction_rank import BY_EXPIRY, BY_FREQUENCY, BY_IDLE_TIME
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(40), stateful_step_count=30, deadline=None)
ALL = 1000

keys = st.integers(0, 40).map(lambda n: b"%d" % n)


class EvictionPoolMachine(RuleBasedStateMachine):
    """All keys are in each sample, so the pool holds the best of all keys that are unchanged."""

    @initialize(
        rank=st.sampled_from([BY_IDLE_TIME, BY_FREQUENCY, BY_EXPIRY]), volatile=st.booleans()
    )
    def begin(self, rank: int, volatile: bool) -> None:
        self.events = KeyEvents()
        self.events.clock.now_ms = 1_700_000_000_000
        self.events.usage.counts = rank == BY_FREQUENCY
        self.db = Keyspace(0, self.events)
        self.rank = rank
        self.volatile = volatile or rank == BY_EXPIRY
        self.pool = EvictionPool(self.events.usage, Chance(5))
        self.pool.rank_by(rank)

    @rule(key=keys, idle_s=st.integers(0, 50), frequency=st.integers(0, 255))
    def set_one(self, key: bytes, idle_s: int, frequency: int) -> None:
        self.db.put(key, b"v")
        self.db.set_usage(key, idle_s, frequency)

    @rule(key=keys, minutes=st.integers(1, 50))
    def expire_one(self, key: bytes, minutes: int) -> None:
        if self.db.peek(key) is not None:
            self.db.expire_at(key, self.events.clock.now_ms + minutes * 60_000)

    @rule(key=keys)
    def use_one(self, key: bytes) -> None:
        self.db.find(key, ANY)

    @rule(key=keys)
    def remove_one(self, key: bytes) -> None:
        self.db.remove(key)

    @rule(ms=st.integers(0, 100_000))
    def wait(self, ms: int) -> None:
        self.events.clock.now_ms += ms

    @rule()
    def sample(self) -> None:
        self.pool.sample(self.db, self.volatile, ALL)

    @rule()
    def sample_anew_and_take(self) -> None:
        """What is taken is as good as the best key there is."""
        self.pool.clear()
        self.pool.sample(self.db, self.volatile, ALL)
        candidate = self.pool.take()
        scores = {key: self.score(key) for key in self.db.table if self.may_go(key)}
        if candidate is None:
            assert not scores
        else:
            assert scores[candidate.key] == max(scores.values()) == candidate.score
            self.db.remove(candidate.key)

    def may_go(self, key: bytes) -> bool:
        return not self.volatile or self.db.expiry(key) != NO_EXPIRY

    def score(self, key: bytes) -> int:
        if self.rank == BY_EXPIRY:
            return -self.db.expiry(key)
        if self.rank == BY_FREQUENCY:
            return -self.db.frequency(key)
        return self.db.idle_s(key)

    @rule()
    def take_all(self) -> None:
        """The candidates leave in the order of their scores, and each of them is still there."""
        scores = []
        while (candidate := self.pool.take()) is not None:
            assert candidate.key in self.db.table
            scores.append(candidate.score)
        assert scores == sorted(scores, reverse=True)

    @invariant()
    def the_pool_is_bounded(self) -> None:
        if hasattr(self, "pool"):
            assert len(self.pool) <= SIZE


EvictionPoolMachine.TestCase.settings = SETTINGS
TestEvictionPool = EvictionPoolMachine.TestCase
