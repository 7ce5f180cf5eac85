"""One database: lookups, expiry, and what the journal hears."""

from __future__ import annotations

import pytest

from storage.errors import WrongType
from storage.keyspace.journal import Journal
from storage.keyspace.keyspace import NO_EXPIRY, Keyspace
from storage.lists.quicklist import QuickList


class Heard(Journal):
    """A journal that remembers what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, bytes]] = []

    def touched(self, db: int, key: bytes, event: bytes) -> None:
        self.told.append((event.decode(), key))

    def noted(self, db: int, key: bytes, event: bytes) -> None:
        self.told.append((f"{event.decode()}, noted", key))

    def ready(self, db: int, key: bytes) -> None:
        self.told.append(("ready", key))

    def gone(self, db: int, key: bytes) -> None:
        self.told.append(("gone", key))


@pytest.fixture
def journal() -> Heard:
    journal = Heard()
    journal.now_ms = 1000
    return journal


@pytest.fixture
def db(journal: Heard) -> Keyspace:
    return Keyspace(0, journal)


def test_a_missing_key_is_none_whatever_kind_is_wanted(db: Keyspace) -> None:
    assert db.get(b"k") is None
    assert db.find(b"k", QuickList) is None
    assert db.find_string(b"k") is None
    assert db.kind_at(b"k") is None


def test_a_key_of_another_kind_is_refused(db: Keyspace) -> None:
    db.add(b"l", QuickList())
    db.add(b"s", b"text")
    with pytest.raises(WrongType):
        db.find_string(b"l")
    with pytest.raises(WrongType):
        db.find(b"s", QuickList)


@pytest.mark.parametrize("value", [b"text", bytearray(b"raw"), 7])
def test_all_forms_of_a_string_are_strings(db: Keyspace, value: bytes | bytearray | int) -> None:
    db.add(b"k", value)
    assert db.find_string(b"k") == value
    assert db.kind_at(b"k") is bytes


def test_a_key_is_idle_since_it_was_written_or_looked_up(db: Keyspace, journal: Heard) -> None:
    db.add(b"k", b"v")
    journal.now_ms = 61_999
    assert db.idle_s(b"k") == 60
    assert db.peek(b"k") == db.look_at(b"k") == b"v"
    assert db.idle_s(b"k") == 60
    db.get(b"k")
    assert db.idle_s(b"k") == 0
    journal.now_ms = 0  # the clock was put back
    assert db.idle_s(b"k") == 0
    assert db.idle_s(b"none") == -1


def test_while_nothing_is_to_be_touched_only_writes_count_as_use(
    db: Keyspace, journal: Heard
) -> None:
    db.add(b"k", b"v")
    journal.now_ms = 5000
    journal.no_touch = True
    assert db.get(b"k") == b"v"
    assert db.idle_s(b"k") == 4
    db.put(b"k", b"w")
    assert db.idle_s(b"k") == 0


def test_the_idle_time_can_be_set(db: Keyspace, journal: Heard) -> None:
    journal.now_ms = 1_700_000_000_000
    db.add(b"k", b"v")
    db.set_idle(b"k", 500)
    assert db.idle_s(b"k") == 500
    db.set_idle(b"k", 10**10)
    assert db.idle_s(b"k") == 1_700_000_000
    db.set_idle(b"none", 5)
    assert b"none" not in db


def test_reads_count_hits_and_misses_and_writes_do_not(db: Keyspace, journal: Heard) -> None:
    db.add(b"k", b"v")
    db.read_string(b"k")
    db.read_string(b"none")
    db.find_string(b"k")
    assert (journal.hits, journal.misses) == (1, 1)


def test_a_key_lives_up_to_its_last_millisecond(db: Keyspace, journal: Heard) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 1500)
    journal.now_ms = 1500
    assert b"k" in db
    journal.now_ms = 1501
    assert b"k" not in db
    assert len(db) == 0
    assert journal.expired == 1


def test_an_expired_key_is_told_as_gone_and_as_expired(db: Keyspace, journal: Heard) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 1)
    journal.told.clear()
    db.get(b"k")
    assert journal.told == [("ready", b"k"), ("gone", b"k"), ("expired", b"k")]


def test_writing_over_a_key_that_is_past_its_time_expires_it_first(
    db: Keyspace, journal: Heard
) -> None:
    db.add(b"k", b"old")
    db.expire_at(b"k", 1)
    db.put(b"k", b"new", keep_expiry=True)
    assert ("expired", b"k") in journal.told
    assert db.expiry(b"k") == NO_EXPIRY
    assert db.find_string(b"k") == b"new"


def test_put_drops_the_expiry_unless_it_is_kept(db: Keyspace) -> None:
    db.add(b"k", b"v")
    db.expire_at(b"k", 9000)
    db.put(b"k", b"w", keep_expiry=True)
    assert db.expiry(b"k") == 9000
    db.put(b"k", b"x")
    assert db.expiry(b"k") == NO_EXPIRY


def test_removing_a_key_forgets_its_expiry(db: Keyspace) -> None:
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


def test_keys_and_random_key_leave_out_what_is_past_its_time(db: Keyspace) -> None:
    db.add(b"dead", b"v")
    db.add(b"alive", b"v")
    db.expire_at(b"dead", 1)
    assert list(db.keys()) == [b"alive"]
    assert {db.random_key(lambda below: below - 1) for _ in range(5)} == {b"alive"}


def test_a_scan_meets_every_key_once(db: Keyspace) -> None:
    names = {b"key:%d" % n for n in range(1000)}
    for name in names:
        db.add(name, b"v")
    cursor, seen = db.scan(0, 10)
    while cursor:
        cursor, page = db.scan(cursor, 10)
        seen += page
    assert len(seen) == len(names)
    assert set(seen) == names


def test_swapped_databases_exchange_keys_and_expiries(db: Keyspace, journal: Heard) -> None:
    other = Keyspace(1, journal)
    db.add(b"k", b"v")
    db.expire_at(b"k", 9000)
    db.swap(other)
    assert len(db) == 0
    assert (other.get(b"k"), other.expiry(b"k")) == (b"v", 9000)


def test_clear_says_how_many_keys_there_were(db: Keyspace) -> None:
    db.add(b"a", b"v")
    db.add(b"b", b"v")
    assert db.clear() == 2
    assert len(db) == 0


def test_touched_counts_changes(db: Keyspace, journal: Heard) -> None:
    db.touched(b"k", b"rpush", 3)
    assert journal.changes == 3
    assert journal.told == [("rpush", b"k")]


def test_what_is_noted_counts_as_a_change_but_touches_nothing(db: Keyspace, journal: Heard) -> None:
    db.noted(b"k", b"xsetid", 2)
    assert journal.changes == 2
    assert journal.told == [("xsetid, noted", b"k")]
