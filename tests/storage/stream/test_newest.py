"""The index of COMPACT: which entries a newer one has replaced, in batches."""

from __future__ import annotations

from random import Random

import pytest

from storage.listpack.listpack import Listpack
from storage.stream.newest import Newest
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId

NODES = {
    "usual nodes": StreamConfig(),
    "an entry in a node": StreamConfig(0, 1),
    "nodes longer than a batch": StreamConfig(0, 2_000),
    "nodes of more bytes than a batch": StreamConfig(1_000_000, 0),
}


def run(newest: Newest, stream: Stream, end: StreamId = MAX, most: int = 64) -> list[int]:
    """Have all go that are to; the milliseconds of their ids."""
    gone: list[StreamId] = []
    while newest.is_behind(stream, end):
        gone += newest.remove_some(stream, most, end)
    return sorted(entry_id.ms for entry_id in gone)


def entries(stream: Stream) -> list[tuple[int, list[bytes]]]:
    entry = stream.range(ZERO, MAX)
    found = []
    while entry.next():
        found.append((entry.ms, entry.read_fields()))
    return found


@pytest.mark.parametrize("size", [1, 15, 16, 20_000])
def test_values_of_any_length_are_told_apart(size: int) -> None:
    """Batches are of few long values, so that those take little memory."""
    stream, newest = Stream(), Newest(b"k")
    for ms in range(1, 13):
        value = b"%d" % (ms % 2)
        stream.append(StreamId(ms, 0), [b"k", value.rjust(size, b".")], 0)
    stream.delete(StreamId(3, 0))
    assert run(newest, stream) == [1, 2, 4, 5, 6, 7, 8, 9, 10]
    assert newest.values() == 2
    assert newest.remove_some(stream, 100, MAX) == []


@pytest.mark.parametrize("values", [2, 40, 3_000])
@pytest.mark.parametrize("nodes", NODES)
def test_of_many_entries_the_newest_of_each_value_stay(nodes: str, values: int) -> None:
    """Also after entries were deleted, and with a walk that ends before the last entries."""
    random = Random(values)
    stream, newest = Stream(), Newest(b"k")
    added: dict[int, list[bytes]] = {}
    last: dict[bytes, int] = {}
    for ms in range(1, 4_001):
        fields = [b"k", b"%d" % random.randrange(values), b"pad", b"." * (ms % 300)]
        if ms % 7 == 0:
            fields[0] = b"other"
        added[ms] = fields
        stream.append(StreamId(ms, 0), fields, 0, NODES[nodes])
        if ms % 1_300 == 0:  # a round of cron, which does not look at the last ones
            for one in (ms - 900, ms - 5):
                if stream.delete(StreamId(one, 0)):
                    del added[one]
            bound = ms - 10
            last = {f[1]: one for one, f in added.items() if f[0] == b"k" and one <= bound}
            gone = run(newest, stream, StreamId(bound, 0))
            for one in gone:
                assert added.pop(one)[0] == b"k"
            kept = [one for one, f in added.items() if f[0] == b"k" and one <= bound]
            assert kept == sorted(last.values())
    assert entries(stream) == list(added.items())
    assert stream.length == len(added)
    assert stream.first_id == StreamId(min(added), 0)
    assert sum(1 for node in nodes_of(stream) if node == 0) == 0
    assert run(newest, stream) == sorted(
        one
        for one, fields in added.items()
        if fields[0] == b"k" and any(added[at][:2] == fields[:2] for at in added if at > one)
    )


def nodes_of(stream: Stream) -> list[int]:
    """How many entries are alive in each node."""
    place = stream.rax.seek("^", b"")
    counts = []
    while place.next():
        counts.append(place.value.get_int(6))
    return counts


def test_a_deletion_is_seen_by_who_counts_positions() -> None:
    stream, newest = Stream(), Newest(b"k")
    for ms in range(1, 1_001):
        stream.append(StreamId(ms, 0), [b"k", b"%d" % (ms % 30), b"n", b"%d" % ms], 0)
    stream.positions()
    run(newest, stream)
    assert stream.length == 30
    assert stream.first_id == StreamId(971, 0)
    assert stream.max_deleted_id == StreamId(970, 0)
    assert stream.count(StreamId(980, 0), MAX) == 21
    assert stream.positions().before(StreamId(980, 0)) == 9


