"""The consumer groups of streams in an RDB."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import rdb_codes, rdb_groups
from storage.stream.consumer_group import NEVER, UNKNOWN, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import U64_MAX, StreamId
from storage.stream.value_type import STREAM

SEEN, ACTIVE, DELIVERED = 1000, 900, 800


def stream_with_groups() -> Stream:
    stream = Stream()
    for seq in range(3000):
        stream.append(StreamId(1, seq), [b"f", b"v"])
    busy = stream.create_group(b"busy", StreamId(0, 0), 7)
    alice = busy.create_consumer(b"alice", SEEN)
    bob = busy.create_consumer(b"bob", SEEN + 1)
    busy.create_consumer(b"idle", SEEN + 2)
    alice.active_time, bob.active_time = ACTIVE, ACTIVE + 1
    delivered = [
        busy.deliver(StreamId(1, seq), bob if seq % 3 else alice, DELIVERED - seq % 7)
        for seq in range(2500)
    ]
    for seq in range(0, 2500, 5):
        busy.deliver_again(delivered[seq], DELIVERED + seq)
    stream.create_group(b"fresh", StreamId(1, 5))
    return stream


def contents_of(group: ConsumerGroup, code: int) -> object:
    """All that the RDB type *code* has of *group*."""

    def entry(pending: object) -> tuple[object, ...]:
        fields = ("ms", "seq", "delivery_time", "delivery_count")
        return tuple(getattr(pending, name) for name in fields)

    return (
        group.last_id,
        group.entries_read,
        [entry(pending) for _, pending in group.pel],
        [pending.delivery_time for pending in group.by_time],
        [
            (
                consumer.name,
                consumer.seen_time,
                consumer.active_time if code == rdb_codes.STREAM_3 else consumer.seen_time,
                [entry(pending) for _, pending in consumer.pel],
            )
            for consumer in group.sorted_consumers()
        ],
    )


@pytest.mark.parametrize(("version", "code"), [(10, rdb_codes.STREAM_2), (11, rdb_codes.STREAM_3)])
def test_groups_are_read_back_with_consumers_and_pending_entries(version: int, code: int) -> None:
    stream = stream_with_groups()
    assert STREAM.rdb_code_in(stream, version) == code
    writer = RdbWriter(version=version)
    steps = sum(1 for _ in rdb_groups.write_groups(writer, stream, code))
    assert steps > 4  # each writes about a thousand pending entries
    back = Stream()
    reader = RdbReader(writer.take())
    rdb_groups.read(reader, code, back)
    assert reader.left() == 0
    assert list(back.groups) == [b"busy", b"fresh"]
    for name, group in stream.groups.items():
        assert contents_of(back.groups[name], code) == contents_of(group, code)
    active = [consumer.active_time for consumer in back.groups[b"busy"].sorted_consumers()]
    seen = [SEEN, SEEN + 1, SEEN + 2]
    assert active == ([ACTIVE, ACTIVE + 1, NEVER] if code == rdb_codes.STREAM_3 else seen)
    assert back.groups[b"fresh"].entries_read == UNKNOWN


def pending_entry(writer: RdbWriter, seq: int, time: int = DELIVERED) -> None:
    writer.id(1, seq)
    writer.i64(time)
    writer.length(3)


def group_of(
    kind: int,
    pending: list[int],
    consumers: list[tuple[bytes, list[int]]],
    unowned: list[int] = [],  # noqa: B006  it is never changed
) -> RdbReader:
    """A reader of one group in the RDB type *kind*; its entries are given by their seqs."""
    writer = RdbWriter()
    writer.length(1)
    writer.string(b"group")
    writer.length(1)
    writer.length(2)
    if kind != rdb_codes.STREAM_1:
        writer.length(U64_MAX)
    writer.length(len(pending))
    for seq in pending:
        pending_entry(writer, seq, 0 if seq in unowned else DELIVERED)
    writer.length(len(consumers))
    for name, owned in consumers:
        writer.string(name)
        writer.i64(SEEN)
        if kind >= rdb_codes.STREAM_3:
            writer.i64(ACTIVE)
        writer.length(len(owned))
        for seq in owned:
            writer.id(1, seq)
    if kind >= rdb_codes.STREAM_5:
        writer.length(len(unowned))
        for seq in unowned:
            writer.id(1, seq)
    return RdbReader(writer.take())


@pytest.mark.parametrize("kind", sorted(rdb_codes.STREAMS))
def test_groups_of_every_rdb_type_are_read(kind: int) -> None:
    reader = group_of(kind, [1, 2], [(b"a", [2]), (b"b", [1])])
    stream = Stream()
    rdb_groups.read(reader, kind, stream)
    assert reader.left() == 0
    consumer = stream.groups[b"group"].consumers[b"a"]
    assert consumer.seen_time == SEEN
    assert consumer.active_time == (ACTIVE if kind >= rdb_codes.STREAM_3 else SEEN)


def test_a_consumer_that_was_never_active_is_read_as_such() -> None:
    reader = group_of(rdb_codes.STREAM_3, [], [(b"a", [])])
    data = reader.plain(reader.left()).replace(
        ACTIVE.to_bytes(8, "little"), NEVER.to_bytes(8, "little", signed=True)
    )
    stream = Stream()
    rdb_groups.read(RdbReader(data), rdb_codes.STREAM_3, stream)
    assert stream.groups[b"group"].consumers[b"a"].active_time == NEVER


def test_entries_read_is_computed_for_a_file_of_redis_5() -> None:
    stream = Stream()
    stream.append(StreamId(1, 1), [b"f", b"v"])
    stream.append(StreamId(1, 2), [b"f", b"v"])
    rdb_groups.read(group_of(rdb_codes.STREAM_1, [], []), rdb_codes.STREAM_1, stream)
    assert stream.groups[b"group"].entries_read == 2


def test_released_entries_are_read_in_the_order_of_their_release() -> None:
    stream = Stream()
    reader = group_of(rdb_codes.STREAM_5, [1, 2, 3], [(b"a", [2])], [3, 1])
    rdb_groups.read(reader, rdb_codes.STREAM_5, stream)
    group = stream.groups[b"group"]
    assert [pending.seq for pending in group.by_time] == [3, 1, 2]
    assert [pending.seq for pending in group.by_time.released()] == [3, 1]
    assert [pending.delivery_time for pending in group.by_time] == [0, 0, DELIVERED]
    assert {pending.delivery_count for pending in group.by_time} == {3}
    assert list(group.consumers) == [b"a"]


def with_released() -> Stream:
    """In the group g: 1-1 is a's, 1-3 and 1-2 were released in this order."""
    stream = Stream()
    group = stream.create_group(b"g", StreamId(1, 9))
    consumer = group.create_consumer(b"a", SEEN)
    for seq in (1, 2, 3):
        group.deliver(StreamId(1, seq), consumer, DELIVERED)
    for seq in (3, 2):
        entry = group.find(StreamId(1, seq))
        assert entry is not None
        group.release(entry)
    return stream


