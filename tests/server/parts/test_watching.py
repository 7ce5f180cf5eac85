"""The registry of watched keys."""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.observe.memory import Memory
from server.parts.watching import Watching
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace


@pytest.fixture
def db():
    return Keyspace(0, KeyEvents())


def test_unwatch_forgets_a_key_that_was_watched_twice(db):
    watching, client = Watching(Memory()), Client(1, 0)
    watching.watch(client, db, b"a")
    watching.watch(client, db, b"a")
    watching.unwatch(client)
    assert (watching.watchers, client.watching) == ({}, {})


def test_a_touched_key_marks_every_client_that_watches_it(db):
    watching, clients = Watching(Memory()), [Client(n, 0) for n in range(3)]
    for client in clients[:2]:
        watching.watch(client, db, b"a")
    watching.touched(0, b"a")
    assert [client.dirty_watch for client in clients] == [True, True, False]


def test_unwatch_leaves_the_other_clients(db):
    watching, first, second = Watching(Memory()), Client(1, 0), Client(2, 0)
    watching.watch(first, db, b"a")
    watching.watch(second, db, b"a")
    watching.unwatch(first)
    watching.touched(0, b"a")
    assert (first.dirty_watch, second.dirty_watch) == (False, True)


def test_unwatch_clears_the_mark(db):
    watching, client = Watching(Memory()), Client(1, 0)
    watching.watch(client, db, b"a")
    watching.touched(0, b"a")
    watching.unwatch(client)
    assert not client.dirty_watch


def test_emptying_a_database_marks_the_clients_that_watch_an_existing_key(db):
    watching, client, other = Watching(Memory()), Client(1, 0), Client(2, 0)
    db.add(b"a", b"1")
    watching.watch(client, db, b"a")
    watching.watch(other, db, b"no")
    watching.emptying([db])
    assert (client.dirty_watch, other.dirty_watch) == (True, False)


def test_swapping_databases_marks_clients_whose_key_exists_in_either(db):
    watching, client = Watching(Memory()), Client(1, 0)
    other_db = Keyspace(1, db.events)
    other_db.add(b"a", b"1")
    watching.watch(client, db, b"a")
    watching.emptying([db, other_db])
    assert client.dirty_watch


def expired(db, key):
    db.add(key, b"1")
    db.expire_at(key, 1)
    db.events.clock.now_ms = 1000


@pytest.mark.parametrize(
    ("was_there", "comes", "is_changed"),
    [("expired", True, True), ("expired", False, False), ("alive", False, True), (None, True, True),
     (None, False, False)],
)  # fmt: skip
def test_a_copy_that_takes_the_place_of_a_database_has_its_index(db, was_there, comes, is_changed):
    """Once, the copy was taken for the database that it replaced."""
    watching, client, copy = Watching(Memory()), Client(1, 0), Keyspace(0, db.events)
    if was_there == "expired":
        expired(db, b"a")
    elif was_there == "alive":
        db.add(b"a", b"1")
    if comes:
        copy.add(b"a", b"2")
    watching.watch(client, db, b"a")
    watching.emptying((db, copy))
    assert client.dirty_watch is is_changed


def test_watched_keys_count_as_memory_of_the_clients(db):
    memory = Memory()
    watching, client = Watching(memory), Client(1, 0)
    for _ in range(2):
        watching.watch(client, db, bytes(100_000))
    assert 100_000 < memory.clients < 101_000
    watching.unwatch(client)
    assert memory.clients == 0