@pytest.mark.parametrize("nodes", NODES)
def test_it_goes_on_where_it_has_ended(nodes: str) -> None:
    """Also in a node that was longer than a batch, and with an end beyond all entries."""
    stream, newest = Stream(), Newest(b"k")
    for round_ in range(3):
        for number in range(2_500):
            ms = 10_000 * round_ + number + 1
            fields = [b"k", b"%d" % (number % 5), b"pad", b"." * 150]
            stream.append(StreamId(ms, 0), fields, 0, NODES[nodes])
        end = MAX if round_ != 1 else StreamId(99_999, 0)
        run(newest, stream, end)
        assert stream.length == 5
        assert newest.upto == stream.last_id


def test_an_end_beyond_all_entries_does_not_hide_those_that_come_later() -> None:
    stream, newest = Stream(), Newest(b"k")
    stream.append(StreamId(1, 0), [b"k", b"a"], 0, NODES["an entry in a node"])
    stream.append(StreamId(10, 0), [b"k", b"a"], 0, NODES["an entry in a node"])
    stream.delete(StreamId(10, 0))
    stream.set_id(StreamId(10, 0), 2, StreamId(1, 0))
    stream.set_id(StreamId(5, 0))
    assert run(newest, stream, StreamId(9, 0)) == []
    stream.append(StreamId(7, 0), [b"k", b"a"], 0)
    assert run(newest, stream) == [1]


@pytest.mark.parametrize("gone", [11, 12, 13])
@pytest.mark.parametrize("most", [1, 64])
def test_what_has_replaced_an_entry_may_go_before_that_does(gone: int, most: int) -> None:
    """Then the older one is the newest again, whichever of several calls looks at it."""
    stream, newest = Stream(), Newest(b"k")
    for ms in (1, 2, 3):
        stream.append(StreamId(ms, 0), [b"k", b"%d" % ms], 0)
    assert run(newest, stream) == []
    for ms in (11, 12, 13):
        stream.append(StreamId(ms, 0), [b"k", b"%d" % (ms - 10)], 0)
    assert newest.remove_some(stream, 1, MAX) == []
    assert newest.upto == StreamId(3, 0)  # what may have been replaced was not looked at yet
    assert newest.bytes_used() > Newest(b"k").bytes_used()
    stream.delete(StreamId(gone, 0))
    kept = gone - 10
    assert run(newest, stream, most=most) == [ms for ms in (1, 2, 3) if ms != kept]
    assert newest.upto == StreamId(13, 0)
    stream.append(StreamId(21, 0), [b"k", b"%d" % kept], 0)
    assert run(newest, stream) == [kept]


def test_flags_in_a_longer_form_than_they_need() -> None:
    """A node of RESTORE may have them; a mark makes them shorter, and moves what follows."""
    made, stream = Stream(), Stream()
    for ms in range(1, 5):
        made.append(StreamId(ms, 0), [b"k", b"%c" % (96 + ms)], 0)
    place = made.rax.seek("^", b"")
    assert place.next()
    data = bytearray(place.value.data[: place.value.size])
    for ms in reversed(range(1, 5)):
        at = data.rindex(b"\x02\x01%c\x01" % (ms - 1))
        data[at : at + 2] = b"\xf1\x02\x00\x03"  # 2 as a number of 16 bits
    data[:4] = len(data).to_bytes(4, "little")
    stream.add_node(place.current_key(), Listpack.adopt(data))
    stream.length, stream.entries_added = 4, 4
    stream.first_id, stream.last_id = StreamId(1, 0), StreamId(4, 0)
    newest = Newest(b"k")
    assert run(newest, stream) == []
    for ms in (10, 11, 12):
        stream.append(StreamId(ms, 0), [b"k", b"%c" % (87 + ms), b"pad", b"." * 5_000], 0)
    assert run(newest, stream) == [1, 2, 3]
    assert [ms for ms, _ in entries(stream)] == [4, 10, 11, 12]
    assert stream.node_bytes() == sum(size_of_nodes(stream))
    stream.trim_by_length(2)
    assert stream.node_bytes() == sum(size_of_nodes(stream))


def size_of_nodes(stream: Stream) -> list[int]:
    place = stream.rax.seek("^", b"")
    sizes = []
    while place.next():
        sizes.append(place.value.size)
    return sizes
