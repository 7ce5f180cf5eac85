"""What is freed lazily, and what is measured, when a key expires or is evicted."""

from __future__ import annotations

from itertools import count

import pytest

from server.config.parameters import Config
from server.observe.key_removals import KeyRemovals
from server.observe.latency_events import LatencyEvents
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from storage.limits import SetLimits
from storage.sets.member_set import MemberSet


class Events(KeyEvents):
    """A clock that the test moves by 7 ms at each look measures what is removed."""

    def __init__(self) -> None:
        super().__init__()
        self.latency_events = LatencyEvents()
        self.removals = KeyRemovals(self, self.latency_events, count(0, 7_000_000).__next__)

    def configure(self, **parameters: object) -> None:
        config = Config()
        for name, value in parameters.items():
            setattr(config, name, value)
        self.latency_events.configured(config)
        self.removals.configured(config)

    def removal_began(self) -> None:
        self.removals.began()

    def removal_ended(self, name: bytes) -> None:
        self.removals.ended(name)


def a_key_of(events: Events) -> Keyspace:
    db = Keyspace(0, events)
    events.clock.now_ms = 5000
    db.add(b"k", a_large_set())
    db.expire_at(b"k", 6000)
    return db


def test_the_removal_of_a_key_that_a_look_up_finds_expired_is_measured() -> None:
    events = Events()
    events.configure(latency_monitor_threshold=5)
    db = a_key_of(events)
    events.clock.now_ms = 7000
    assert db.find(b"k", ANY) is None
    assert list(events.latency_events.series[b"expire-del"].samples) == [(7, 7)]


def test_the_removal_of_an_evicted_key_is_measured() -> None:
    events = Events()
    events.configure(latency_monitor_threshold=5)
    a_key_of(events).evict(b"k")
    assert list(events.latency_events.series[b"eviction-del"].samples) == [(5, 7)]


def test_nothing_is_measured_while_no_latencies_are_monitored() -> None:
    events = Events()
    events.configure(latency_monitor_threshold=0)
    a_key_of(events).evict(b"k")
    assert not events.measures_removals
    assert not events.latency_events.series


@pytest.mark.parametrize("lazily", [False, True])
def test_a_large_value_that_expires_is_counted_if_it_is_freed_lazily(lazily: bool) -> None:
    events = Events()
    events.configure(lazyfree_lazy_expire=lazily)
    a_key_of(events).expire_now(b"k")
    assert events.freeing.count == lazily


@pytest.mark.parametrize("lazily", [False, True])
def test_a_large_value_that_is_evicted_is_counted_if_it_is_freed_lazily(lazily: bool) -> None:
    events = Events()
    events.configure(lazyfree_lazy_eviction=lazily)
    a_key_of(events).evict(b"k")
    assert events.freeing.count == lazily


def a_large_set() -> MemberSet:
    value = MemberSet()
    for number in range(600):
        value.add(b"member%d" % number, SetLimits())
    return value
