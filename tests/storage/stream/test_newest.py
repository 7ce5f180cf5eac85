"""The index of COMPACT: which entries a newer one has replaced, in batches."""

from __future__ import annotations

from random import Random

import pytest

from storage.stream.newest import Newest
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId

NODES = {
    "usual nodes": StreamConfig(),
    "an entry in a node": StreamConfig(0, 1),
    "nodes longer than a batch": StreamConfig(0, 2_000),
    "nodes of more bytes than a batch": StreamConfig(1_000_000, 0),
}


def run(newest: Newest, stream: Stream, end: StreamId = MAX) -> list[int]:
    """Have all go that are to; the milliseconds of their ids."""
    gone: list[StreamId] = []
    while newest.is_behind(stream, end):
        gone += newest.remove_some(stream, 64, end)
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
