"""Released entries in files and payloads whose type of streams has no place for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from storage import payload
from storage.errors import Corrupt
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.rdb.crc64 import crc64
from storage.rdb.options import WriteOptions
from storage.rdb.writer import RdbWriter
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream import rdb_released
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

DELIVERED, HELD_UNTIL = 1000, 2**41
GROUP = b"g"


def in_a_file(stream: Stream, options: WriteOptions) -> Stream:
    db, loaded = Keyspace(0, KeyEvents()), Keyspace(0, KeyEvents())
    db.add(b"stream", stream)
    snapshot = b"".join(SnapshotWriter([db], {}, options))
    Filler([loaded], 0).fill(SnapshotReader(snapshot))
    found = loaded.peek(b"stream")
    assert type(found) is Stream
    return found


def in_a_payload(stream: Stream, options: WriteOptions) -> Stream:
    found = payload.restore(payload.dump(stream, options))
    assert type(found) is Stream
    return found


def stream_of(*consumers: bytes) -> Stream:
    """The consumer a has 1-1 and 1-2; 1-5 and 1-3 were released in this order, and 1-4 is held."""
    stream = Stream()
    group = stream.create_group(GROUP, StreamId(1, 9))
    owner = group.create_consumer(b"a", 1)
    for name in consumers:
        group.create_consumer(name, 1)
    for seq in range(1, 6):
        stream.append(StreamId(1, seq), [b"f", b"v"])
        group.deliver(StreamId(1, seq), owner, DELIVERED)
    for seq in (5, 3, 4):
        entry = group.find(StreamId(1, seq))
        assert entry is not None
        if seq == 4:
            group.hold(entry, HELD_UNTIL)
        else:
            group.release(entry)
    return stream


def seqs(group: ConsumerGroup) -> dict[str, list[int]]:
    found = {
        consumer.name.decode(): [entry.seq for _, entry in consumer.pel]
        for consumer in group.sorted_consumers()
    }
    return {
        **found,
        "released": [entry.seq for entry in group.by_time.released()],
        "held": [entry.seq for entry in group.by_time.held()],
    }


@pytest.mark.parametrize("version", [10, 11, 13, 14])
@pytest.mark.parametrize("through", [in_a_file, in_a_payload])
@pytest.mark.parametrize("consumers", [(), (rdb_released.NACKED,), (b"b", rdb_released.NACKED)])
def test_they_are_released_again_in_their_order(
    through: Callable[[Stream, WriteOptions], Stream], version: int, consumers: tuple[bytes, ...]
) -> None:
    stream = stream_of(*consumers)
    made = through(stream, WriteOptions(version=version))
    group = made.groups[GROUP]
    assert seqs(group) == seqs(stream.groups[GROUP])
    assert seqs(group)["released"] == [5, 3]
    held = group.find(StreamId(1, 4))
    assert held is not None
    assert held.delivery_time == HELD_UNTIL
    assert [entry.seq for entry in group.by_time][-2:] == [1, 2]


@pytest.mark.parametrize("version", [10, 11, 13, 14])
@pytest.mark.parametrize("through", [in_a_file, in_a_payload])
def test_a_consumer_of_that_name_keeps_its_own(
    through: Callable[[Stream, WriteOptions], Stream], version: int
) -> None:
    stream = Stream()
    group = stream.create_group(GROUP, StreamId(1, 9))
    owner = group.create_consumer(rdb_released.NACKED, 1)
    for seq in (1, 2):
        group.deliver(StreamId(1, seq), owner, DELIVERED)
    entry = group.find(StreamId(1, 1))
    assert entry is not None
    group.release(entry)
    made = through(stream, WriteOptions(version=version)).groups[GROUP]
    assert seqs(made) == {"nacked": [2], "released": [1], "held": []}


@pytest.mark.parametrize(("version", "code"), [(10, 19), (11, 21), (13, 21), (14, 27)])
def test_the_type_is_one_that_the_reader_knows(version: int, code: int) -> None:
    dumped = payload.dump(stream_of(), WriteOptions(compress=False, version=version))
    assert dumped[0] == code
    assert (rdb_released.record_of(stream_of()) in dumped) is (code != 27)


def test_a_stream_without_any_has_no_record() -> None:
    stream = Stream()
    group = stream.create_group(GROUP, StreamId(1, 9))
    group.deliver(StreamId(1, 1), group.create_consumer(b"a", 1), DELIVERED)
    assert rdb_released.record_of(stream) == b""


def record(name: bytes, ids: list[StreamId], tail: bytes = b"") -> bytes:
    writer = RdbWriter()
    writer.length(1)
    writer.string(name)
    writer.byte(1)
    writer.length(len(ids))
    for entry_id in ids:
        writer.plain(entry_id.key())
    writer.plain(tail)
    return writer.take()


@pytest.mark.parametrize(
    "forged",
    [
        record(b"other", []),
        record(GROUP, [StreamId(1, 9)]),  # is not pending
        record(GROUP, [StreamId(1, 1)]),  # is a's
        record(GROUP, [StreamId(1, 2), StreamId(1, 2)]),
        record(GROUP, [StreamId(1, 2)], b"x"),
        record(GROUP, [StreamId(1, 2)])[:-1],
        b"\x05",
    ],
)
def test_a_forged_record_is_corrupt(forged: bytes) -> None:
    stream = Stream()
    group = stream.create_group(GROUP, StreamId(1, 9))
    for seq, name in ((1, b"a"), (2, rdb_released.NACKED)):
        group.deliver(StreamId(1, seq), group.create_consumer(name, 1), DELIVERED)
    with pytest.raises(Corrupt):
        rdb_released.apply(stream, forged)


def test_a_value_of_another_type_has_none() -> None:
    whole = payload.dump(b"text")
    body = whole[: -payload.FOOTER]
    writer = RdbWriter()
    writer.byte(0xFA)
    writer.string(b"penstock-beside-value")
    writer.string(b"")
    forged = body + writer.take() + (10).to_bytes(2, "little")
    with pytest.raises(Corrupt):
        payload.restore(forged + crc64(forged).to_bytes(8, "little"))
