"""Hashes of which fields expire, against Redis 8.0 and 8.6: answers, dumps, files and logs."""

from __future__ import annotations

import random

import pytest

from storage import digest
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.payload import dump, restore
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.compat.oracles import REDIS_8, REDIS_8_6, VALKEY_9, Oracles
from tests.compat.processes import bulk
from tests.compat.random_commands import Draw
from tests.compat.test_log_exchange import Replica
from tests.compat.test_rdb_exchange import Redis
from tests.worth import rounds

FAMILY = "field expiry"
NEWER = [REDIS_8, REDIS_8_6]
LATER_MS = 33_177_117_420_000


@pytest.mark.parametrize("number", range(rounds(8)))
@pytest.mark.parametrize("name", NEWER)
def test_redis_gets_the_same_data_from_penstock_s_log(
    name: str, number: int, oracles: Oracles
) -> None:
    ours = Replica()
    for command in Draw(f"ours-{FAMILY}-{number}").sequence(FAMILY, 80):
        ours.call(command)
    control = oracles.start(name).control
    ours.play_to(control.call)
    control.call(b"FLUSHALL")


def fill(oracle: Redis, dice: random.Random) -> None:
    """Put hashes of every form; some of their fields expire."""
    for size in (1, 3, 40, 700):
        for value in (b"value", b"v" * 100):
            key = f"hash:{size}:{len(value)}"
            fields = [f"field:{n}" for n in range(size)]
            oracle.call("HSET", key, *(word for field in fields for word in (field, value)))
            for field in dice.sample(fields, (size + 1) // 2):
                when_ms = LATER_MS + dice.randrange(10 ** dice.randrange(1, 10))
                oracle.call("HPEXPIREAT", key, when_ms, "FIELDS", 1, field)
    oracle.call("HSET", "persistent", "a", 1)
    oracle.call("HPEXPIREAT", "persistent", LATER_MS, "FIELDS", 1, "a")
    oracle.call("HPERSIST", "persistent", "FIELDS", 1, "a")


@pytest.mark.parametrize("name", NEWER)
def test_hashes_are_read_from_their_dumps_both_ways(name: str, oracles: Oracles) -> None:
    oracle = Redis(oracles.start(name))
    oracle.call("FLUSHALL")
    fill(oracle, random.Random(1))
    keys = oracle.call("KEYS", "*")
    assert isinstance(keys, list)
    for key in map(bulk, keys):
        made = restore(oracle.text("DUMP", key))
        encoding = oracle.text("OBJECT", "ENCODING", key)
        assert made.encoding == encoding
        oracle.call("RESTORE", "ours", 0, dump(made), "REPLACE")
        assert oracle.text("OBJECT", "ENCODING", "ours") == encoding
        db = Keyspace(0, KeyEvents())
        db.add(b"ours", made)
        digests = oracle.call("DEBUG", "DIGEST-VALUE", key, "ours")
        assert isinstance(digests, list)
        assert {bulk(each) for each in digests} == {digest.of_key(db, b"ours").hex().encode()}
        fields = [field for field, _ in made]
        times = oracle.call("HPEXPIRETIME", "ours", "FIELDS", len(fields), *fields)
        assert isinstance(times, list)
        assert [int(bulk(each)) for each in times] == [made.expiry(field) for field in fields]
    oracle.call("FLUSHALL")


def test_valkey_s_hashes_are_read_from_their_dumps(oracles: Oracles) -> None:
    oracle = Redis(oracles.start(VALKEY_9))
    oracle.call("FLUSHALL")
    fill(oracle, random.Random(3))
    keys = oracle.call("KEYS", "*")
    assert isinstance(keys, list)
    for key in map(bulk, keys):
        made = restore(oracle.text("DUMP", key))
        fields = [field for field, _ in made]
        times = oracle.call("HPEXPIRETIME", key, "FIELDS", len(fields), *fields)
        assert isinstance(times, list)
        assert [int(bulk(each)) for each in times] == [made.expiry(field) for field in fields]
        texts = oracle.call("HMGET", key, *fields)
        assert isinstance(texts, list)
        assert [bulk(text) for text in texts] == [text for _, text in made]
    oracle.call("FLUSHALL")


@pytest.mark.parametrize("name", NEWER)
def test_redis_reads_its_file_as_written_again_by_penstock(name: str, oracles: Oracles) -> None:
    oracle = Redis(oracles.start(name))
    oracle.call("FLUSHALL")
    fill(oracle, random.Random(2))
    before = oracle.digest()
    db = Keyspace(0, KeyEvents())
    reader = SnapshotReader(oracle.saved())
    for record in reader:
        db.add(record.key, record.value)
        assert record.field_expiry_ms == record.value.next_expiry()
    oracle.call("FLUSHALL")
    oracle.load(b"".join(SnapshotWriter([db], reader.aux)))
    assert oracle.digest() == before
    oracle.call("FLUSHALL")
    (oracle.folder / "dump.rdb").unlink()
