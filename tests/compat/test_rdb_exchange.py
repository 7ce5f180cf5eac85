"""Penstock and redis-server read each other's DUMP payloads and RDB files."""

from __future__ import annotations

import random
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage import digest
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.payload import dump, restore
from storage.rdb.crc64 import crc64
from storage.rdb.options import WriteOptions
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, Oracles
from tests.compat.processes import ServerProcess, bulk, redis_tool
from tests.worth import rounds

OF_7_0 = WriteOptions(version=10)
DATABASES = 16
# Fields that Redis does not write: storage/snapshot/part_sums.py. The second byte is a length.
PART_SUMS = re.compile(rb"\xfa\x0dpenstock-sums(?:[\x00-\x3f]|[\x40-\x7f].)[0-9a-f: ]+", re.DOTALL)
HASH_TABLE, SET_TABLE = 4, 2  # RDB types, whose fields and members are in no order


class Redis:
    """A redis-server with methods for its DUMP, SAVE and DEBUG commands."""

    def __init__(self, server: ServerProcess) -> None:
        self._control = server.control
        self.folder = Path(self._pair("CONFIG", "GET", "dir").decode())

    def call(self, *words: object) -> object:
        line = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        kind, value = self._control.call(*line)
        assert kind != "-", (line, value)
        return value

    def text(self, *words: object) -> bytes:
        value = self.call(*words)
        assert isinstance(value, bytes)
        return value

    def _pair(self, *words: object) -> bytes:
        value = self.call(*words)
        assert isinstance(value, list)
        return bulk(value[1])

    def digest(self) -> object:
        return self.call("DEBUG", "DIGEST")

    def saved(self) -> bytes:
        self.call("SAVE")
        return (self.folder / "dump.rdb").read_bytes()

    def load(self, data: bytes) -> None:
        (self.folder / "dump.rdb").write_bytes(data)
        self.call("DEBUG", "RELOAD", "NOSAVE")


@pytest.fixture
def oracle(redis: ServerProcess) -> Iterator[Redis]:
    """An empty redis-server, which is emptied again afterwards."""
    server = Redis(redis)
    server.call("FLUSHALL")
    server.call("FUNCTION", "FLUSH")
    yield server
    server.call("SELECT", 0)
    server.call("FLUSHALL")
    server.call("DEBUG", "QUICKLIST-PACKED-THRESHOLD", 0)
    (server.folder / "dump.rdb").unlink(missing_ok=True)


def random_text(dice: random.Random) -> bytes:
    """A text of any length, compressible or not, or a number."""
    kind = dice.randrange(4)
    if kind == 0:
        return b"%d" % dice.randrange(-(2 ** dice.randrange(1, 66)), 2 ** dice.randrange(1, 66))
    if kind == 1:
        return dice.randbytes(dice.choice([0, 1, 11, 12, 20, 21, 63, 64, 300, 20_000]))
    words = [dice.randbytes(dice.randrange(1, 9)) for _ in range(5)]
    return b" ".join(dice.choice(words) for _ in range(dice.choice([1, 5, 100, 3000])))


