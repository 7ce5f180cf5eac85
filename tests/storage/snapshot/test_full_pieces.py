"""A piece of a snapshot is full when the attributes of a key are written, and its value is not.

Regression: such a key was left out, and the next one had its expiry and its side data.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from storage.hashes.hash import Hash
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits
from storage.lists.quicklist import QuickList
from storage.payload import dump
from storage.rdb.options import WriteOptions
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.side_data.schedule import SCHEDULE, Schedule, packed
from storage.side_data.side_data import SideData
from storage.snapshot.snapshot_reader import Record, SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

PIECE = 1 << 16  # bytes
LIMITS = ListpackLimits(512, 64)
EXPIRY_MS = 4_102_444_800_000


def a_list() -> QuickList:
    made = QuickList()
    for number in range(5):
        made.push_right(b"%d" % number * 4000)
    return made


def a_stream() -> Stream:
    made = Stream()
    made.append(StreamId(1, 1), [b"f", b"v"])
    return made


def a_hash() -> Hash:
    made = Hash()
    for number in range(2000):
        made.set(b"%d" % number, b"v" * 50, LIMITS)
    return made


def side_data(entries: int) -> SideData:
    """The policy of a group, and a schedule of about 80 bytes an entry."""
    data, policy, schedule = SideData(), GroupPolicy(), Schedule()
    policy.set(b"VISIBILITY", b"30000")
    data.set(GROUP_POLICY, policy, b"workers")
    for number in range(entries):
        schedule.add(EXPIRY_MS, packed([b"f", b"%080d" % number], 0))
    if entries:
        data.set(SCHEDULE, schedule)
    return data


def keyspace() -> Keyspace:
    return Keyspace(0, KeyEvents())


def read_back(db: Keyspace) -> dict[bytes, Record]:
    """The keys of a snapshot of *db*, in the order in which they are written."""
    data = b"".join(SnapshotWriter([db], {}, WriteOptions(compress=False, checksum=False)))
    return {record.key: record for record in SnapshotReader(data)}


def check(db: Keyspace) -> None:
    """See that each key of *db* has its own value, expiry and side data in a snapshot."""
    found = read_back(db)
    assert found.keys() == set(db.table)
    for key, record in found.items():
        assert dump(record.value) == dump(db.table.get(key))
        assert record.expiry_ms == db.expiry(key)
        side = db.side_of(key)
        assert record.side == (None if side is None else side.record())


def name_after(first: bytes) -> bytes:
    """A name that is written after *first*, if there are no others."""
    for number in range(1000):
        db, name = keyspace(), b"name-%d" % number
        for key in (first, name):
            db.add(key, b"v")
        if list(read_back(db)) == [first, name]:
            return name
    raise AssertionError("all names come before it")


@pytest.mark.parametrize("make", [a_list, a_stream, a_hash])
@pytest.mark.parametrize("has_side_data", [False, True])
def test_a_piece_may_be_full_of_attributes(make: Callable[[], Any], has_side_data: bool) -> None:
    name = name_after(b"filler")
    for short in range(0, 140, 1 if make is a_list else 5):
        db = keyspace()
        db.add(b"filler", b"x" * (PIECE - short))
        db.add(name, make())
        db.expire_at(name, EXPIRY_MS)
        if has_side_data:
            db.put_side(name, side_data(0))
        check(db)


@pytest.mark.parametrize("entries", [100, 800, 2000])
def test_side_data_may_be_larger_than_a_piece(entries: int) -> None:
    db = keyspace()
    for number in range(12):
        db.add(b"%d" % number, a_stream())
    db.put_side(b"5", side_data(entries))
    db.expire_at(b"5", EXPIRY_MS)
    check(db)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_a_piece_ends_with_all_is_there(seed: int) -> None:
    chance, db = random.Random(seed), keyspace()
    for number in range(150):
        key = b"%d" % number
        make = chance.choice([a_list, a_stream, a_stream, lambda: b"x" * chance.randrange(5000)])
        db.add(key, make())
        if chance.random() < 0.7:
            db.expire_at(key, EXPIRY_MS + number)
        if chance.random() < 0.4:
            db.put_side(key, side_data(chance.choice([0, 0, 0, 20, 1000])))
    check(db)
