"""KeyWalk: it visits every key of a database without holding references."""

from __future__ import annotations

import sys

import pytest

from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.key_walk import KeyWalk


def keys_of(db: Keyspace) -> list[bytes]:
    walk = KeyWalk(db.table)
    return list(iter(lambda: walk.current_key() if walk.step() else None, None))


@pytest.mark.parametrize("count", [0, 1, 170, 171, 5000])
def test_every_key_is_visited_once(count: int) -> None:
    db = Keyspace(0, KeyEvents())
    for number in range(count):
        db.add(b"%d" % number, number)
    assert sorted(keys_of(db)) == sorted(b"%d" % number for number in range(count))


def test_every_key_is_visited_once_after_most_were_removed() -> None:
    db = Keyspace(0, KeyEvents())
    for number in range(3000):
        db.add(b"%d" % number, number)
    for number in range(2900):
        db.remove(b"%d" % number)
    assert sorted(map(int, keys_of(db))) == list(range(2900, 3000))


def test_a_walk_gives_key_and_value_without_holding_a_reference() -> None:
    db = Keyspace(0, KeyEvents())
    value = bytearray(b"value of its own")
    db.add(b"key of its own", value)
    walk = KeyWalk(db.table)
    count = sys.getrefcount(value)
    assert walk.step()
    assert walk.current_value() is value
    assert walk.current_key() == b"key of its own"
    assert sys.getrefcount(value) - count in (0, 1)  # uncompiled, the walk holds one
    assert not walk.step()
