"""Keys with a time to expire at that clients have made on a writable replica."""

from __future__ import annotations

from server.parts.expiry.replica_expiry import PAGE, ReplicaExpiry
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace


class Site:
    """Databases whose clock the test sets, and the keys that are noted."""

    def __init__(self) -> None:
        self.events = KeyEvents()
        self.databases = [Keyspace(index, self.events) for index in range(2)]
        self.expiry = ReplicaExpiry()

    def add(self, key: bytes, when_ms: int, db: int = 0) -> None:
        self.databases[db].add(key, b"v")
        self.databases[db].expire_at(key, when_ms)
        self.expiry.note(db, key)

    def run(self, now_ms: int) -> list[bytes]:
        """One tick; the keys that are left."""
        self.events.clock.now_ms = now_ms
        self.expiry.run(self.databases, now_ms, lambda: 0.0)
        return sorted(key for db in self.databases for key in db.table)


def test_what_is_due_is_removed_and_the_rest_stays() -> None:
    site = Site()
    site.add(b"a", 10)
    site.add(b"b", 20, db=1)
    assert site.run(10) == [b"a", b"b"]
    assert site.run(11) == [b"b"]
    assert len(site.expiry) == 1
    assert site.run(21) == []
    assert len(site.expiry) == 0
    assert site.events.expired == 2


def test_a_key_that_is_gone_or_lives_on_is_forgotten() -> None:
    site = Site()
    site.add(b"gone", 10)
    site.add(b"persists", 10)
    site.add(b"later", 10)
    site.databases[0].remove(b"gone")
    site.databases[0].persist(b"persists")
    site.databases[0].expire_at(b"later", 30)
    assert site.run(20) == [b"later", b"persists"]
    assert len(site.expiry) == 1
    assert site.run(31) == [b"persists"]


def test_many_that_are_due_go_in_one_tick_and_those_behind_them_come_next() -> None:
    site = Site()
    for number in range(PAGE):
        site.add(b"late:%d" % number, 1000)
    for number in range(3 * PAGE):
        site.add(b"due:%d" % number, 10)
    assert len(site.run(20)) == 4 * PAGE  # those that have waited longest are not due
    assert len(site.run(20)) == PAGE
