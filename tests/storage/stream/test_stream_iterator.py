"""Stream iterators: ranges, both directions, positions of elements, changes while iterating."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId
from storage.stream.stream_iterator import new_finder

TWOS = StreamConfig(node_max_entries=2)


@pytest.fixture
def stream() -> Stream:
    """10-0 .. 60-0 in nodes of two; 30-0 is deleted, 40-0 has field names of its own."""
    made = Stream()
    for ms in (10, 20, 30, 40, 50, 60):
        fields = [b"own", b"1", b"more", b"x"] if ms == 40 else [b"n", b"%d" % ms]
        made.append(StreamId(ms, 0), fields, 0, TWOS)
    made.delete(StreamId(30, 0))
    return made


def ids_in(stream: Stream, start: StreamId, end: StreamId, reverse: bool = False) -> list[int]:
    entry = stream.range(start, end, reverse)
    found = []
    while entry.next():
        found.append(entry.id.ms)
    assert not entry.next(), "an iterator stays at its end"
    return found


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (ZERO, MAX, [10, 20, 40, 50, 60]),
        (StreamId(10, 0), StreamId(60, 0), [10, 20, 40, 50, 60]),
        (StreamId(10, 1), StreamId(59, 9), [20, 40, 50]),
        (StreamId(20, 0), StreamId(20, 0), [20]),
        (StreamId(30, 0), StreamId(30, 0), []),
        (StreamId(25, 0), StreamId(35, 0), []),
        (StreamId(30, 0), StreamId(40, 0), [40]),
        (StreamId(60, 1), MAX, []),
        (ZERO, StreamId(9, 9), []),
        (StreamId(40, 0), StreamId(20, 0), []),
    ],
)
def test_a_range_is_the_same_in_both_directions(
    stream: Stream, start: StreamId, end: StreamId, expected: list[int]
) -> None:
    assert ids_in(stream, start, end) == expected
    assert ids_in(stream, start, end, reverse=True) == expected[::-1]


def test_an_empty_stream_yields_nothing() -> None:
    assert ids_in(Stream(), ZERO, MAX) == ids_in(Stream(), ZERO, MAX, reverse=True) == []


@pytest.mark.parametrize("reverse", [False, True])
def test_field_names_come_from_the_master_entry_or_the_entry(stream: Stream, reverse: bool) -> None:
    found = {}
    entry = stream.range(reverse=reverse)
    while entry.next():
        found[entry.ms] = (entry.same_fields, entry.read_fields())
    assert found == {
        10: (True, [b"n", b"10"]),
        20: (True, [b"n", b"20"]),
        40: (False, [b"own", b"1", b"more", b"x"]),  # its master entry is that of 30-0
        50: (True, [b"n", b"50"]),
        60: (True, [b"n", b"60"]),
    }


def test_names_at_and_fields_at_are_positions_in_the_listpack(stream: Stream) -> None:
    entry = stream.range(StreamId(40, 0), StreamId(50, 0))
    assert entry.next()
    node = entry.node
    assert node is not None
    assert (entry.num_fields, entry.master_fields) == (2, 1)
    assert node.get_bytes(entry.names_at) == b"n"
    assert node.get_bytes(entry.fields_at) == b"own"
    assert entry.key() == StreamId(30, 0).key()
    assert entry.next()
    assert entry.node is not node
    assert entry.node is not None
    assert entry.node.get_bytes(entry.fields_at) == b"50"


@pytest.mark.parametrize("reverse", [False, True])
def test_every_entry_can_be_deleted_while_iterating(stream: Stream, reverse: bool) -> None:
    entry = stream.range(reverse=reverse)
    seen = []
    while entry.next():
        seen.append(entry.ms)
        stream.delete_current(entry)
    assert seen == ([60, 50, 40, 20, 10] if reverse else [10, 20, 40, 50, 60])
    assert (stream.length, len(stream.rax)) == (0, 0)


@pytest.mark.parametrize("reverse", [False, True])
def test_iteration_continues_when_the_counts_of_its_node_grow_by_a_byte(reverse: bool) -> None:
    stream = Stream()
    for ms in range(1, 301):
        stream.append(StreamId(ms, 0), [b"n", b"%d" % ms], 0, StreamConfig(0, 0))
    entry = stream.range(reverse=reverse)
    seen = []
    while entry.next():
        seen.append(entry.ms)
        assert entry.read_fields() == [b"n", b"%d" % entry.ms]
        if entry.ms % 3:
            stream.delete_current(entry)
            assert entry.read_fields() == [b"n", b"%d" % entry.ms]
    assert sorted(seen) == list(range(1, 301))
    assert ids_in(stream, ZERO, MAX) == list(range(3, 301, 3))


def test_iteration_reaches_entries_appended_meanwhile(stream: Stream) -> None:
    entry = stream.range()
    seen = []
    while entry.next():
        seen.append(entry.ms)
        if entry.ms < 90:
            stream.append(StreamId(stream.last_id.ms + 10, 0), [b"n", b"x"], 0, TWOS)
    assert seen[:7] == [10, 20, 40, 50, 60, 70, 80]


def test_an_iterator_that_has_not_begun_has_no_entry(stream: Stream) -> None:
    entry = stream.range()
    assert entry.node is None
    assert entry.read_fields() == []


def test_a_walk_may_begin_at_any_entry_of_a_node() -> None:
    """Entries of every form, so that each way of passing one by is taken."""
    stream = Stream()
    ids = []
    for n in range(60):
        entry_id = StreamId(2**40 + n // 3 * 10 ** (n // 6), n % 3 * 10 ** (n // 4))
        fields = [b"n", b"x" * 90 * n] if n % 4 else [b"own", b"-%d" % 7**n, b"%d" % n, b"y"]
        stream.append(entry_id, fields, 0, StreamConfig(node_max_bytes=0))
        ids.append(entry_id)
    stream.delete_all(ids[20:24])
    assert len(stream.rax) == 1
    living = ids[:20] + ids[24:]
    for start in ids:
        for first in (start, start.next(), start.prev()):
            entry = stream.range(first, MAX)
            expected = [entry_id for entry_id in living if entry_id >= first]
            found = []
            while entry.next():
                found.append(entry.id)
            assert found == expected


@pytest.mark.parametrize("reverse", [False, True])
def test_a_deleted_entry_with_a_greater_id_does_not_end_the_walk(reverse: bool) -> None:
    """Files from before Redis 7.0 have such nodes, after XDEL of the last entry and XSETID."""
    stream = Stream()
    stream.append(StreamId(5, 0), [b"f", b"v"], 0, StreamConfig())
    stream.append(StreamId(10, 0), [b"f", b"v"], 0, StreamConfig())
    stream.delete(StreamId(10, 0))
    stream.last_id = StreamId(6, 0)
    stream.append(StreamId(7, 0), [b"f", b"v"], 0, StreamConfig())
    assert ids_in(stream, StreamId(6, 0), StreamId(8, 0), reverse) == [7]
    assert stream.delete(StreamId(7, 0))


# ---------------------------------------------------------------------- find


@given(
    st.integers(1, 60),
    st.sampled_from([1, 2, 5, 20]),
    st.lists(st.tuples(st.integers(0, 64), st.booleans()), max_size=60),
    st.booleans(),
)
def test_what_is_there_is_found_in_whatever_order(
    length: int, node_entries: int, sought: list[tuple[int, bool]], ascending: bool
) -> None:
    """And deleted, or not, before the next one is sought."""
    stream = Stream()
    for ms in range(1, length + 1):
        fields = [b"n", b"%d" % ms] if ms % 7 else [b"own", b"%d" % ms, b"more", b"x"]
        stream.append(StreamId(ms, 0), fields, 0, StreamConfig(node_max_entries=node_entries))
    there = set(range(1, length + 1))
    place = new_finder(stream.rax)
    for ms, is_deleted in sorted(sought) if ascending else sought:
        assert place.find(StreamId(ms, 0)) == (ms in there)
        assert not place.find(StreamId(ms, 1))
        if ms in there:
            assert place.find(StreamId(ms, 0))
            assert place.read_fields()[1] == b"%d" % ms
            if is_deleted:
                stream.delete_current(place)
                there.discard(ms)
    assert ids_in(stream, ZERO, MAX) == sorted(there)


def test_an_entry_behind_a_deleted_one_of_a_greater_id_is_found() -> None:
    """Files from before Redis 7.0 have such."""
    stream = Stream()
    for ms in (1, 5):
        stream.append(StreamId(ms, 0), [b"f", b"v"], 0)
    stream.delete(StreamId(5, 0))
    stream.last_id = StreamId(1, 0)
    stream.append(StreamId(3, 0), [b"f", b"v"], 0)
    place = new_finder(stream.rax)
    assert [place.find(StreamId(ms, 0)) for ms in (1, 2, 3, 4, 5, 6)] == [1, 0, 1, 0, 0, 0]
    assert [place.find(StreamId(ms, 0)) for ms in (3, 5, 1)] == [1, 0, 1]
