"""Streams in an RDB, without their groups."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.listpack.listpack import Listpack
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import rdb_codes, rdb_stream, stream_node
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import U64_MAX, ZERO, StreamId

NO_GROUPS = (0,)
KINDS = sorted(rdb_codes.STREAMS)


def reader_of(*parts: int | bytes) -> RdbReader:
    """A reader of *parts*, where an int is a length and bytes are a string."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.string(part)
    return RdbReader(writer.take())


def node_of(ms: int, *seqs: int) -> tuple[bytes, bytes]:
    """The key and the listpack of a node with the entries *ms*-*seqs*."""
    stream = Stream()
    for seq in seqs:
        stream.append(StreamId(ms, seq), [b"f", b"v"])
    found = stream.rax.first()
    assert found is not None
    return found[0], found[1].dump()


ONE_NODE = (1, *node_of(5, 1, 2), 2)
COUNTERS = (5, 1, 0, 0, 2)


def written_and_read(stream: Stream) -> Stream:
    writer = RdbWriter()
    for _ in rdb_stream.write_stream(writer, stream):
        pass
    reader = RdbReader(writer.take())
    back = rdb_stream.read(reader, rdb_codes.STREAM_2)
    assert reader.left() == 0
    return back


def test_a_stream_is_read_back_node_by_node_with_its_counters() -> None:
    stream = Stream()
    config = StreamConfig(node_max_entries=10)
    for number in range(95):
        stream.append(StreamId(1000, number), [b"f", b"%d" % number], 0, config)
    stream.delete_all([StreamId(1000, seq) for seq in (0, 1, 50, 94)])
    back = written_and_read(stream)
    assert [(key, node.dump()) for key, node in back.rax] == [
        (key, node.dump()) for key, node in stream.rax
    ]
    assert len(back) == 91
    assert back.first_id == StreamId(1000, 2)
    assert back.last_id == back.max_deleted_id == StreamId(1000, 94)
    assert back.entries_added == 95
    back.append(StreamId(1000, 95), [b"f", b"v"])
    assert back.last_entry_id() == StreamId(1000, 95)


def test_an_empty_stream_is_read_back() -> None:
    back = written_and_read(Stream())
    assert (len(back), back.last_id, back.first_id, back.entries_added) == (0, ZERO, ZERO, 0)


def test_a_stream_is_written_in_one_step_per_node() -> None:
    stream = Stream()
    for number in range(20):
        stream.append(StreamId(1, number), [b"f", b"v" * 5000])
    writer = RdbWriter(compress=False)
    sizes = [len(writer.take()) for _ in rdb_stream.write_stream(writer, stream)]
    assert len(sizes) == 20
    assert max(sizes) < 6000


def test_the_first_id_of_a_redis_5_stream_comes_from_its_entries() -> None:
    reader = reader_of(*ONE_NODE, 9, 0, *NO_GROUPS)
    back = rdb_stream.read(reader, rdb_codes.STREAM_1)
    assert back.first_id == StreamId(5, 1)
    assert back.last_id == StreamId(9, 0)
    assert back.max_deleted_id == ZERO
    assert back.entries_added == 2


@pytest.mark.parametrize("kind", KINDS)
def test_streams_of_every_rdb_type_are_read(kind: int) -> None:
    parts: list[int | bytes] = [*ONE_NODE, 9, 0]
    if kind != rdb_codes.STREAM_1:
        parts += COUNTERS
    parts += NO_GROUPS
    if kind >= rdb_codes.STREAM_4:
        parts += [100, 1000, 2, b"producer", 2, b"iid", 5, 1, b"id2", 5, 2, b"other", 0, 7, 3]
    reader = reader_of(*parts)
    back = rdb_stream.read(reader, kind)
    assert reader.left() == 0
    assert len(back) == 2


def test_the_first_id_comes_from_the_entries_and_not_from_the_file() -> None:
    back = rdb_stream.read(
        reader_of(*ONE_NODE, 9, 0, 8, 8, 0, 0, 2, *NO_GROUPS), rdb_codes.STREAM_2
    )
    assert back.first_id == StreamId(5, 1)


def test_entries_added_is_capped_at_its_maximum() -> None:
    back = rdb_stream.read(reader_of(*ONE_NODE, 9, 0, 5, 1, 0, 0, U64_MAX, 0), rdb_codes.STREAM_2)
    assert back.entries_added == 2**63 - 1


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((2, *node_of(5, 1), *node_of(5, 1), 2, 9, 0), "out of order"),
        ((2, *node_of(5, 1, 2), *node_of(5, 2), 3, 9, 0), "out of order"),
        ((2, *node_of(6, 1), *node_of(5, 9), 2, 9, 0), "out of order"),
        ((1, b"short", node_of(5, 1)[1], 1, 9, 0), "not an id"),
        ((1, *node_of(5, 1), 2, 9, 0), "entries that it counts"),
        ((1, *node_of(5, 1), 0, 9, 0), "entries that it counts"),
        ((1, *node_of(5, 1), 1, 5, 0), "above its last id"),
        ((1, *node_of(5, 1), 1, 5, 1, 5, 1, 0, 0, 0), "fewer entries added"),
        ((2**40, *node_of(5, 1)), "more is announced"),
        ((1, node_of(5, 1)[0], b"12", 1, 5, 1), "listpack of"),
        ((1, *node_of(5, 1), 1, 5, 1, 5, 1, 0, 0, 1, 0), "end too soon"),
    ],
)
def test_an_inconsistent_stream_is_refused(parts: tuple[int | bytes, ...], reason: str) -> None:
    kind = rdb_codes.STREAM_4 if reason == "end too soon" else rdb_codes.STREAM_2
    with pytest.raises(Corrupt, match=reason):
        rdb_stream.read(reader_of(*parts), kind)


def test_a_node_can_hold_deleted_entries_only() -> None:
    key, data = node_of(5, 1)
    node = Listpack.load(data)
    stream_node.mark_deleted(node, stream_node.entry_before(node, node.last()))
    stream_node.count_deleted(node, 1)
    parts = (2, key, node.dump(), *node_of(6, 1), 1, 9, 0, 6, 1, 5, 1, 2, *NO_GROUPS)
    back = rdb_stream.read(reader_of(*parts), rdb_codes.STREAM_2)
    assert back.first_id == StreamId(6, 1)
    assert back.trim_by_length(0) == 1
