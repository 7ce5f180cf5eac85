"""Deleting entries with regard to the groups that refer to them."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.stream import deletions, references
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.deletions import ACKED, DELREF, KEEPREF, Deletion, Done, ReferencedTrim
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId
from tests.used_memory import used_at_start

MANY = references.FEW + 4
THREES = StreamConfig(node_max_entries=3)


def sid(ms: int) -> StreamId:
    return StreamId(ms, 0)


def stream_of(count: int, groups: int = 1, given: int = 0) -> Stream:
    """Entries 1-0, 2-0, ...; groups g0, g1, ... whose consumer c was given the first of them."""
    stream = Stream()
    for ms in range(1, count + 1):
        stream.append(sid(ms), [b"f", b"v"], 0, THREES)
    for number in range(groups):
        group = stream.create_group(b"g%d" % number, sid(given))
        consumer = group.create_consumer(b"c", 0)
        for ms in range(1, given + 1):
            group.deliver(sid(ms), consumer, 0)
    return stream


def groups(stream: Stream) -> list[ConsumerGroup]:
    return [group for _, group in stream.sorted_groups()]


def times(stream: Stream) -> list[int]:
    entry = stream.range()
    found = []
    while entry.next():
        found.append(entry.ms)
    return found


def deleted(stream: Stream, policy: int, *ids: int) -> list[int]:
    deletion = Deletion(stream, policy)
    results = [deletion.delete(sid(ms)) for ms in ids]
    deletion.end()
    return results


def trimmed(
    stream: Stream, policy: int, maxlen: int = -1, minid: StreamId = MAX, limit: int = 0
) -> int:
    return ReferencedTrim(stream, policy, maxlen, minid, limit).run()


COUNTS = [1, 3, MANY]


@pytest.mark.parametrize("count", COUNTS)
def test_acked_deletes_what_no_group_refers_to(count: int) -> None:
    stream = stream_of(4, count, given=3)
    for group in groups(stream)[1:]:
        group.ack(sid(1))
    groups(stream)[0].ack(sid(2))
    assert deleted(stream, ACKED, 1, 2, 3, 4, 9) == [2, 1 if count == 1 else 2, 2, 2, 2]
    groups(stream)[0].ack(sid(1))
    assert deleted(stream, ACKED, 1, 1) == [1, -1]
    assert (1 not in times(stream), stream.first_id) == (True, sid(2 if count > 1 else 3))
    assert stream.max_deleted_id == sid(1 if count > 1 else 2)


@pytest.mark.parametrize("count", COUNTS)
def test_delref_deletes_the_references_too(count: int) -> None:
    stream = stream_of(4, count, given=3)
    groups(stream)[0].ack(sid(2))
    deletion = Deletion(stream, DELREF)
    assert [deletion.delete(sid(ms)) for ms in (1, 2, 4, 4)] == [1, 1, 1, -1]
    deletion.end()
    assert (deletion.deleted, deletion.dropped) == (3, 2 * count - 1)
    for group in groups(stream):
        assert [key for key, _ in group.pel] == [sid(3).key()]
        assert [entry.ms for entry in group.by_time] == [3]


def test_keepref_leaves_the_references() -> None:
    stream = stream_of(4, 2, given=3)
    assert deleted(stream, KEEPREF, 1, 9) == [1, -1]
    assert [len(group.pel) for group in groups(stream)] == [3, 3]
    assert stream.groups[b"g0"].references is None


@pytest.mark.parametrize("policy", [KEEPREF, DELREF, ACKED])
def test_nothing_refers_to_an_entry_of_a_stream_without_groups(policy: int) -> None:
    stream = stream_of(5, 0)
    assert deleted(stream, policy, 1, 3, 9) == [1, 1, -1]
    assert stream.first_id == sid(2)


@pytest.mark.parametrize("count", COUNTS)
def test_an_entry_is_acknowledged_and_deleted(count: int) -> None:
    stream = stream_of(4, count, given=4)
    first = groups(stream)[0]
    deletion = Deletion(stream, ACKED)
    assert [deletion.ack(b"g0", first, sid(ms)) for ms in (1, 1, 9)] == [
        1 if count == 1 else 2,
        -1,
        -1,
    ]
    assert deletion.acked == 1
    stream.delete(sid(2))
    deletion = Deletion(stream, DELREF)
    assert [deletion.ack(b"g0", first, sid(2)), deletion.ack(b"g0", first, sid(3))] == [1, 1]
    assert (deletion.acked, deletion.deleted, deletion.dropped) == (2, 1, 2 * (count - 1))


@pytest.mark.parametrize("count", COUNTS)
def test_a_new_group_and_one_that_is_set_back_refer_to_more(count: int) -> None:
    stream = stream_of(6, count)
    for group in groups(stream):
        group.move_to(sid(6))
    assert deleted(stream, ACKED, 1) == [1]
    stream.create_group(b"new", sid(4))
    assert deleted(stream, ACKED, 5, 4) == [2, 1]
    stream.groups[b"new"].move_to(sid(6))
    assert deleted(stream, ACKED, 5) == [1]
    stream.groups[b"g0"].move_to(sid(1))
    assert deleted(stream, ACKED, 2) == [2]
    assert stream.delete_group(b"g0")
    assert deleted(stream, ACKED, 2) == [1]


@pytest.mark.parametrize("count", COUNTS)
def test_what_a_deleted_group_or_consumer_had_is_no_longer_referred_to(count: int) -> None:
    stream = stream_of(5, count, given=5)
    for group in groups(stream)[1:]:
        group.delete_consumer(b"c")
    assert deleted(stream, ACKED, 1) == [2]
    assert trimmed(stream, ACKED, maxlen=0) == 0
    stream.create_group(b"other", sid(5))
    assert stream.delete_group(b"g0")
    assert deleted(stream, ACKED, 1) == [1]
    assert trimmed(stream, ACKED, maxlen=0) == 4


def test_an_index_is_made_for_many_groups_only() -> None:
    few = stream_of(3, references.FEW, given=3)
    deleted(few, ACKED, 1)
    found = few.groups[b"g0"].references
    assert found is not None
    assert found.ids is None
    few.create_group(b"more", ZERO)
    deleted(few, ACKED, 1)
    assert few.groups[b"more"].references is found
    index = found.ids
    assert index is not None
    assert list(index) == [(sid(ms).key(), references.FEW) for ms in (1, 2, 3)]
    assert few.copy().groups[b"g0"].references is None


def test_an_index_follows_all_that_groups_do() -> None:
    stream = stream_of(4, MANY, given=2)
    found = stream.references()
    assert found is not None
    index = found.ids
    assert index is not None
    group = groups(stream)[0]
    consumer = group.find_consumer(b"c")
    assert consumer is not None
    group.deliver(sid(1), consumer, 5)  # once more
    group.force(sid(3), 5)
    group.force_released(sid(4))
    group.ack(sid(2))
    counts = {StreamId(1, 0): MANY, sid(2): MANY - 1, sid(3): 1, sid(4): 1}
    assert dict(index) == {entry_id.key(): count for entry_id, count in counts.items()}
    group.delete_consumer(b"c")
    stream.delete_group(b"g1")
    group.ack(sid(4))
    counts = {sid(1): MANY - 2, sid(2): MANY - 2, sid(3): 1}
    assert dict(index) == {entry_id.key(): count for entry_id, count in counts.items()}


def test_references_count_their_memory() -> None:
    before = used_at_start()
    stream = stream_of(3, MANY, given=3)
    without = allocation.used_bytes() - before
    deleted(stream, ACKED, 1)
    assert allocation.used_bytes() - before >= without + references.OBJECT + 64
    del stream
    assert allocation.used_bytes() == before


class TestTrim:
    @pytest.mark.parametrize("count", COUNTS)
    def test_acked_leaves_what_is_referred_to(self, count: int) -> None:
        stream = stream_of(12, count, given=8)
        for group in groups(stream):
            for ms in (1, 2, 4, 5, 6, 8):
                group.ack(sid(ms))
        assert trimmed(stream, ACKED, maxlen=8) == 4
        assert times(stream) == [3, *range(6, 13)]
        assert trimmed(stream, ACKED, maxlen=0) == 2
        assert times(stream) == [3, 7, 9, 10, 11, 12]
        assert (stream.first_id, stream.max_deleted_id, stream.length) == (sid(3), ZERO, 6)

    @pytest.mark.parametrize("count", COUNTS)
    def test_delref_drops_the_references(self, count: int) -> None:
        stream = stream_of(12, count, given=8)
        assert trimmed(stream, DELREF, minid=sid(6)) == 5
        assert times(stream) == list(range(6, 13))
        for group in groups(stream):
            assert [entry.ms for entry in group.by_time] == [6, 7, 8]
        assert trimmed(stream, DELREF, maxlen=1) == 6
        assert times(stream) == [12]
        assert [len(group.pel) for group in groups(stream)] == [0] * count

    def test_a_limit_counts_whole_nodes(self) -> None:
        stream = stream_of(10, 0)
        trim = ReferencedTrim(stream, ACKED, -1, sid(9), 4)
        assert (trim.run(), trim.upto) == (3, sid(4))
        assert trimmed(stream, DELREF, maxlen=2, limit=2) == 0
        assert trimmed(stream, DELREF, maxlen=2, limit=5) == 3

    def test_14656_a_trim_begins_where_an_earlier_one_found_entries_to_delete(self) -> None:
        stream = stream_of(12, 1, given=10)
        group = groups(stream)[0]
        assert trimmed(stream, ACKED, maxlen=0) == 0
        found = group.references
        assert found is not None
        assert found.kept_below == sid(11)
        group.ack(sid(8))
        assert found.kept_below == sid(8)
        assert trimmed(stream, ACKED, maxlen=0) == 1
        group.ack(sid(9))
        group.ack(sid(2))
        assert found.kept_below == sid(2)
        assert trimmed(stream, ACKED, maxlen=10) == 1
        assert times(stream) == [1, 3, 4, 5, 6, 7, 9, 10, 11, 12]
        assert trimmed(stream, ACKED, maxlen=0) == 1
        stream.delete_group(b"g0")
        stream.create_group(b"g1", sid(3))
        assert trimmed(stream, ACKED, maxlen=0) == 2
        assert times(stream) == [4, 5, 6, 7, 10, 11, 12]

    def test_entries_that_come_after_a_trim_are_looked_at(self) -> None:
        stream = stream_of(3, 1, given=3)
        assert trimmed(stream, ACKED, maxlen=0) == 0
        group = groups(stream)[0]
        stream.append(sid(4), [b"f", b"v"])
        group.move_to(sid(4))
        assert trimmed(stream, ACKED, maxlen=0) == 1
        assert times(stream) == [1, 2, 3]

    def test_what_is_done_is_noted(self) -> None:
        stream = stream_of(5, 2, given=3)
        groups(stream)[0].ack(sid(2))
        done = Done()
        trim = ReferencedTrim(stream, DELREF, 2, MAX, 0, done)
        assert (trim.run(), trim.keeps) == (3, False)
        assert done.acked == {b"g0": [b"1-0", b"3-0"], b"g1": [b"1-0", b"2-0", b"3-0"]}
        done = Done()
        deletion = Deletion(stream, ACKED, done)
        for group in groups(stream):
            group.move_to(sid(4))
        assert [deletion.delete(sid(ms)) for ms in (4, 5, 6)] == [1, 2, 2]
        assert (done.acked, done.deleted) == ({}, [b"4-0"])

    def test_a_trim_tells_whether_it_left_entries_behind(self) -> None:
        stream = stream_of(5, 1, given=4)
        groups(stream)[0].ack(sid(1))
        trim = ReferencedTrim(stream, ACKED, -1, sid(2), 0)
        assert (trim.run(), trim.keeps) == (1, False)
        groups(stream)[0].ack(sid(3))
        trim = ReferencedTrim(stream, ACKED, -1, sid(4), 0)
        assert (trim.run(), trim.keeps) == (1, True)

    def test_nothing_is_before_the_first_id(self) -> None:
        stream = stream_of(3, 1, given=3)
        assert trimmed(stream, DELREF, minid=ZERO) == 0
        assert trimmed(Stream(), ACKED, maxlen=0) == 0
        assert deletions.KEEPREF == 0
