"""Feed hostile bytes to the RDB codec: as payloads of RESTORE, and as whole files.

``python -m fuzz.rdb -max_total_time=60`` does so for a minute.

A value that is accepted must be valid: it can be written, the written bytes read as the same value,
and every command that reads a value can read it. Any exception but the codec's own errors is a bug.
The plain Python guides the fuzzer, since compiled code cannot; the compiled module, if there is
one, must agree with it byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from fuzz import engine
from fuzz.plain import load_as_built, load_plain

LONGEST = 4096  # bytes; a fuzzer finds its faults in short inputs


class Codec(NamedTuple):
    """The modules of one build."""

    payload: ModuleType
    snapshot: ModuleType
    options: ModuleType
    refusals: tuple[type[Exception], ...]


def codec_of(modules: list[ModuleType]) -> Codec:
    payload, snapshot, options, errors = modules
    return Codec(payload, snapshot, options, (errors.StorageError,))


NAMES = [
    f"storage.{name}" for name in ("payload", "snapshot.snapshot_reader", "rdb.options", "errors")
]
plain = codec_of(load_plain(*NAMES))
as_built = codec_of(load_as_built(*NAMES))
readers = import_module("fuzz.readers")  # only now, so that its server uses the built modules
reading = readers.Reading()


def restored(codec: Codec, body: bytes) -> bytes | None:
    """*body* after RESTORE and DUMP; None if it is refused."""
    crc64 = codec.payload.crc64
    body += (10).to_bytes(2, "little")
    try:
        value = codec.payload.restore(body + crc64(body).to_bytes(8, "little"))
    except codec.refusals:
        return None
    dumped: bytes = codec.payload.dump(value)
    assert codec.payload.dump(codec.payload.restore(dumped)) == dumped
    if codec is as_built:
        reading.read(value)
    return dumped


def loaded(codec: Codec, data: bytes) -> list[object] | None:
    """The content of an RDB file with the bytes *data*; None if it is refused."""
    try:
        records = list(codec.snapshot.SnapshotReader(data, codec.options.ReadOptions(False)))
    except codec.refusals:
        return None
    seen: list[object] = []
    for r in records:
        seen.append((r.db, r.key, r.expiry_ms, r.idle_s, r.freq, codec.payload.dump(r.value)))
        if codec is as_built:
            reading.read(r.value, r.expiry_ms, r.idle_s)
    return seen


def test_one(data: bytes) -> None:
    """The fuzzer's entry: any exception is a finding."""
    data = data[:LONGEST]
    assert restored(plain, data) == restored(as_built, data)
    file = b"REDIS0010" + data
    assert loaded(plain, file) == loaded(as_built, file)


# Values of every type and encoding.
MADE_BY = f"""
SET text {"text-" * 30}
PFADD text:hyperloglog a b c
SADD set:intset 1 -70000 5000000000
SADD set:listpack a 12 b
SADD set:table a {"b" * 65}
HSET hash:listpack a 1 b text
HSET hash:table a 1 b {"c" * 65}
HSET hash:expiring a 1 b 2 c 3
HPEXPIREAT hash:expiring 1900000000000 FIELDS 2 a c
ZADD zset:listpack 1 a -2.5 b inf c 5000000000 d
ZADD zset:tree 1 a -2.5 b inf {"c" * 65}
"""


def seeds() -> Iterator[bytes]:
    """Values for the fuzzer to start from, each as a payload and in a file."""
    server = import_module("fuzz.command_server").FuzzedServer(1)
    (client,) = server.free_clients()
    for line in MADE_BY.strip().splitlines():
        server.run(client, line.encode().split(b" "))
    keys = [line.split(" ")[1].encode() for line in MADE_BY.strip().splitlines()]
    payloads = [server.run(client, [b"DUMP", key])[0][1] for key in keys]
    payloads += [as_built.payload.dump(value) for value in (12, quicklist(), stream())]
    for payload in payloads:
        body = payload[: -as_built.payload.FOOTER]
        yield body
        yield body[:1] + b"\x01k" + body[1:] + b"\xff"


def quicklist() -> object:
    """A list of two nodes."""
    made = import_module("storage.lists.quicklist").QuickList(2)
    for element in (b"a", b"12", b"abc" * 30):
        made.push_right(element)
    return made


def stream() -> object:
    """A stream with a deleted entry, and a group of two consumers."""
    made = import_module("storage.stream.stream").Stream()
    make_id = import_module("storage.stream.stream_id").StreamId
    for seq in range(3):
        made.append(make_id(5, seq + 1), [b"field", b"%d" % seq])
    made.delete(make_id(5, 2))
    group = made.create_group(b"group", make_id(5, 1))
    group.deliver(make_id(5, 3), group.create_consumer(b"alice", 1), 1)
    group.deliver(make_id(5, 1), group.create_consumer(b"bob", readers.MAX), readers.MIN)
    return made


if __name__ == "__main__":
    engine.run(test_one, "rdb", seeds())
