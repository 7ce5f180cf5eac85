"""Keyspace, one database: lookups, expiry, and the events that it reports."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from storage.errors import WrongType
from storage.hashes.hash import Hash
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY, STRING
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits
from storage.lists.quicklist import QuickList
from storage.sets.member_set import MemberSet


class RecordedEvents(KeyEvents):
    """Records the events of a database as (event, key)."""

    def __init__(self) -> None:
        super().__init__()
        self.recorded: list[tuple[str, bytes]] = []

    def changed(self, db: int, key: bytes, event: bytes | None, watched: bool) -> None:
        name = event.decode() if event else "no event"
        self.recorded.append((name if watched else f"{name}, not watched", key))

    def added(self, db: int, key: bytes) -> None:
        self.recorded.append(("added", key))

    def missed(self, db: int, key: bytes) -> None:
        self.recorded.append(("missed", key))

    def ready(self, db: int, key: bytes) -> None:
        self.recorded.append(("ready", key))

    def removed(self, db: int, key: bytes) -> None:
        self.recorded.append(("removed", key))

    def gone(self, db: int, key: bytes) -> None:
        self.recorded.append(("gone", key))

    def log(self, words: Sequence[bytes]) -> None:
        self.recorded.append((f"logged as {words!r}", b""))


@pytest.fixture
def events() -> RecordedEvents:
    events = RecordedEvents()
    events.clock.now_ms = 1000
    return events


@pytest.fixture
def db(events: RecordedEvents) -> Keyspace:
    return Keyspace(0, events)


def test_a_missing_key_is_none_for_every_type(db: Keyspace) -> None:
    assert db.find(b"k", ANY) is None
    assert db.find(b"k", QuickList) is None
    assert db.find(b"k", STRING) is None
    assert db.peek(b"k") is None


def test_a_key_of_another_type_raises_wrong_type(db: Keyspace) -> None:
    db.add(b"l", QuickList())
    db.add(b"s", b"text")
    with pytest.raises(WrongType):
        db.find(b"l", STRING)
    with pytest.raises(WrongType):
        db.find(b"s", QuickList)


@pytest.mark.parametrize("value", [b"text", bytearray(b"raw"), 7])
def test_bytes_bytearray_and_int_are_all_strings(
    db: Keyspace, value: bytes | bytearray | int
) -> None:
    db.add(b"k", value)
    assert db.find(b"k", STRING) == value
    assert db.read(b"k", STRING) == value


def test_a_key_is_idle_since_it_was_written_or_looked_up(
    db: Keyspace, events: RecordedEvents
) -> None:
    db.add(b"k", b"v")
    events.clock.now_ms = 61_999
    assert db.idle_s(b"k") == 60
    assert db.peek(b"k") == db.look_at(b"k") == b"v"
    assert db.idle_s(b"k") == 60
    db.find(b"k", ANY)
    assert db.idle_s(b"k") == 0
    events.clock.now_ms = 0  # the clock was set back
    assert db.idle_s(b"k") == 0
    assert db.idle_s(b"none") == -1


def test_with_no_touch_only_writes_count_as_use(db: Keyspace, events: RecordedEvents) -> None:
    db.add(b"k", b"v")
    events.clock.now_ms = 5000
    events.lookup.no_touch = True
    assert db.find(b"k", ANY) == b"v"
    assert db.idle_s(b"k") == 4
    db.put(b"k", b"w")
    assert db.idle_s(b"k") == 0


def test_the_idle_time_can_be_set(db: Keyspace, events: RecordedEvents) -> None:
    events.clock.now_ms = 1_700_000_000_000
    db.add(b"k", b"v")
    db.set_usage(b"k", 500, -1)
    assert db.idle_s(b"k") == 500
    db.set_usage(b"k", 10**10, -1)
    assert db.idle_s(b"k") == 1_700_000_000
    db.set_usage(b"none", 5, -1)
    assert b"none" not in db


def test_reads_count_hits_and_misses_and_writes_do_not(
    db: Keyspace, events: RecordedEvents
) -> None:
    db.add(b"k", b"v")
    db.read(b"k", STRING)
    db.read(b"none", STRING)
    db.find(b"k", STRING)
    assert (events.hits, events.misses) == (1, 1)
    with pytest.raises(WrongType):
        db.read(b"k", Hash)
    assert (events.hits, events.misses) == (2, 1)


def test_a_key_lives_up_to_its_last_millisecond(db: Keyspace, events: RecordedEvents) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 1500)
    events.clock.now_ms = 1500
    assert b"k" in db
    events.clock.now_ms = 1501
    assert b"k" not in db
    assert len(db) == 0
    assert events.expired == 1


def test_an_expired_key_reports_removed_gone_and_expired(
    db: Keyspace, events: RecordedEvents
) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 1)
    events.recorded.clear()
    db.find(b"k", ANY)
    assert events.recorded == [("removed", b"k"), ("gone", b"k"), ("expired", b"k")]


def test_overwriting_an_expired_key_expires_it_first(db: Keyspace, events: RecordedEvents) -> None:
    db.add(b"k", b"old")
    db.expire_at(b"k", 1)
    db.put(b"k", b"new", keep_expiry=True)
    assert ("expired", b"k") in events.recorded
    assert db.expiry(b"k") == NO_EXPIRY
    assert db.find(b"k", STRING) == b"new"


def test_put_drops_the_expiry_unless_it_is_kept(db: Keyspace) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 9000)
    db.put(b"k", b"w", keep_expiry=True)
    assert db.expiry(b"k") == 9000
    db.put(b"k", b"x")
    assert db.expiry(b"k") == NO_EXPIRY


def test_removing_a_key_removes_its_expiry(db: Keyspace) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 9000)
    assert db.remove(b"k")
    db.add(b"k", b"v")
    assert db.expiry(b"k") == NO_EXPIRY
    assert not db.remove(b"none")


def test_persist_says_whether_there_was_an_expiry(db: Keyspace) -> None:
    db.add(b"k", b"v")
    assert not db.persist(b"k")
    db.expire_at(b"k", 9000)
    assert db.persist(b"k")
    assert db.expiry(b"k") == NO_EXPIRY


def test_keys_and_random_key_leave_out_expired_keys(db: Keyspace) -> None:
    db.add(b"dead", b"v")
    db.add(b"alive", b"v")
    db.expire_at(b"dead", 1)
    assert list(db.keys()) == [b"alive"]
    assert {db.random_key() for _ in range(50)} == {b"alive"}


def test_a_scan_returns_every_key_once(db: Keyspace) -> None:
    names = {b"key:%d" % n for n in range(1000)}
    for name in names:
        db.add(name, b"v")
    cursor, seen = db.scan(0, 10)
    while cursor:
        cursor, page = db.scan(cursor, 10)
        seen += page
    assert len(seen) == len(names)
    assert set(seen) == names


def test_swapped_databases_exchange_keys_and_expiries(db: Keyspace, events: RecordedEvents) -> None:
    other = Keyspace(1, events)
    db.add(b"k", b"v")
    db.expire_at(b"k", 9000)
    db.swap(other)
    assert len(db) == 0
    assert (other.find(b"k", ANY), other.expiry(b"k")) == (b"v", 9000)


def test_clear_returns_how_many_keys_there_were(db: Keyspace) -> None:
    db.add(b"a", b"v")
    db.add(b"b", b"v")
    assert db.clear() == 2
    assert len(db) == 0


def test_a_change_is_counted_and_reported(db: Keyspace, events: RecordedEvents) -> None:
    db.changed(b"k", b"rpush", 3)
    assert events.changes == 3
    assert events.recorded == [("rpush", b"k")]


def test_a_change_can_wake_waiters_and_be_logged_as_another_command(
    db: Keyspace, events: RecordedEvents
) -> None:
    db.changed(b"k", b"xadd", 1, (b"XADD", b"k", b"5-1"), True)
    assert events.recorded == [
        ("xadd", b"k"),
        ("ready", b"k"),
        ("logged as (b'XADD', b'k', b'5-1')", b""),
    ]


def test_a_group_change_is_counted_though_watch_ignores_it(
    db: Keyspace, events: RecordedEvents
) -> None:
    db.group_changed(b"k", b"xsetid", 2)
    db.group_changed(b"k", None)
    assert events.changes == 3
    assert events.recorded == [("xsetid, not watched", b"k"), ("no event, not watched", b"k")]


def test_new_keys_are_told_only_when_asked_for(db: Keyspace, events: RecordedEvents) -> None:
    db.add(b"before", b"v")
    events.tells_new_keys = True
    db.add(b"a", b"v")
    db.put(b"b", b"v")
    db.put(b"b", b"w")
    db.replace(b"b", b"x")
    events.tells_new_keys = False
    db.put(b"after", b"v")
    told = [key for event, key in events.recorded if event == "added"]
    assert told == [b"a", b"b", b"b"]


def test_misses_are_told_only_when_asked_for(db: Keyspace, events: RecordedEvents) -> None:
    db.read(b"before", STRING)
    events.tells_misses = True
    db.add(b"k", b"v")
    for key in (b"k", b"none"):
        db.read(key, STRING)
        db.read(key, ANY)
        db.look_at(key)
        db.look_at(key, tells_misses=False)
        db.find(key, STRING)
        db.find(key, ANY)
    told = [key for event, key in events.recorded if event == "missed"]
    assert told == [b"none"] * 3
    assert (events.hits, events.misses) == (4, 5)


def test_a_key_that_is_replaced_loses_its_expiry(db: Keyspace, events: RecordedEvents) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 5000)
    db.replace(b"k", b"w")
    assert (db.find(b"k", ANY), db.expiry(b"k"), len(db)) == (b"w", NO_EXPIRY, 1)


def test_a_key_that_has_expired_is_gone_before_it_is_replaced(
    db: Keyspace, events: RecordedEvents
) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 10)
    events.recorded.clear()
    db.replace(b"k", b"w")
    assert events.recorded == [
        ("removed", b"k"), ("gone", b"k"), ("expired", b"k"), ("ready", b"k"),
    ]  # fmt: skip


def test_a_value_of_a_wrong_type_that_was_lent_is_not_overwritten_by_another(db: Keyspace) -> None:
    db.events.loose_keys.many = 0
    limits = ListpackLimits(128)
    for key in (b"one", b"two"):
        value = Hash()
        value.set(b"f", key, limits)
        db.add(key, value, packs=True)
    with pytest.raises(WrongType):
        db.lend(b"one", MemberSet)
    db.events.lookup.no_touch = True  # then a value is not lent
    two = db.lend(b"two", Hash)
    assert two is not None
    two.set(b"f", b"changed", limits)
    db.give_back(b"two", two)
    found = db.read(b"one", Hash)
    assert found is not None
    assert found.get(b"f") == b"one"