def test_released_entries_are_written_in_the_order_of_their_release() -> None:
    stream = with_released()
    assert STREAM.rdb_code_in(stream, 14) == rdb_codes.STREAM_5
    writer = RdbWriter()
    for _ in rdb_groups.write_groups(writer, stream, rdb_codes.STREAM_5):
        pass
    back = Stream()
    rdb_groups.read(RdbReader(writer.take()), rdb_codes.STREAM_5, back)
    group = back.groups[b"g"]
    assert [(entry.seq, group.owner(entry)) for entry in group.by_time.released()] == [
        (3, None),
        (2, None),
    ]
    assert [key for key, _ in group.consumers[b"a"].pel] == [StreamId(1, 1).key()]


@pytest.mark.parametrize("exists", [False, True])
def test_redis_7_0_gets_released_entries_as_those_of_a_consumer_named_nacked(exists: bool) -> None:
    stream = with_released()
    if exists:
        group = stream.groups[b"g"]
        group.deliver(StreamId(1, 4), group.create_consumer(b"nacked", SEEN), DELIVERED)
    assert STREAM.rdb_code_in(stream, 10) == rdb_codes.STREAM_2
    writer = RdbWriter(version=10)
    for _ in rdb_groups.write_groups(writer, stream, rdb_codes.STREAM_2):
        pass
    back = Stream()
    rdb_groups.read(RdbReader(writer.take()), rdb_codes.STREAM_2, back)
    nacked = back.groups[b"g"].consumers[b"nacked"]
    assert [entry.seq for _, entry in nacked.pel] == [2, 3, 4][: 2 + exists]


@pytest.mark.parametrize(
    ("kind", "pending", "consumers", "unowned", "reason"),
    [
        (19, [1, 1], [(b"a", [1])], [], "two pending entries of one id"),
        (19, [1, 2], [(b"a", [1])], [], "without a consumer"),
        (19, [1], [(b"a", [1, 2])], [], "not the group's"),
        (19, [1], [(b"a", [1]), (b"b", [1])], [], "not the group's"),
        (19, [1], [(b"a", [1]), (b"a", [])], [], "two consumers of one name"),
        (27, [1], [(b"a", [1])], [1], "without a consumer"),
        (27, [1, 2], [(b"a", [1])], [1], "has a consumer"),
        (27, [1], [], [2], "not pending"),
        (27, [1, 2], [], [1, 1], "without a consumer"),
        (27, [1], [], [1, 2], "without a consumer"),
        (27, [1, 2], [], [1], "without a consumer"),
    ],
)
def test_inconsistent_pending_entries_are_refused(
    kind: int,
    pending: list[int],
    consumers: list[tuple[bytes, list[int]]],
    unowned: list[int],
    reason: str,
) -> None:
    with pytest.raises(Corrupt, match=reason):
        rdb_groups.read(group_of(kind, pending, consumers, unowned), kind, Stream())


@pytest.mark.parametrize("kind", [21, 27])
@pytest.mark.parametrize("owned", [[(b"a", [1, 1])], [(b"a", [1]), (b"b", [2, 1])]])
def test_15095_an_entry_is_in_the_list_of_one_consumer_once(
    kind: int, owned: list[tuple[bytes, list[int]]]
) -> None:
    with pytest.raises(Corrupt, match="not the group's"):
        rdb_groups.read(group_of(kind, [1, 2], owned), kind, Stream())


def test_two_groups_of_one_name_are_refused() -> None:
    one = group_of(rdb_codes.STREAM_2, [], [])
    data = one.plain(one.left())
    with pytest.raises(Corrupt, match="two consumer groups"):
        rdb_groups.read(RdbReader(b"\x02" + 2 * data[1:]), rdb_codes.STREAM_2, Stream())
