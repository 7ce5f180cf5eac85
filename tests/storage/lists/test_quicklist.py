"""QuickList: the same nodes as Redis, plain nodes, and the bounds of ranges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storage.errors import Corrupt
from storage.listpack.listpack import Listpack
from storage.lists import quicklist
from storage.lists.quicklist import QuickList

DIGITS = [b"%d" % n for n in range(10)]

# The nodes in redis-server 7.0.15's DUMP after RPUSH k 0 1 .. 9, and after LPUSH of the same,
# with list-max-listpack-size 3.
PUSHED_RIGHT = [
    "0d0000000300000101010201ff",
    "0d0000000300030104010501ff",
    "0d0000000300060107010801ff",
    "0900000001000901ff",
]
PUSHED_LEFT = [
    "0900000001000901ff",
    "0d0000000300080107010601ff",
    "0d0000000300050104010301ff",
    "0d0000000300020101010001ff",
]


def filled(*values: bytes, fill: int = -2) -> QuickList:
    made = QuickList(fill)
    for value in values:
        made.push_right(value)
    return made


def dumped(values: QuickList) -> list[str]:
    return [node.dump().hex() if isinstance(node, Listpack) else "plain" for node in values.nodes()]


@pytest.fixture
def packed_threshold_of_ten() -> Iterator[None]:
    assert quicklist.set_packed_threshold(10)
    yield
    quicklist.set_packed_threshold(0)


# ---------------------------------------------------------------------- nodes


def test_pushes_make_the_same_nodes_as_redis() -> None:
    assert dumped(filled(*DIGITS, fill=3)) == PUSHED_RIGHT
    values = QuickList(3)
    for value in DIGITS:
        values.push_left(value)
    assert dumped(values) == PUSHED_LEFT


@pytest.mark.parametrize(
    ("fill", "limit"), [(-1, 4), (-2, 8), (-3, 16), (-4, 32), (-5, 64), (-9, 64)]
)
def test_a_negative_fill_limits_the_bytes_of_a_node(fill: int, limit: int) -> None:
    """An element counts as its text and 8 bytes, as in redis-server 7.0.15."""
    values = filled(*[b"x" * 100] * 2000, fill=fill)
    full = 1024 * limit
    sizes = [node.size for node in values.nodes() if isinstance(node, Listpack)]
    assert all(full - 108 < size <= full for size in sizes[:-1])


@pytest.mark.parametrize(("fill", "count"), [(0, 1), (1, 1), (7, 7), (100000, 73)])
def test_a_positive_fill_limits_the_elements_of_a_node_and_8_kib_its_bytes(
    fill: int, count: int
) -> None:
    values = filled(*[b"x" * 108] * 200, fill=fill)
    assert len(values.nodes()[0]) == count


def test_a_full_node_has_no_spare_room() -> None:
    for left in (True, False):
        values = QuickList()
        for _ in range(1000):
            (values.push_left if left else values.push_right)(b"x" * 20)
        nodes = values.nodes()
        for node in nodes[1:] if left else nodes[:-1]:
            assert isinstance(node, Listpack)
            assert len(node.data) == node.size


def test_an_element_too_large_for_a_listpack_gets_a_plain_node() -> None:
    values = filled(b"a", b"b" * 8193, b"c")
    assert values.nodes()[1] == b"b" * 8193
    assert values.node_count == 3
    assert [values.get(i) for i in range(3)] == [b"a", b"b" * 8193, b"c"]
    assert values.pop_left() == b"a"
    assert values.pop_left() == b"b" * 8193
    assert values.pop_right() == b"c"
    assert values.pop_right() is None


@pytest.mark.usefixtures("packed_threshold_of_ten")
def test_the_packed_threshold_decides_which_elements_are_plain() -> None:
    values = filled(b"1", b"2", b"3", b"123456789", b"1234567890", fill=2)
    assert dumped(values)[2] == "plain"
    values.set(4, b"5")
    assert "plain" not in dumped(values)
    values.set(0, b"x" * 10)
    assert dumped(values)[0] == "plain"
    assert values.range(0, -1) == [b"x" * 10, b"2", b"3", b"123456789", b"5"]


@pytest.mark.usefixtures("packed_threshold_of_ten")
def test_no_element_is_plain_in_a_list_that_one_listpack_holds() -> None:
    values = filled(b"1", b"x" * 10, b"x" * 20)
    values.set(0, b"x" * 100)
    values.push_left(b"x" * 1000)
    assert "plain" not in dumped(values)
    assert values.encoding == b"listpack"


def test_the_packed_threshold_has_the_same_bounds_as_in_redis() -> None:
    assert not quicklist.set_packed_threshold(-1)
    assert not quicklist.set_packed_threshold((1 << 32) - (1 << 20) + 1)


def test_an_emptied_node_disappears() -> None:
    values = filled(*DIGITS, fill=1)
    assert values.remove(0, b"5") == 1
    assert values.node_count == 9
    values.pop_left()
    values.pop_right()
    assert values.node_count == 7


def test_nodes_that_fit_into_one_are_joined_after_a_removal() -> None:
    values = filled(*[b"1", b"2", b"2"] * 4, fill=3)
    assert values.node_count == 4
    assert values.remove(0, b"2") == 8
    assert [len(node) for node in values.nodes()] == [3, 1]


def test_an_insertion_into_a_full_node_splits_it() -> None:
    values = filled(*DIGITS[:9], fill=3)
    assert values.insert(b"4", b"new", True)
    assert [len(node) for node in values.nodes()] == [3, 2, 2, 3]
    assert values.range(2, 5) == [b"2", b"3", b"new", b"4"]


def test_an_insertion_at_the_edge_of_a_full_node_goes_to_a_neighbour_with_room() -> None:
    values = filled(*DIGITS[:4], fill=3)
    assert values.insert(b"2", b"new", False)
    assert [len(node) for node in values.nodes()] == [3, 2]


def test_a_single_listpack_node_is_encoded_as_listpack() -> None:
    values = filled(*DIGITS[:3], fill=3)
    assert values.encoding == b"listpack"
    values.push_right(b"3")
    assert values.encoding == b"quicklist"
    assert filled(b"x" * 9000).encoding == b"quicklist"


@pytest.mark.parametrize(("left", "pops"), [(False, 3), (True, 4)])
def test_a_shrinking_list_becomes_a_listpack_at_half_the_elements(left: bool, pops: int) -> None:
    """As in Redis 8.2.3: with list-max-listpack-size 4, 5 elements less 2 are still a quicklist.

    From the left it takes one pop more, since the fifth element has a node of its own.
    """
    values = filled(*DIGITS[:5], fill=4)
    encodings = []
    while len(values) > 1:
        _ = values.pop_left() if left else values.pop_right()
        encodings.append(values.encoding)
    assert encodings == [b"quicklist"] * (pops - 1) + [b"listpack"] * (5 - pops)
    values.push_right(b"a")
    values.push_right(b"b")
    assert values.encoding == b"listpack"


def test_a_shrinking_list_becomes_a_listpack_at_half_the_bytes() -> None:
    values = filled(*[b"x" * 100] * 50, fill=-1)
    while values.encoding == b"quicklist":
        values.pop_right()
    (node,) = values.nodes()
    assert isinstance(node, Listpack)
    assert 2048 - 104 < node.size <= 2048


def test_trim_remove_and_set_can_turn_a_quicklist_into_a_listpack() -> None:
    trimmed, removed = (filled(*DIGITS[:5], fill=4) for _ in range(2))
    trimmed.trim(0, 1)
    removed.remove(1, b"0")
    assert removed.encoding == b"quicklist"
    for digit in DIGITS[1:3]:
        removed.remove(1, digit)
    replaced = filled(b"x" * 9000)
    replaced.set(0, b"x" * 4090)
    assert replaced.encoding == b"quicklist"
    replaced.set(0, b"x")
    assert trimmed.encoding == removed.encoding == replaced.encoding == b"listpack"


@pytest.mark.parametrize(("fill", "size"), [(-1, 4090), (-2, 8186), (5, 8186)])
def test_an_only_element_that_a_listpack_has_no_room_for_makes_a_quicklist(
    fill: int, size: int
) -> None:
    """As in Redis, which asks before it adds the first one, too."""
    for length, encoding in ((size - 1, b"listpack"), (size, b"quicklist")):
        for push in (QuickList.push_left, QuickList.push_right):
            values = QuickList(fill)
            push(values, bytes(length))
            assert values.encoding == encoding
            values.set(0, b"short")
            assert values.encoding == b"listpack"


def test_a_copy_keeps_the_encoding_of_its_original() -> None:
    values = filled(*DIGITS[:5], fill=4)
    values.trim(0, 2)
    assert values.copy().encoding == values.encoding == b"quicklist"


def test_a_list_can_be_rebuilt_from_its_nodes() -> None:
    values = filled(*DIGITS, fill=3)
    loaded = QuickList()
    for node in values.nodes():
        loaded.add_node(node)
    assert list(loaded) == DIGITS
    assert len(loaded) == 10


def test_an_empty_node_is_refused() -> None:
    values = QuickList()
    with pytest.raises(Corrupt):
        values.add_node(Listpack())
    assert len(values) == values.node_count == 0


def test_a_copy_shares_no_node_with_its_original() -> None:
    values = filled(*DIGITS, b"x" * 9000, fill=3)
    copy = values.copy()
    values.set(0, b"changed")
    values.pop_right()
    assert list(copy) == [*DIGITS, b"x" * 9000]


# ---------------------------------------------------------------------- positions


@pytest.mark.parametrize("fill", [3, 128])
@pytest.mark.parametrize(
    ("start", "stop", "first", "end"),
    [
        (0, -1, 0, 10), (2, 4, 2, 5), (-3, -1, 7, 10), (-100, 1, 0, 2), (8, 100, 8, 10),
        (5, 4, 0, 0), (10, 20, 0, 0), (0, -11, 0, 0),
        (-2**63, 2**63 - 1, 0, 10), (2**63 - 1, -2**63, 0, 0),
    ],
)  # fmt: skip
def test_range_and_trim_clip_their_bounds_to_the_list(
    fill: int, start: int, stop: int, first: int, end: int
) -> None:
    values = filled(*DIGITS, fill=fill)
    assert values.range(start, stop) == DIGITS[first:end]
    values.trim(start, stop)
    assert list(values) == DIGITS[first:end]
    assert len(values) == end - first


@pytest.mark.parametrize("index", [10, -11, 2**63 - 1, -(2**63)])
def test_get_and_set_beyond_the_ends_find_no_element(index: int) -> None:
    values = filled(*DIGITS, fill=3)
    assert values.get(index) is None
    with pytest.raises(IndexError):
        values.set(index, b"x")
    assert list(values) == DIGITS


def test_the_sign_of_a_removal_s_count_chooses_the_end_to_begin_at() -> None:
    start = [b"a", b"b", b"a", b"c", b"a"]
    for count, left in ((2, b"bca"), (-2, b"abc"), (0, b"bc"), (9, b"bc"), (-(2**63), b"bc")):
        values = filled(*start, fill=2)
        assert values.remove(count, b"a") == len(start) - len(left)
        assert b"".join(values) == left


def test_positions_counts_ranks_from_either_end() -> None:
    """The cases that LPOS's documentation describes."""
    values = filled(*[b"%c" % c for c in b"abc123cc"], fill=3)
    assert values.positions(b"c") == [2]
    assert values.positions(b"c", 2) == [6]
    assert values.positions(b"c", -1) == [7]
    assert values.positions(b"c", 1, 2) == [2, 6]
    assert values.positions(b"c", -1, 2) == [7, 6]
    assert values.positions(b"c", 1, 0) == [2, 6, 7]
    assert values.positions(b"c", 1, 0, 7) == [2, 6]
    assert values.positions(b"c", -1, 0, 1) == [7]
    assert values.positions(b"x", 1, 0) == []


def test_an_iterator_gives_an_element_s_integer_or_the_position_of_its_bytes() -> None:
    values = filled(b"-5", b"abc", b"x" * 9000)
    iterator = values.iterate()
    assert iterator.next()
    assert iterator.is_int
    assert iterator.number == -5
    assert iterator.next()
    assert not iterator.is_int
    assert iterator.plain is None
    assert iterator.data is not None
    assert iterator.data[iterator.start : iterator.start + iterator.size] == b"abc"
    assert iterator.next()
    assert iterator.plain == b"x" * 9000
    assert not iterator.next()
    assert not iterator.next()


def test_a_queue_keeps_its_order_while_all_its_nodes_are_replaced() -> None:
    """Whichever end the elements enter."""
    for left in (True, False):
        values = QuickList(1)
        push, pop = (
            (values.push_left, values.pop_right) if left else (values.push_right, values.pop_left)
        )
        for n in range(50):
            push(b"%d" % n)
        for n in range(50, 1000):
            push(b"%d" % n)
            assert pop() == b"%d" % (n - 50)
            assert values.node_count == len(values) == 50