def fill(oracle: Redis, seed: int) -> None:
    """Put values of every type and encoding into two databases."""
    dice = random.Random(seed)
    for index in (0, 9):
        oracle.call("SELECT", index)
        for number in range(60):
            oracle.call("SET", f"string:{number}", random_text(dice))
            if number % 3 == 0:
                oracle.call("PEXPIREAT", f"string:{number}", 4102444800000 + number)
        oracle.call("SET", "counter", 2**40)
        oracle.call("INCR", "counter")
        oracle.call("APPEND", "string:1", random_text(dice))
        for number in range(10):
            elements = [random_text(dice) for _ in range(dice.choice([1, 10, 200]))]
            oracle.call("RPUSH", f"list:{number}", *elements)
        oracle.call("DEBUG", "QUICKLIST-PACKED-THRESHOLD", "100b")
        oracle.call("RPUSH", "list:plain", *[random_text(dice) for _ in range(50)])
        oracle.call("DEBUG", "QUICKLIST-PACKED-THRESHOLD", 0)
        fill_sets(oracle, dice)
        for number in range(10):
            words = [random_text(dice)[:64] for _ in range(2 * dice.choice([1, 10, 200]))]
            oracle.call("HSET", f"hash:{number}", *words)
        for number, fields in enumerate([1, 10, 600]):
            words = [random_text(dice)[:600] for _ in range(2 * fields)]
            oracle.call("HSET", f"table:{number}", *words)
        for number, members in enumerate([1, 10, 128, 129, 3000]):
            scores = [
                dice.choice([0, 1, -1.5, "inf", dice.random() * 1000]) for _ in range(members)
            ]
            names = [random_text(dice)[:600] for _ in range(members)]
            pairs = zip(scores, names, strict=True)
            oracle.call("ZADD", f"zset:{number}", *(word for pair in pairs for word in pair))
        for number in range(6):
            fill_stream(oracle, f"stream:{number}", dice)
    oracle.call("XGROUP", "CREATE", "stream:empty", "group", "$", "MKSTREAM")
    oracle.call("SELECT", 0)


def fill_sets(oracle: Redis, dice: random.Random) -> None:
    """Put sets of integers of every width, of short texts and of long ones."""
    for bits in (8, 15, 31, 63):
        numbers = [dice.randrange(-(2**bits), 2**bits) for _ in range(dice.choice([1, 40, 500]))]
        oracle.call("SADD", f"set:{bits}", *numbers)
    for size in (1, 40, 700):
        oracle.call("SADD", f"set:texts:{size}", *[random_text(dice) for _ in range(size)])
        oracle.call("SADD", f"set:words:{size}", *[b"word:%d" % n for n in range(size)])


