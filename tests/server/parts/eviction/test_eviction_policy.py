"""The policies by their names."""

from __future__ import annotations

from server.config.parameters import POLICIES
from server.parts.eviction.eviction_policy import ANY, Policy, policy_named
from storage.keyspace.eviction_rank import BY_EXPIRY, BY_FREQUENCY, BY_IDLE_TIME


def test_each_policy_says_which_keys_are_evicted_and_what_ranks_them():
    assert {name: policy_named(name) for name in POLICIES} == {
        "noeviction": None,
        "allkeys-lru": Policy(False, BY_IDLE_TIME),
        "allkeys-lfu": Policy(False, BY_FREQUENCY),
        "allkeys-random": Policy(False, ANY),
        "volatile-lru": Policy(True, BY_IDLE_TIME),
        "volatile-lfu": Policy(True, BY_FREQUENCY),
        "volatile-random": Policy(True, ANY),
        "volatile-ttl": Policy(True, BY_EXPIRY),
        "allkeys-lrm": Policy(False, BY_IDLE_TIME, by_writes=True),
        "volatile-lrm": Policy(True, BY_IDLE_TIME, by_writes=True),
    }
