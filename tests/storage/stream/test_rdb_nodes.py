"""NodeCheck: the check of a stream node that comes from an RDB or a payload."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.listpack.listpack import Listpack
from storage.stream import stream_node
from storage.stream.rdb_nodes import NodeCheck
from storage.stream.stream import Stream
from storage.stream.stream_id import U64_MAX, StreamId

KEY = StreamId(5, 5).key()
ENTRY = (2, 0, 0, b"v", 4)
SECOND = (2, 0, 1, b"w", 4)


def node_of(*elements: int | bytes) -> Listpack:
    node = Listpack()
    for element in elements:
        if isinstance(element, int):
            node.append_int(element)
        else:
            node.append(element)
    return node


def checked(data: bytes, key: bytes = KEY) -> NodeCheck:
    check = NodeCheck(bytearray(data), key)
    check.run()
    return check


def test_the_nodes_of_a_stream_pass() -> None:
    stream = Stream()
    for number in range(250):
        fields = [b"f", b"%d" % number] if number % 3 else [b"f", b"x" * 200, b"g", b""]
        stream.append(StreamId(1000 + number // 7, number), fields)
    stream.delete_all([StreamId(1000 + number // 7, number) for number in (0, 3, 99, 249)])
    alive = 0
    for key, node in stream.rax:
        check = checked(node.dump(), key)
        assert check.alive == stream_node.alive(node)
        alive += check.alive
    assert alive == len(stream)
    assert check.top() == stream.last_entry_id()


@pytest.mark.parametrize(
    ("elements", "reason"),
    [
        ((1, 0, 1, b"f", 0), "counts"),
        ((2, 0, 1, b"f", 0, *ENTRY), "counts"),
        ((1, 1, 1, b"f", 0, *ENTRY), "counts"),
        ((0, 0, 1, b"f", 0), "counts"),
        ((1, 0, 1, b"f", 1, *ENTRY), "does not end with 0"),
        ((1, 0, -1, b"f", 0, *ENTRY), "impossible number"),
        ((1, 0, 2**40, b"f", 0, *ENTRY), "impossible number"),
        ((b"x", 0, 1, b"f", 0, *ENTRY), "text where a number"),
        ((1, 0, 9, b"f", 0), "in the middle"),
        ((1, 0, 1, b"f", 0, 2, 0, 0, b"v"), "in the middle"),
        ((1, 0, 1, b"f", 0, 2, 0, 0, b"v", 5), "lp-count"),
        ((1, 0, 1, b"f", 0, 0, 0, 0, 1, b"f", b"v", 5), "lp-count"),
        ((2, 0, 1, b"f", 0, *SECOND, *ENTRY), "out of order"),
        ((2, 0, 1, b"f", 0, *ENTRY, *ENTRY), "two entries of one id"),
        ((1, 0, 1, b"f", 0, 2, 0, -1, b"v", 4), "out of order"),
    ],
)
def test_a_malformed_node_is_refused_with_the_reason(
    elements: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(Corrupt, match=reason):
        checked(node_of(*elements).dump())


@pytest.mark.parametrize(
    "elements",
    [
        (),
        (1,),
        (1, 0, 1),
        (1, 0, 1, b"f"),
        (1, 0, 1, b"f", 0),
        (0, 0, 1, b"f", 0),  # no entries at all
        (1, 0, 1, b"f", 0, 2, 0, 0, b"v"),  # no lp-count
        (1, 0, 1, b"f", 0, 2, 0, 0, b"v", 5),  # a wrong lp-count
        (1, 0, 1, b"f", 1, 2, 0, 0, b"v", 4),  # the master entry ends with 1
        (1, 0, 2, b"f", 0, 2, 0, 0, b"v", 4),  # a field too many
        (1, 0, -1, b"f", 0, 2, 0, 0, b"v", 4),
        (1, 0, 2**62, b"f", 0, 2, 0, 0, b"v", 4),
        (2, 0, 1, b"f", 0, 2, 0, 0, b"v", 4),  # an entry too few
        (0, 1, 1, b"f", 0, 2, 0, 0, b"v", 4),  # counted as deleted, but alive
        (1, 0, 1, b"f", 0, 3, 0, 0, b"v", 4),  # counted as alive, but deleted
        (-1, 2, 1, b"f", 0, 2, 0, 0, b"v", 4),
        (1, 0, 1, b"f", 0, b"x", 0, 0, b"v", 4),  # text where numbers belong
        (1, 0, 1, b"f", 0, 2, b"x", 0, b"v", 4),
        (b"x", 0, 1, b"f", 0, 2, 0, 0, b"v", 4),
        (1, 0, 1, b"f", 0, 0, 0, 0, 2**62, b"f", b"v", 6),
        (1, 0, 1, b"f", 0, 0, 0, 0, -1, b"f", b"v", 6),
        (1, 0, 1, b"f", 0, 2, 0, 0, b"v", 4, 2),  # half an entry more
    ],
)
def test_a_malformed_node_is_refused(elements: tuple[int | bytes, ...]) -> None:
    with pytest.raises(Corrupt):
        checked(node_of(*elements).dump(), StreamId(0, 0).key())


def test_the_order_of_deleted_entries_does_not_matter() -> None:
    deleted = (3, 0, 7, b"v", 4)
    check = checked(node_of(2, 1, 1, b"f", 0, *ENTRY, *deleted, *SECOND).dump())
    assert (check.alive, check.top()) == (2, StreamId(5, 6))
    check = checked(node_of(0, 1, 1, b"f", 0, *deleted).dump())
    assert check.alive == 0


def test_no_entry_can_follow_the_greatest_id() -> None:
    top = StreamId(U64_MAX, U64_MAX).key()
    assert checked(node_of(1, 0, 1, b"f", 0, *ENTRY).dump(), top).top() == StreamId(
        U64_MAX, U64_MAX
    )
    for second in (ENTRY, SECOND):
        with pytest.raises(Corrupt):
            checked(node_of(2, 0, 1, b"f", 0, *ENTRY, *second).dump(), top)


GOOD = node_of(
    2, 1, 1, b"f", 0, *ENTRY, 0, 0, 3, 2, b"f", b"v" * 70, b"g", 70000, 8, 3, 0, 7, b"v", 4
)


def assert_refused_or_consistent(data: bytes) -> None:
    """A node that passes is a valid listpack, and its entries can be iterated."""
    try:
        check = checked(data)
    except Corrupt:
        return
    node = Listpack.load(data)
    node.check()
    stream = Stream()
    stream.add_node(KEY, node)
    ids = []
    entry = stream.range()
    while entry.next():
        ids.append(entry.id)
    assert ids == sorted(set(ids))
    assert len(ids) == check.alive


@pytest.mark.parametrize("at", range(GOOD.size))
def test_a_changed_byte_is_refused_or_leaves_a_consistent_node(at: int) -> None:
    for value in range(256):
        data = bytearray(GOOD.dump())
        data[at] = value
        assert_refused_or_consistent(bytes(data))


@given(st.binary(max_size=40))
def test_random_bytes_are_refused_or_a_consistent_node(body: bytes) -> None:
    assert_refused_or_consistent(body)
    total = (7 + len(body)).to_bytes(4, "little")
    assert_refused_or_consistent(total + b"\xff\xff" + body + b"\xff")