def fill_stream(oracle: Redis, key: str, dice: random.Random) -> None:
    """Put a stream with groups, consumers, pending and deleted entries at *key*."""
    ids = []
    ms = dice.choice([0, 1, 1_700_000_000_000])
    for seq in range(1, dice.choice([2, 50, 500])):
        ms += dice.choice([0, 0, 1, 300])
        names = dice.choice([[b"f"], [b"f", b"g"], [b"name", b"age", b"12"]])
        fields = [word for name in names for word in (name, random_text(dice)[:500])]
        ids.append(f"{ms}-{seq}")
        oracle.call("XADD", key, ids[-1], *fields)
    for group in ("a group", "42"):
        oracle.call("XGROUP", "CREATE", key, group, dice.choice(["0", "$", ids[len(ids) // 2]]))
        oracle.call("XGROUP", "CREATECONSUMER", key, group, "idle")
        for consumer in ("alice", "bob", "alice"):
            read = ["XREADGROUP", "GROUP", group, consumer, "COUNT", dice.randrange(1, 50)]
            oracle.call(*read, "STREAMS", key, ">")
        oracle.call("XACK", key, group, *dice.sample(ids, len(ids) // 4 + 1))
    oracle.call("XDEL", key, *dice.sample(ids, len(ids) // 5 + 1))


def load(data: bytes) -> list[Keyspace]:
    """The databases that the file *data* holds."""
    events = KeyEvents()
    databases = [Keyspace(index, events) for index in range(DATABASES)]
    for record in SnapshotReader(data):
        databases[record.db].add(record.key, record.value)
        if record.expiry_ms >= 0:
            databases[record.db].expire_at(record.key, record.expiry_ms)
    return databases


@pytest.mark.parametrize("seed", range(rounds(3)))
@pytest.mark.parametrize(
    "options",
    [WriteOptions(version=10), WriteOptions(compress=False, checksum=False, version=10)],
    ids=["", "plain"],
)
def test_redis_reads_its_file_as_written_again_by_penstock(
    oracle: Redis, seed: int, options: WriteOptions
) -> None:
    fill(oracle, seed)
    before = oracle.digest()
    saved = oracle.saved()
    reader = SnapshotReader(saved)
    assert len(list(reader)) > 150
    ours = b"".join(SnapshotWriter(load(saved), reader.aux, options))
    if options.compress:
        assert len(PART_SUMS.sub(b"", ours)) == len(saved)
    oracle.call("FLUSHALL")
    oracle.load(ours)
    assert oracle.digest() == before
    path = oracle.folder / "ours.rdb"
    path.write_bytes(ours)
    check = subprocess.run(
        [redis_tool("redis-check-rdb"), str(path)], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stdout


@pytest.fixture
def policy(oracle: Redis) -> Iterator[Callable[[str], object]]:
    """Sets maxmemory-policy; nothing is forgotten under it."""
    oracle.call("CONFIG", "SET", "lfu-decay-time", 0)
    yield lambda name: oracle.call("CONFIG", "SET", "maxmemory-policy", name)
    oracle.call("CONFIG", "SET", "maxmemory-policy", "noeviction", "lfu-decay-time", 1)


@pytest.mark.parametrize(("name", "option"), [("allkeys-lru", "IDLETIME"), ("allkeys-lfu", "FREQ")])
def test_how_keys_are_used_is_saved_and_loaded_both_ways(
    name: str, option: str, oracle: Redis, policy: Callable[[str], object]
) -> None:
    """The idle time grows meanwhile, by 5 s at most."""
    policy(name)
    uses = {b"a": 0, b"b": 7, b"c": 100, b"d": 255}
    slack = 5 if option == "IDLETIME" else 0
    for key, use in uses.items():
        oracle.call("RESTORE", key, 0 if use else 10**9, dump(b"value"), option, use)
    databases = loaded_with_usage(oracle.saved(), counts=option == "FREQ")
    found = databases[0].frequency if option == "FREQ" else databases[0].idle_s
    assert all(uses[key] <= found(key) <= uses[key] + slack for key in uses)
    oracle.call("FLUSHALL")
    oracle.load(b"".join(SnapshotWriter(databases, {}, OF_7_0)))
    for key, least in uses.items():
        use = int(oracle.text("OBJECT", option, key))
        assert least <= use <= least + 2 * slack


def loaded_with_usage(data: bytes, counts: bool) -> list[Keyspace]:
    """The databases that the file *data* holds, under an LFU or an LRU policy."""
    events = KeyEvents()
    events.clock.now_ms = time.time_ns() // 1_000_000
    events.usage.counts, events.usage.is_saved, events.usage.decay_minutes = counts, True, 0
    databases = [Keyspace(index, events) for index in range(DATABASES)]
    filler = Filler(databases, events.clock.now_ms)
    reader = SnapshotReader(data)
    while filler.fill(reader):
        pass
    return databases


@pytest.mark.parametrize("seed", range(rounds(3)))
def test_every_dump_is_restored_and_dumped_as_the_same_bytes(oracle: Redis, seed: int) -> None:
    fill(oracle, seed)
    keys = oracle.call("KEYS", "*")
    assert isinstance(keys, list)
    for key in map(bulk, keys):
        theirs = oracle.text("DUMP", key)
        ours = dump(restore(theirs), OF_7_0)
        if theirs[0] not in (HASH_TABLE, SET_TABLE):  # which have no order
            assert ours == theirs, key
        else:
            before = oracle.call("DEBUG", "DIGEST-VALUE", key)
            oracle.call("RESTORE", "back", 0, ours, "REPLACE")
            assert oracle.call("DEBUG", "DIGEST-VALUE", "back") == before, key
            assert len(ours) == len(theirs), key


@pytest.mark.parametrize("name", [REDIS_7, REDIS_8, REDIS_8_6])
def test_sets_are_read_from_their_dumps_both_ways(name: str, oracles: Oracles) -> None:
    oracle = Redis(oracles.start(name))
    oracle.call("FLUSHALL")
    fill_sets(oracle, random.Random(1))
    keys = oracle.call("KEYS", "*")
    assert isinstance(keys, list)
    for key in map(bulk, keys):
        made = restore(oracle.text("DUMP", key))
        encoding = oracle.text("OBJECT", "ENCODING", key)
        assert made.encoding == encoding or (name == REDIS_7 and made.encoding == b"listpack")
        oracle.call("RESTORE", "ours", 0, dump(made), "REPLACE")
        assert oracle.text("OBJECT", "ENCODING", "ours") == encoding
        db = Keyspace(0, KeyEvents())
        db.add(b"ours", made)
        digests = oracle.call("DEBUG", "DIGEST-VALUE", key, "ours")
        assert isinstance(digests, list)
        assert {bulk(each) for each in digests} == {digest.of_key(db, b"ours").hex().encode()}
    oracle.call("FLUSHALL")


def payload_of(body: bytes) -> bytes:
    body += (9).to_bytes(2, "little")
    return body + crc64(body).to_bytes(8, "little")


def ziplist_of(*entries: bytes) -> bytes:
    """A ziplist as an RDB string; *entries* are given without their prevlens."""
    body, size, tail = b"", 0, 10
    for entry in entries:
        tail = 10 + len(body)
        before = bytes([size]) if size < 254 else b"\xfe" + size.to_bytes(4, "little")
        body += before + entry
        size = len(before) + len(entry)
    head = (11 + len(body)).to_bytes(4, "little") + tail.to_bytes(4, "little")
    data = head + len(entries).to_bytes(2, "little") + body + b"\xff"
    return b"\x80" + len(data).to_bytes(4, "big") + data


ALL_ENTRIES = [
    b"\x01a",
    b"\x40\xff" + b"b" * 255,
    b"\x80\x00\x00\x01\x2c" + b"c" * 300,
    b"\xc0\xff\x7f",
    b"\xd0\xfe\xff\xff\xff",
    b"\xe0" + bytes(7) + b"\x80",
    b"\xf0\x00\x00\x80",
    b"\xfe\x80",
    b"\xf1",
    b"\xfd",
    b"\x00",
]
NODE = bytes.fromhex("10" "00000000000000010000000000000001" "1d") + bytes.fromhex(
    "1d0000000a0001010001010181660200010201000100018176020401ff"
)  # fmt: skip
GROUP = (
    b"\x01\x01g\x01\x01\x01" + bytes(7) + b"\x01" + bytes(7) + b"\x01" + bytes(8) + b"\x05"
    b"\x01\x05alice" + bytes(8) + b"\x01" + bytes(7) + b"\x01" + bytes(7) + b"\x01"
)

OLD_FORMATS = {
    "the elements of a list": b"\x01\x03\x01a\xc0\x05\x00",
    "a ziplist": b"\x0a" + ziplist_of(*ALL_ENTRIES),
    "ziplists": b"\x0e\x02" + ziplist_of(*ALL_ENTRIES) + ziplist_of(b"\x01z"),
    "the members of a set": b"\x02\x01\x01a",
    "the members of a set of integers": b"\x02\x02\xc0\x07\xc1\x39\x30",
    "the fields of a hash": b"\x04\x02\x01a\xc0\x05\x01b\x00",
    "a zipmap": b"\x09\x1c\x02\x01a\x01\x00" + b"1\x03foo\x0d\x02" + b"12345678901xy..\xff",
    "a hash as a ziplist": b"\x0d" + ziplist_of(*ALL_ENTRIES, b"\x01z"),
    "the members of a sorted set": b"\x03\x03\x01a\x031.5\xc0\x05\xff\x01b\xfe",
    "members with doubles": b"\x05\x02\x01a\x00\x00\x00\x00\x00\x00\xf8?\x01b" + bytes(8),
    "a sorted set as a ziplist": b"\x0c" + ziplist_of(b"\x01a", b"\xf2", b"\x01b", b"\x031.5"),
    "a stream of Redis 5": b"\x0f\x01" + NODE + b"\x01\x01\x01" + GROUP,
}


@pytest.mark.parametrize("body", OLD_FORMATS.values(), ids=OLD_FORMATS)
def test_formats_of_old_versions_are_read_as_redis_reads_them(oracle: Redis, body: bytes) -> None:
    oracle.call("RESTORE", "key", 0, payload_of(body))
    assert dump(restore(payload_of(body)), OF_7_0) == oracle.text("DUMP", "key")
