"""EvictionPool: which keys enter, which one leaves, and how good the choice is."""

from __future__ import annotations

from collections import Counter

import pytest

from storage.chance import Chance
from storage.keyspace.eviction_pool import EvictionPool
from storage.keyspace.eviction_rank import BY_EXPIRY, BY_FREQUENCY, BY_IDLE_TIME
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from tests.worth import rounds

NOW_S = 1_700_000_000
ALL = 1000  # more than any database here has: all keys are in a sample


@pytest.fixture
def events() -> KeyEvents:
    events = KeyEvents()
    events.clock.now_ms = 1000 * NOW_S
    return events


@pytest.fixture
def db(events: KeyEvents) -> Keyspace:
    return Keyspace(0, events)


@pytest.fixture
def pool(events: KeyEvents) -> EvictionPool:
    return EvictionPool(events.usage, Chance(1))


def fill(db: Keyspace, keys: int) -> None:
    """Make *keys* keys: the key n has been idle for n s."""
    for n in range(keys):
        db.add(b"%d" % n, b"v")
        db.set_usage(b"%d" % n, n, -1)


def taken(pool: EvictionPool) -> list[bytes]:
    keys = []
    while (candidate := pool.take()) is not None:
        keys.append(candidate.key)
    return keys


def test_an_empty_database_gives_no_candidate(pool: EvictionPool, db: Keyspace) -> None:
    pool.sample(db, False, 5)
    pool.sample(db, True, 5)
    assert (len(pool), pool.take()) == (0, None)


def test_the_one_that_was_not_used_for_the_longest_time_leaves_first(
    pool: EvictionPool, db: Keyspace
) -> None:
    fill(db, 12)
    pool.sample(db, False, ALL)
    assert taken(pool) == [b"%d" % n for n in reversed(range(12))]


def test_the_pool_keeps_the_16_best(pool: EvictionPool, db: Keyspace) -> None:
    fill(db, 400)
    pool.sample(db, False, ALL)
    assert taken(pool) == [b"%d" % n for n in range(399, 383, -1)]


def test_by_frequency_the_rarest_leaves_first(
    pool: EvictionPool, db: Keyspace, events: KeyEvents
) -> None:
    events.usage.counts = True
    pool.rank_by(BY_FREQUENCY)
    for key, frequency in ((b"rare", 1), (b"common", 9), (b"busy", 255)):
        db.add(key, b"v")
        db.set_usage(key, -1, frequency)
    pool.sample(db, False, ALL)
    assert taken(pool) == [b"rare", b"common", b"busy"]


def test_by_expiry_the_next_to_expire_leaves_first(pool: EvictionPool, db: Keyspace) -> None:
    pool.rank_by(BY_EXPIRY)
    fill(db, 4)
    for key, when_ms in ((b"1", 2**62), (b"2", 5), (b"3", 1000 * NOW_S)):
        db.expire_at(key, when_ms)
    pool.sample(db, True, ALL)
    assert taken(pool) == [b"2", b"3", b"1"]


def test_volatile_keys_are_ranked_by_the_same_last_uses(pool: EvictionPool, db: Keyspace) -> None:
    fill(db, 9)
    for key in (b"7", b"2", b"4"):
        db.expire_at(key, 2**50)
    pool.sample(db, True, ALL)
    assert taken(pool) == [b"7", b"4", b"2"]


def test_a_candidate_that_was_used_since_is_passed_over(pool: EvictionPool, db: Keyspace) -> None:
    fill(db, 5)
    pool.sample(db, False, ALL)
    db.find(b"4", ANY)
    db.remove(b"3")
    assert taken(pool) == [b"2", b"1", b"0"]


def test_a_candidate_that_no_longer_expires_is_passed_over(
    pool: EvictionPool, db: Keyspace
) -> None:
    pool.rank_by(BY_EXPIRY)
    fill(db, 3)
    for n in range(3):
        db.expire_at(b"%d" % n, 100 + n)
    pool.sample(db, True, ALL)
    db.persist(b"0")
    db.expire_at(b"1", 500)
    assert taken(pool) == [b"2"]


def test_another_ranking_begins_anew(pool: EvictionPool, db: Keyspace) -> None:
    fill(db, 5)
    pool.sample(db, False, ALL)
    pool.rank_by(BY_IDLE_TIME)
    assert len(pool) == 0


def test_all_databases_share_the_pool(pool: EvictionPool, db: Keyspace, events: KeyEvents) -> None:
    other = Keyspace(1, events)
    for index, database in enumerate((db, other)):
        fill(database, 2)
        database.set_usage(b"1", 10 + index, -1)
        pool.sample(database, False, ALL)
    first = pool.take()
    assert first is not None
    assert (first.database, first.key) == (other, b"1")


def test_each_key_is_sampled_as_often_as_any_other(pool: EvictionPool, db: Keyspace) -> None:
    """1000 keys of one age, and many samples of five: each key is in about as many of them."""
    samples = rounds(40_000)
    for n in range(1000):
        db.add(b"key:%d" % n, b"v")
    counts: Counter[bytes] = Counter()
    for _ in range(samples):
        pool.sample(db, False, 5)
        counts.update(taken(pool))
    assert len(counts) == 1000
    mean = samples * 5 / 1000
    assert min(counts.values()) > mean - 5 * mean**0.5
    assert max(counts.values()) < mean + 6 * mean**0.5


def test_of_5_samples_nearly_all_evictions_are_of_the_older_half(
    pool: EvictionPool, db: Keyspace
) -> None:
    """As with Redis's pool: of 2000 keys, half are evicted, and few of the younger half."""
    fill(db, 2000)
    evicted = []
    for _ in range(1000):
        pool.sample(db, False, 5)
        candidate = pool.take()
        assert candidate is not None
        db.remove(candidate.key)
        evicted.append(int(candidate.key))
    assert sum(n < 1000 for n in evicted) < 100
    assert sum(n < 500 for n in evicted) < 5
