"""Positions in cases that random streams do not meet; tests/model has the rest."""

from __future__ import annotations

from storage import allocation
from storage.listpack.listpack import Listpack
from storage.rax.rax import Rax
from storage.stream import stream_node
from storage.stream.positions import FEW, NODES, Positions
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId
from tests.used_memory import used_at_start

ONE_A_NODE = StreamConfig(0, 1)


def sid(ms: int) -> StreamId:
    return StreamId(ms, 0)


def stream_of(count: int, config: StreamConfig = ONE_A_NODE) -> Stream:
    stream = Stream()
    for ms in range(1, count + 1):
        stream.append(sid(ms), [b"f", b"v"], 0, config)
    return stream


def test_a_stream_that_never_had_entries_has_no_blocks() -> None:
    stream = Stream()
    assert stream.positions().before(MAX) == 0
    assert stream.positions().neighbours(0) is None
    stream.append(sid(1), [b"f", b"v"])
    assert stream.positions().before(MAX) == 1


def test_all_of_a_stream_is_counted_without_positions() -> None:
    stream = stream_of(100)
    used = used_at_start()
    assert stream.count(ZERO, MAX) == 100
    assert stream.count(sid(1), sid(100)) == 100
    assert allocation.used_bytes() == used


def test_ids_beyond_63_bits_are_in_order() -> None:
    stream = Stream()
    halves = [1, 2, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
    assert len(halves) ** 2 > 2 * NODES
    ids = [StreamId(ms, seq) for ms in halves for seq in halves]
    for entry_id in ids:
        stream.append(entry_id, [b"f", b"v"], 0, ONE_A_NODE)
    assert [stream.positions().before(entry_id) for entry_id in ids] == list(range(len(ids)))


def test_blocks_that_are_empty_go_when_they_are_most() -> None:
    """A stream that keeps its first entry, and loses all others by their ids."""
    stream = stream_of(1)
    positions = stream.positions()
    for ms in range(2, 50 * NODES):
        stream.append(sid(ms), [b"f", b"v"], 0, ONE_A_NODE)
        stream.delete(sid(ms))
    assert positions is stream.positions()
    assert positions.blocks <= FEW + 1
    assert positions.neighbours(0) == (sid(1), sid(1))


def test_no_row_goes_while_half_of_them_have_entries() -> None:
    stream = stream_of(40 * NODES)
    positions = stream.positions()
    stream.delete_all([sid(ms) for ms in range(NODES + 1, 21 * NODES + 1)])
    assert positions.blocks == 40
    stream.delete(sid(21 * NODES + 1))
    assert positions.blocks == 40
    stream.trim_by_id(sid(2 + 21 * NODES))
    assert positions.blocks == 19
    assert [positions.before(sid(ms)) for ms in (0, 21 * NODES + 3, 10**6)] == [
        0,
        1,
        19 * NODES - 1,
    ]


def test_blocks_have_no_more_nodes_than_they_may() -> None:
    """A block whose number of nodes is not known gets no more."""
    stream = stream_of(2 * NODES + 1)
    positions = stream.positions()
    assert positions.blocks == 3
    stream.delete(sid(2 * NODES + 1))
    stream.append(sid(2 * NODES + 2), [b"f", b"v"], 0, StreamConfig(0, 2))  # in the node before
    assert positions.blocks == 2
    stream.append(sid(2 * NODES + 3), [b"f", b"v"], 0, ONE_A_NODE)
    assert positions.blocks == 3


def test_a_node_may_be_the_last_one_again() -> None:
    """It gets entries whose ids are in blocks that were after it."""
    for left in (1, NODES // 2, NODES, 2 * NODES):
        stream = stream_of(4 * NODES)
        positions = stream.positions()
        stream.delete_all([sid(ms) for ms in range(left + 1, 4 * NODES + 1)])
        for ms in range(4 * NODES + 1, 4 * NODES + 50):
            stream.append(sid(ms), [b"f", b"v"], 0, StreamConfig(0, 20))
        assert positions is stream.positions()
        ids = [*range(1, left + 1), *range(4 * NODES + 1, 4 * NODES + 50)]
        assert [positions.before(sid(ms)) for ms in ids] == list(range(len(ids)))
        stream.delete_all([sid(ms) for ms in ids[5::2]])
        ids = [*ids[:5], *ids[6::2]]
        assert [positions.before(sid(ms)) for ms in ids] == list(range(len(ids)))


def test_what_a_file_of_others_may_hold_is_counted() -> None:
    """Nodes none of whose entries are alive, and a last entry that is deleted and out of order."""
    rax = Rax()
    for ms in range(10):
        node = stream_node.new_node([b"f", b"v"], 0)
        for delta in (0, 2, -1):
            stream_node.append_entry(node, delta, 0, [b"f", b"v"], 0)
        at = stream_node.first_entry(node)
        for _ in range(2):
            at = stream_node.entry_after(node, at)
        stream_node.mark_deleted(node, at)
        if ms % 2:
            at = stream_node.first_entry(node)
            stream_node.mark_deleted(node, at)
            stream_node.mark_deleted(node, stream_node.entry_after(node, at))
        stream_node.count_deleted(node, 3 if ms % 2 else 1)
        rax.insert(sid(100 * ms + 50).key(), Listpack.load(node.dump()))
    positions = Positions(rax)
    living = [100 * ms + 50 + delta for ms in range(0, 10, 2) for delta in (0, 2)]
    for ms in range(1100):
        assert positions.before(sid(ms)) == sum(other < ms for other in living)
    for number, ms in enumerate(living):
        following = living[min(number + 1, len(living) - 1)]
        assert positions.neighbours(number) == (sid(ms), sid(following))


def test_a_kept_index_counts_its_memory() -> None:
    stream = stream_of(1)
    used = used_at_start()
    positions = stream.positions()
    made = allocation.used_bytes() - used
    assert 0 < made < 256
    for ms in range(2, 100 * NODES + 2):
        stream.append(sid(ms), [b"f", b"v"], 0, ONE_A_NODE)
    assert positions.blocks == 101
    stream.trim_by_length(0)
    assert positions.blocks <= FEW + 1
