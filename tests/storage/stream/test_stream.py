"""Stream: growing ids, counters, nodes, deletion, trimming, groups and copies."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.errors import (
    BelowMaxDeleted,
    GroupExists,
    IdIsZero,
    IdNotGreater,
    IdsExhausted,
    LastIdTooSmall,
    TooFewAdded,
    TooLarge,
)
from storage.listpack import listpack
from storage.stream import sparse, stream_node
from storage.stream import stream as stream_module
from storage.stream.stream import MAX_ENTRY_SIZE, Stream, StreamConfig
from storage.stream.stream_id import MAX, U64_MAX, ZERO, StreamId
from tests.used_memory import used_at_start
from tests.worth import COMPILED

FIELDS = [b"name", b"value"]
THREES = StreamConfig(node_max_entries=3)
LIMITS_CAN_BE_SET = pytest.mark.skipif(COMPILED, reason="the limit of a listpack is a C number")
LIMITS = {  # as if that were 1000 bytes
    listpack: {"LIMIT": 1000},
    stream_module: {"_MOST_BYTES": 1000, "_FULL": 936},
    stream_node: {"_LIMIT": 1000},
}


def stream_of(count: int, config: StreamConfig = THREES) -> Stream:
    """Entries 1-0, 2-0, ...; by default a node holds three."""
    stream = Stream()
    for ms in range(1, count + 1):
        stream.append(StreamId(ms, 0), [b"n", b"%d" % ms], 0, config)
    return stream


def times(stream: Stream, reverse: bool = False) -> list[int]:
    entry = stream.range(reverse=reverse)
    found = []
    while entry.next():
        found.append(entry.ms)
    return found


def counters(stream: Stream) -> tuple[int, StreamId, StreamId, StreamId, int]:
    return (
        stream.length,
        stream.first_id,
        stream.last_id,
        stream.max_deleted_id,
        stream.entries_added,
    )


class TestIds:
    def test_an_automatic_id_begins_with_the_time(self) -> None:
        assert Stream().next_auto_id(1000) == StreamId(1000, 0)

    def test_an_automatic_id_grows_when_the_clock_stands_or_goes_back(self) -> None:
        stream = Stream()
        stream.append(StreamId(1000, 7), FIELDS)
        assert stream.next_auto_id(1000) == StreamId(1000, 8)
        assert stream.next_auto_id(500) == StreamId(1000, 8)
        assert stream.next_auto_id(1001) == StreamId(1001, 0)

    def test_an_automatic_id_carries_from_seq_into_ms(self) -> None:
        stream = Stream()
        stream.append(StreamId(1000, U64_MAX), FIELDS)
        assert stream.next_auto_id(1000) == StreamId(1001, 0)

    def test_there_is_no_automatic_id_after_the_greatest(self) -> None:
        stream = Stream()
        stream.append(MAX, FIELDS)
        with pytest.raises(IdsExhausted):
            stream.next_auto_id(1000)

    def test_an_automatic_seq_follows_the_last_id(self) -> None:
        stream = Stream()
        assert stream.next_seq_id(0) == StreamId(0, 1)
        stream.append(StreamId(5, 3), FIELDS)
        assert stream.next_seq_id(5) == StreamId(5, 4)
        assert stream.next_seq_id(6) == StreamId(6, 0)

    def test_an_automatic_seq_is_refused_when_its_ms_is_used_up(self) -> None:
        stream = Stream()
        stream.append(StreamId(5, U64_MAX), FIELDS)
        with pytest.raises(IdNotGreater):
            stream.next_seq_id(5)
        with pytest.raises(IdNotGreater):
            stream.next_seq_id(4)


class TestAppend:
    def test_updates_length_first_id_last_id_and_entries_added(self) -> None:
        assert counters(stream_of(4)) == (4, StreamId(1, 0), StreamId(4, 0), ZERO, 4)

    def test_fields_can_begin_anywhere_in_the_list(self) -> None:
        stream = Stream()
        stream.append(StreamId(1, 1), [b"XADD", b"key", b"*", b"a", b"1"], 3)
        entry = stream.range()
        assert entry.next()
        assert entry.read_fields() == [b"a", b"1"]

    @pytest.mark.parametrize(
        ("entry_id", "refusal"),
        [
            (ZERO, IdIsZero),
            (StreamId(4, 0), IdNotGreater),
            (StreamId(3, 9), IdNotGreater),
        ],
    )
    def test_a_refused_id_changes_nothing(
        self, entry_id: StreamId, refusal: type[Exception]
    ) -> None:
        stream = stream_of(4)
        before = counters(stream), times(stream)
        with pytest.raises(refusal):
            stream.append(entry_id, FIELDS)
        assert (counters(stream), times(stream)) == before

    def test_zero_is_refused_by_an_empty_stream_too(self) -> None:
        with pytest.raises(IdIsZero):
            Stream().append(ZERO, FIELDS)

    def test_no_entry_can_follow_the_greatest_id(self) -> None:
        stream = Stream()
        stream.append(MAX, FIELDS)
        with pytest.raises(IdsExhausted):
            stream.append(StreamId(5, 0), FIELDS)

    def test_an_entry_of_more_than_a_gibibyte_is_refused(self) -> None:
        """CVE-2021-32627: in Redis its size overflowed."""
        stream = Stream()
        part = bytes(MAX_ENTRY_SIZE // 16)
        with pytest.raises(TooLarge):
            stream.append(StreamId(1, 0), [part, part] * 8 + [b"one", b"more"])
        assert counters(stream) == (0, ZERO, ZERO, ZERO, 0)

    @pytest.mark.parametrize("before", [0, 2, 3])
    def test_an_entry_for_which_no_node_has_room_is_refused_and_changes_nothing(
        self, before: int
    ) -> None:
        """Its texts are a gibibyte; what a node has besides them is too much."""
        stream = stream_of(before)
        found = counters(stream), times(stream), stream.node_bytes()
        nodes = [(key, node.dump()) for key, node in stream.rax]
        with pytest.raises(TooLarge):
            stream.append(StreamId(9, 0), [bytes(MAX_ENTRY_SIZE // 16)] * 16, 0, THREES)
        assert [(key, node.dump()) for key, node in stream.rax] == nodes
        assert (counters(stream), times(stream), stream.node_bytes()) == found
        stream.append(StreamId(9, 0), FIELDS, 0, THREES)
        assert times(stream) == [*range(1, before + 1), 9]

    @LIMITS_CAN_BE_SET
    @pytest.mark.parametrize("words", [2, 20])
    def test_an_entry_that_the_last_node_has_no_room_for_begins_a_new_node(
        self, words: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In a node without a limit of its own, too, and however many bytes its texts are."""
        for module, limits in LIMITS.items():
            for name, size in limits.items():
                monkeypatch.setattr(module, name, size, raising=False)
        stream = Stream()
        for ms in range(1, 401):
            stream.append(StreamId(ms, 0), [b"%d" % ms] * words, 0, StreamConfig(0, 0))
        assert times(stream) == list(range(1, 401))
        sizes = [node.size for _, node in stream.rax]
        assert 1 < len(sizes) < 400
        assert max(sizes) <= 1000

    @LIMITS_CAN_BE_SET
    def test_all_entries_of_a_full_node_can_be_deleted(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The count of deleted entries takes more bytes then than it took at first."""
        for module, limits in LIMITS.items():
            for name, size in limits.items():
                monkeypatch.setattr(module, name, 4 * size, raising=False)
        stream = stream_of(1000, StreamConfig(0, 0))
        for ms in range(1, 1000):
            assert stream.delete(StreamId(ms, 0))
        assert times(stream) == [1000]

    def test_a_node_is_limited_in_entries_and_deleted_ones_count(self) -> None:
        stream = stream_of(3)
        stream.delete(StreamId(2, 0))
        stream.append(StreamId(4, 0), FIELDS, 0, THREES)
        assert [key for key, _ in stream.rax] == [StreamId(1, 0).key(), StreamId(4, 0).key()]

    def test_a_node_is_limited_in_bytes(self) -> None:
        stream = Stream()
        config = StreamConfig(node_max_bytes=100, node_max_entries=0)
        for ms in range(1, 6):
            stream.append(StreamId(ms, 0), [b"k", b"x" * 20], 0, config)
        assert [key for key, _ in stream.rax] == [StreamId(1, 0).key(), StreamId(4, 0).key()]

    def test_zero_means_no_limit_on_a_node(self) -> None:
        stream = stream_of(1000, StreamConfig(0, 0))
        assert len(stream.rax) == 1
        assert times(stream) == list(range(1, 1001))

    def test_a_deleted_last_node_is_not_appended_to(self) -> None:
        stream = stream_of(4)
        stream.delete(StreamId(4, 0))
        stream.append(StreamId(5, 0), FIELDS, 0, StreamConfig())
        assert times(stream) == [1, 2, 3, 5]


class TestRoomOfNodes:
    """The memory that a node reserves while it grows; a full node keeps only what it needs."""

    def room(self, stream: Stream) -> list[int]:
        return [len(node.data) for _, node in stream.rax]

    def test_a_new_node_reserves_the_size_of_the_previous_node(self) -> None:
        stream = Stream()
        for ms in range(1, 102):
            stream.append(StreamId(ms, 0), [b"name", b"v" * 20])
        full, new = self.room(stream)
        assert full == next(iter(stream.rax))[1].size
        assert full <= new < 2 * full

    def test_the_first_node_of_a_stream_reserves_little(self) -> None:
        assert self.room(stream_of(1))[0] < 64

    def test_a_node_of_one_huge_entry_does_not_enlarge_the_next(self) -> None:
        stream = Stream()
        stream.append(StreamId(1, 0), [b"name", b"v" * 1_000_000])
        stream.append(StreamId(2, 0), [b"name", b"v"])
        assert self.room(stream)[1] < 8192

    def test_a_huge_entry_is_not_copied_when_its_node_is_full(self) -> None:
        stream = Stream()
        stream.append(StreamId(1, 0), [b"name", b"v" * 1_000_000])
        node = next(iter(stream.rax))[1]
        data = node.data
        stream.append(StreamId(2, 0), [b"name", b"v" * 1_000_000])
        assert node.data is data
        assert len(data) - node.size < 256


class TestDelete:
    def test_removes_the_entry_and_updates_the_counters(self) -> None:
        stream = stream_of(5)
        assert stream.delete(StreamId(2, 0))
        assert times(stream) == [1, 3, 4, 5]
        assert counters(stream) == (4, StreamId(1, 0), StreamId(5, 0), StreamId(2, 0), 5)

    def test_a_missing_id_changes_nothing(self) -> None:
        stream = stream_of(5)
        stream.delete(StreamId(2, 0))
        before = counters(stream)
        for entry_id in (StreamId(2, 0), StreamId(3, 1), StreamId(9, 0), ZERO, MAX):
            assert not stream.delete(entry_id)
        assert counters(stream) == before

    def test_the_first_id_moves_on(self) -> None:
        stream = stream_of(5)
        assert stream.delete_all([StreamId(2, 0), StreamId(1, 0), StreamId(3, 0)]) == 3
        assert stream.first_id == StreamId(4, 0)

    def test_an_id_given_twice_counts_once(self) -> None:
        assert stream_of(5).delete_all([StreamId(2, 0), StreamId(2, 0)]) == 1

    def test_the_greatest_deleted_id_is_kept(self) -> None:
        stream = stream_of(5)
        stream.delete_all([StreamId(4, 0), StreamId(2, 0)])
        assert stream.max_deleted_id == StreamId(4, 0)

    def test_the_last_id_stays_when_the_last_entry_is_deleted(self) -> None:
        stream = stream_of(2)
        stream.delete(StreamId(2, 0))
        assert (stream.last_id, stream.last_entry_id()) == (StreamId(2, 0), StreamId(1, 0))

    def test_a_node_is_freed_with_its_last_entry(self) -> None:
        stream = stream_of(6)
        stream.delete_all([StreamId(ms, 0) for ms in (1, 2, 3)])
        assert len(stream.rax) == 1

    def test_an_emptied_stream_keeps_its_counters(self) -> None:
        stream = stream_of(2)
        stream.delete_all([StreamId(1, 0), StreamId(2, 0)])
        assert counters(stream) == (0, ZERO, StreamId(2, 0), StreamId(2, 0), 2)
        assert (stream.first_entry_id(), stream.last_entry_id()) == (ZERO, ZERO)

    def test_the_counts_of_a_node_can_grow_by_a_byte(self) -> None:
        stream = stream_of(300, StreamConfig(0, 0))
        assert stream.delete_all([StreamId(ms, 0) for ms in range(1, 200)]) == 199
        assert times(stream) == list(range(200, 301))
        assert times(stream, reverse=True) == list(range(300, 199, -1))

    def test_contains_is_false_for_a_deleted_entry(self) -> None:
        stream = stream_of(3)
        stream.delete(StreamId(2, 0))
        assert [stream.contains(StreamId(ms, 0)) for ms in range(5)] == [
            False, True, False, True, False,
        ]  # fmt: skip


class TestTrimByLength:
    def test_exact_cuts_into_a_node(self) -> None:
        stream = stream_of(10)
        assert stream.trim_by_length(5) == 5
        assert times(stream) == [6, 7, 8, 9, 10]
        assert counters(stream) == (5, StreamId(6, 0), StreamId(10, 0), ZERO, 10)

    def test_approximate_takes_whole_nodes_only(self) -> None:
        stream = stream_of(10)
        assert stream.trim_by_length(5, approximate=True) == 3
        assert times(stream) == [4, 5, 6, 7, 8, 9, 10]

    @pytest.mark.parametrize(("limit", "deleted"), [(0, 9), (1, 0), (2, 0), (3, 3), (8, 6), (9, 9)])
    def test_a_limit_stops_before_the_node_that_would_pass_it(
        self, limit: int, deleted: int
    ) -> None:
        assert stream_of(10).trim_by_length(1, approximate=True, limit=limit) == deleted

    def test_to_length_zero(self) -> None:
        stream = stream_of(10)
        assert stream.trim_by_length(0) == 10
        assert (times(stream), stream.first_id, len(stream.rax)) == ([], ZERO, 0)
        stream.append(StreamId(11, 0), FIELDS)
        assert stream.first_id == StreamId(11, 0)

    def test_to_more_than_the_length_deletes_nothing(self) -> None:
        assert stream_of(10).trim_by_length(11) == 0

    def test_deleted_entries_do_not_count(self) -> None:
        stream = stream_of(6)
        stream.delete_all([StreamId(1, 0), StreamId(3, 0)])
        assert stream.trim_by_length(3) == 1
        assert times(stream) == [4, 5, 6]


class TestTrimById:
    def test_exact_cuts_into_a_node(self) -> None:
        stream = stream_of(10)
        assert stream.trim_by_id(StreamId(6, 0)) == 5
        assert times(stream) == [6, 7, 8, 9, 10]
        assert counters(stream) == (5, StreamId(6, 0), StreamId(10, 0), ZERO, 10)

    def test_approximate_takes_whole_nodes_only(self) -> None:
        stream = stream_of(10)
        assert stream.trim_by_id(StreamId(6, 0), approximate=True) == 3
        assert stream.first_id == StreamId(4, 0)

    @pytest.mark.parametrize(("limit", "deleted"), [(0, 9), (2, 0), (3, 3), (8, 6)])
    def test_a_limit_stops_before_the_node_that_would_pass_it(
        self, limit: int, deleted: int
    ) -> None:
        stream = stream_of(10)
        assert stream.trim_by_id(StreamId(10, 0), approximate=True, limit=limit) == deleted

    def test_can_delete_everything_or_nothing(self) -> None:
        stream = stream_of(10)
        assert stream.trim_by_id(ZERO) == 0
        assert stream.trim_by_id(StreamId(1, 0)) == 0
        assert stream.trim_by_id(MAX) == 10
        assert stream.trim_by_id(MAX) == 0

    def test_a_node_s_deleted_last_entry_counts_as_its_end(self) -> None:
        stream = stream_of(3)
        stream.delete(StreamId(3, 0))
        assert stream.trim_by_id(StreamId(3, 0), approximate=True) == 0
        assert stream.trim_by_id(StreamId(3, 0)) == 2
        assert (stream.length, len(stream.rax), stream.first_id) == (0, 1, ZERO)  # as in redis


@pytest.mark.parametrize(("entries", "limit"), [(100, 10_000), (0, 10_000), (20_000, 1_000_000)])
def test_the_default_limit_of_a_trim_is_a_hundred_nodes(entries: int, limit: int) -> None:
    assert StreamConfig(4096, entries).trim_limit() == limit


class TestSetId:
    def test_sets_last_id_entries_added_and_max_deleted_id(self) -> None:
        stream = stream_of(3)
        stream.set_id(StreamId(9, 9))
        assert counters(stream) == (3, StreamId(1, 0), StreamId(9, 9), ZERO, 3)
        stream.set_id(StreamId(9, 9), 100, StreamId(5, 5))
        assert counters(stream) == (3, StreamId(1, 0), StreamId(9, 9), StreamId(5, 5), 100)

    @pytest.mark.parametrize(
        ("last_id", "entries_added", "refusal"),
        [
            (StreamId(1, 0), None, BelowMaxDeleted),
            (StreamId(2, 9), None, LastIdTooSmall),
            (StreamId(9, 0), 1, TooFewAdded),
        ],
    )
    def test_refusals_change_nothing(
        self, last_id: StreamId, entries_added: int | None, refusal: type[Exception]
    ) -> None:
        stream = stream_of(3)
        stream.delete(StreamId(2, 0))
        before = counters(stream)
        with pytest.raises(refusal):
            stream.set_id(last_id, entries_added, StreamId(1, 0))
        assert counters(stream) == before

    def test_the_last_id_can_be_lowered_to_the_last_entry(self) -> None:
        stream = stream_of(3)
        stream.set_id(StreamId(8, 0))
        stream.set_id(StreamId(3, 0))
        assert stream.last_id == StreamId(3, 0)

    def test_an_empty_stream_can_have_zero_entries_added(self) -> None:
        stream = Stream()
        stream.set_id(StreamId(5, 0), 0)
        assert counters(stream) == (0, ZERO, StreamId(5, 0), ZERO, 0)

    def test_entries_added_stays_at_its_maximum(self) -> None:
        stream = Stream()
        stream.set_id(StreamId(1, 0), 2**63 - 2)
        stream.append(StreamId(2, 0), FIELDS)
        stream.append(StreamId(3, 0), FIELDS)
        assert stream.entries_added == 2**63 - 1


class TestGroups:
    def test_are_listed_by_name(self) -> None:
        stream = Stream()
        for name in (b"b", b"a", b"B", b"ab"):
            stream.create_group(name, ZERO)
        assert [name for name, _ in stream.sorted_groups()] == [b"B", b"a", b"ab", b"b"]

    def test_a_name_can_be_used_once(self) -> None:
        stream = Stream()
        group = stream.create_group(b"g", StreamId(3, 0), 5)
        with pytest.raises(GroupExists):
            stream.create_group(b"g", ZERO)
        assert stream.find_group(b"g") is group
        assert (group.last_id, group.entries_read) == (StreamId(3, 0), 5)

    def test_of_one_stream_are_not_those_of_another(self) -> None:
        start = used_at_start()
        streams = [Stream(), Stream(), Stream()]
        streams[0].create_group(b"g", ZERO)
        streams[1].create_group(b"h", ZERO)
        assert [list(stream.groups) for stream in streams] == [[b"g"], [b"h"], []]
        assert not streams[2].delete_group(b"g")
        assert [list(twin.copy().groups) for twin in streams] == [[b"g"], [b"h"], []]
        del streams
        assert allocation.used_bytes() == start

    def test_a_deleted_group_is_gone(self) -> None:
        stream = Stream()
        stream.create_group(b"g", ZERO)
        assert stream.delete_group(b"g")
        assert not stream.delete_group(b"g")
        assert stream.find_group(b"g") is None


class TestCopy:
    def test_a_copy_is_equal_and_independent(self) -> None:
        stream = stream_of(7)
        stream.delete(StreamId(1, 0))
        group = stream.create_group(b"g", StreamId(2, 0), 1)
        group.deliver(StreamId(2, 0), group.create_consumer(b"alice", 50), 60)
        copy = stream.copy()
        assert counters(copy) == counters(stream)
        assert times(copy) == times(stream)

        copy.delete(StreamId(2, 0))
        copy.append(StreamId(8, 0), FIELDS)
        copy.groups[b"g"].ack(StreamId(2, 0))
        assert times(stream) == [2, 3, 4, 5, 6, 7]
        assert times(copy) == [3, 4, 5, 6, 7, 8]
        assert stream.groups[b"g"].find(StreamId(2, 0)) is not None


ELEVENS = StreamConfig(node_max_entries=11)


class TestSparseNodes:
    """14689: a node of which the greater half is deleted is rewritten, when compact() is called."""

    def test_14689_a_node_gives_back_the_memory_of_deleted_entries(self) -> None:
        stream = stream_of(33, ELEVENS)
        bytes_before = sum(node.size for _, node in stream.rax)
        assert stream.delete_all([StreamId(ms, 0) for ms in range(12, 17)]) == 5
        assert not stream.is_noted()
        stream.delete(StreamId(20, 0))
        assert stream.is_noted()
        kept = times(stream)
        assert stream.compact(100) == 1
        assert not stream.is_noted()
        assert (times(stream), times(stream, reverse=True)) == (kept, kept[::-1])
        assert sum(node.size for _, node in stream.rax) < bytes_before
        assert [stream_node.entries(node) for _, node in stream.rax] == [11, 5, 11]
        assert stream.contains(StreamId(17, 0))
        assert not stream.contains(StreamId(20, 0))
        assert stream.delete(StreamId(17, 0))

    def test_14689_the_last_node_is_rewritten_when_the_next_one_begins(self) -> None:
        stream = stream_of(11, ELEVENS)
        stream.delete_all([StreamId(ms, 0) for ms in range(1, 9)])
        assert stream.compact(100) == 0
        stream.append(StreamId(12, 0), FIELDS, 0, ELEVENS)
        assert stream.is_noted()
        assert stream.compact(100) == 1
        assert [stream_node.entries(node) for _, node in stream.rax] == [3, 1]
        stream.append(StreamId(13, 0), FIELDS, 0, ELEVENS)
        assert times(stream) == [9, 10, 11, 12, 13]

    def test_nodes_are_not_merged(self) -> None:
        """Redis 8.8 merges neighbours with the same fields; XINFO shows the number of nodes."""
        stream = stream_of(44, ELEVENS)
        stream.delete_all([StreamId(ms, 0) for ms in range(2, 22)])
        stream.compact(100)
        assert [stream_node.entries(node) for _, node in stream.rax] == [1, 1, 11, 11]

    def test_some_nodes_at_a_time(self) -> None:
        stream = stream_of(55, ELEVENS)
        stream.delete_all([StreamId(ms, 0) for ms in range(1, 45) if ms % 11 > 3])
        assert (stream.compact(3), stream.is_noted()) == (3, True)
        assert (stream.compact(3), stream.is_noted()) == (1, False)

    def test_a_node_that_has_gone_meanwhile_is_left_out(self) -> None:
        stream = stream_of(33, ELEVENS)
        stream.delete_all([StreamId(ms, 0) for ms in range(1, 9)])
        stream.trim_by_length(5)
        assert stream.compact(100) == 1
        assert times(stream) == [29, 30, 31, 32, 33]

    def test_trims_and_walks_go_on_behind_a_rewritten_head(self) -> None:
        stream = stream_of(22, ELEVENS)
        for length in range(21, 11, -1):
            assert stream.trim_by_length(length) == 1
            if length == 14:
                stream.compact(100)
            assert times(stream) == list(range(23 - length, 23))
            assert stream.first_id == StreamId(23 - length, 0)

    def test_what_is_noted_goes_with_the_stream(self) -> None:
        stream = stream_of(22, ELEVENS)
        stream.delete_all([StreamId(ms, 0) for ms in range(1, 9)])
        number = id(stream)
        assert sparse.has_more(number)
        del stream
        assert not sparse.has_more(number)


class TestTrimByOne:
    """4299 of Valkey: a trim by one does not look at the deleted entries before."""

    @pytest.mark.parametrize("by_id", [False, True])
    @pytest.mark.parametrize("config", [THREES, StreamConfig(0, 0), ELEVENS])
    def test_4299_entries_go_one_by_one(self, config: StreamConfig, by_id: bool) -> None:
        stream = Stream()
        for ms in range(1, 100):
            fields = FIELDS if ms % 7 else [b"own", b"v" * ms, b"field", b""]
            stream.append(StreamId(ms, 0), fields, 0, config)
            if by_id:
                trimmed = stream.trim_by_id(StreamId(max(ms - 4, 1), 0))
            else:
                trimmed = stream.trim_by_length(5)
            assert trimmed <= 1
            assert stream.length == len(times(stream)) <= 5
            assert stream.first_id.ms == times(stream)[0]
            if ms % 10 == 9:
                assert stream.delete(StreamId(ms - 2, 0))

    def test_all_living_entries_of_the_first_node_may_go(self) -> None:
        stream = stream_of(6)
        stream.delete(StreamId(3, 0))
        assert stream.trim_by_id(StreamId(3, 0)) == 2
        assert times(stream) == [4, 5, 6]
        assert stream.first_id == StreamId(4, 0)
        assert stream.trim_by_length(2) == 1
        assert times(stream) == [5, 6]
