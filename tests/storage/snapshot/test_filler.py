"""Filler: it loads a snapshot into databases."""

from __future__ import annotations

import pytest

from storage.digest import of_key
from storage.errors import Corrupt
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.rdb import opcodes
from storage.rdb.options import ReadOptions, WriteOptions
from storage.rdb.writer import RdbWriter
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.side_data.side_data import SideData
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO

NOW_MS = 5000


def databases(count: int = 2) -> list[Keyspace]:
    events = KeyEvents()
    events.clock.now_ms = NOW_MS
    return [Keyspace(index, events) for index in range(count)]


@pytest.fixture
def snapshot() -> bytes:
    """Ten keys in each of two databases; key 1 has expired, key 2 is in its last millisecond."""
    dbs = databases()
    for db in dbs:
        for number in range(10):
            db.add(b"%d" % number, number + 100 * db.index)
        db.expire_at(b"1", NOW_MS - 1)
        db.expire_at(b"2", NOW_MS)
    return b"".join(SnapshotWriter(dbs, {}))


def test_keys_are_loaded_with_their_expiry_and_expired_keys_are_dropped(
    snapshot: bytes,
) -> None:
    dbs = databases()
    filler = Filler(dbs, NOW_MS)
    assert not filler.fill(SnapshotReader(snapshot))
    assert (filler.keys_loaded, filler.keys_expired) == (18, 2)
    assert [len(db) for db in dbs] == [9, 9]
    assert dbs[1].peek(b"3") == 103
    assert dbs[1].expiry(b"2") == NOW_MS
    assert dbs[1].expiry(b"3") == NO_EXPIRY


def test_one_call_loads_about_a_megabyte() -> None:
    dbs = databases(1)
    for number in range(5):
        dbs[0].add(b"%d" % number, bytes(600_000))
    data = b"".join(SnapshotWriter(dbs, {}, WriteOptions(compress=False)))
    reader = SnapshotReader(data)
    filler = Filler(databases(1), NOW_MS)
    counts = []
    while filler.fill(reader):
        counts.append(filler.keys_loaded)
    assert counts == [2, 4]
    assert filler.keys_loaded == 5


def test_one_call_loads_a_few_thousand_small_keys() -> None:
    dbs = databases(1)
    for number in range(20_000):
        dbs[0].add(b"%d" % number, number)
    reader = SnapshotReader(b"".join(SnapshotWriter(dbs, {})))
    target = databases(1)
    filler = Filler(target, NOW_MS)
    assert filler.fill(reader)
    assert 1000 < len(target[0]) == filler.keys_loaded < 10_000
    while filler.fill(reader):
        pass
    assert dict(target[0].table.items()) == {b"%d" % number: number for number in range(20_000)}


def test_expired_keys_can_be_kept(snapshot: bytes) -> None:
    dbs = databases()
    filler = Filler(dbs, NOW_MS, keeps_expired=True)
    filler.fill(SnapshotReader(snapshot))
    assert (filler.keys_loaded, filler.keys_expired) == (20, 0)
    assert dbs[0].expiry(b"1") == NOW_MS - 1


def test_an_expired_stream_that_is_kept_keeps_its_groups_policies() -> None:
    """Once it was deleted while its policies were put beside it."""
    dbs, policies, policy = databases(1), SideData(), GroupPolicy()
    policy.set(b"MAXDELIVERIES", b"3")
    policies.set(GROUP_POLICY, policy, b"group")
    stream = Stream()
    stream.create_group(b"group", ZERO)
    dbs[0].add(b"stream", stream)
    dbs[0].put_side(b"stream", policies)
    dbs[0].expire_at(b"stream", NOW_MS - 1)
    snapshot = b"".join(SnapshotWriter(dbs, {}))
    loaded = databases(1)
    Filler(loaded, NOW_MS, keeps_expired=True).fill(SnapshotReader(snapshot))
    assert of_key(loaded[0], b"stream") == of_key(dbs[0], b"stream")


def test_an_existing_key_is_an_error_or_replaced_with_its_expiry(snapshot: bytes) -> None:
    dbs = databases()
    dbs[0].add(b"3", b"old")
    dbs[0].expire_at(b"3", NOW_MS)
    with pytest.raises(Corrupt, match="has the key b'3' of database 0 twice"):
        Filler(dbs, NOW_MS).fill(SnapshotReader(snapshot))
    dbs = databases()
    dbs[0].add(b"3", b"old")
    dbs[0].expire_at(b"3", NOW_MS)
    Filler(dbs, NOW_MS, replaces=True).fill(SnapshotReader(snapshot))
    assert dbs[0].peek(b"3") == 3
    assert dbs[0].expiry(b"3") == NO_EXPIRY


def test_a_database_out_of_range_is_named_in_the_error(snapshot: bytes) -> None:
    with pytest.raises(Corrupt, match="keys in database 1, and only 1 databases"):
        Filler(databases(1), NOW_MS).fill(SnapshotReader(snapshot))


def test_a_loaded_key_has_the_idle_time_of_the_snapshot_or_none() -> None:
    writer = RdbWriter()
    for key, idle_s in ((b"new", None), (b"old", 60), (b"ancient", 10**9)):
        if idle_s is not None:
            writer.byte(opcodes.IDLE)
            writer.length(idle_s)
        writer.byte(0)
        writer.string(key)
        writer.string(b"v")
    writer.byte(opcodes.EOF)
    body = b"REDIS0010" + writer.take()
    dbs = databases(1)
    dbs[0].events.clock.now_ms = now_ms = 100_000_000
    Filler(dbs, now_ms).fill(SnapshotReader(body + bytes(8), ReadOptions(checksum=False)))
    assert [dbs[0].idle_s(key) for key in (b"new", b"old", b"ancient")] == [0, 60, 100_000]
