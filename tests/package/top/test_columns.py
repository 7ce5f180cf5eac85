"""Tables: order, filter, and which columns a terminal has room for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.top import columns
from penstock.top.board import Board, Row
from penstock.top.columns import OF_GROUPS, OF_STREAMS, TROUBLE, fitting, in_order, matching
from penstock.top.figures import Group, Stream

numbers = st.none() | st.integers(0, 1000)
groups = st.builds(
    Group, st.sampled_from([b"a", b"b", b"c"]), numbers, numbers, numbers, oldest_ms=numbers,
    dead_letter=st.sampled_from([None, b"", b"dead"]),
)  # fmt: skip
streams = st.builds(
    Stream, st.binary(max_size=3), numbers, numbers, numbers, scheduled=numbers,
    groups=st.none() | st.lists(groups, max_size=3, unique_by=lambda group: group.name).map(tuple),
)  # fmt: skip
boards = st.lists(streams, max_size=12, unique_by=lambda stream: stream.key)


def board_of(some: list[Stream]) -> Board:
    board = Board()
    for stream in some:
        board.take(stream, 1.0)
    return board


def rows_of(*some: Stream) -> list[Row]:
    return list(board_of(list(some)).streams())


def names(rows: list[Row]) -> list[str]:
    return [row.name for row in rows]


@given(boards, st.sampled_from(columns.sortable(OF_STREAMS)), st.booleans())
def test_unknown_comes_last_and_nothing_is_lost(
    some: list[Stream], by: columns.Column, is_reversed: bool
) -> None:
    rows = list(board_of(some).streams())
    ordered = in_order(rows, by, is_reversed)
    assert sorted(names(ordered)) == sorted(names(rows))
    assert by.key is not None
    keys = [by.key(row) for row in ordered]
    known = [key for key in keys if key is not None]
    assert keys[: len(known)] == known
    assert known == sorted(known, reverse=(by.is_number or by is TROUBLE) != is_reversed)


@given(boards)
def test_no_row_says_0_for_what_is_unknown(some: list[Stream]) -> None:
    for row in board_of(some).streams():
        if row.stream.length is None:
            assert columns.LENGTH.cell(row) == "-"
        if row.stream.groups is None:
            assert columns.GROUPS.cell(row) == columns.LAG.cell(row) == "-"


@given(boards, st.integers(20, 250), st.sampled_from([OF_STREAMS, OF_GROUPS]))
def test_columns_fit_and_the_first_one_stays(
    some: list[Stream], width: int, wanted: tuple[columns.Column, ...]
) -> None:
    board = board_of(some)
    rows = list(board.streams() if wanted is OF_STREAMS else board.groups())
    chosen = fitting(wanted, rows, width)
    assert chosen[0][0] is wanted[0]
    total = sum(size + 2 for _, size in chosen) - 2
    assert total <= width or not any(column.needs for column, _ in chosen)
    assert all(size >= 1 for _, size in chosen)


def test_by_trouble_then_by_lag_then_by_name() -> None:
    rows = rows_of(
        Stream(b"calm", groups=()),
        Stream(b"b", groups=(Group(b"g", 1, 0, 7),)),
        Stream(b"a", groups=(Group(b"g", 1, 0, 7),)),
        Stream(b"behind", groups=(Group(b"g", 1, 0, 9),)),
        Stream(b"unread", groups=(Group(b"g", 0, 0, 1),)),
    )
    assert names(in_order(rows, TROUBLE)) == ["unread", "behind", "a", "b", "calm"]
    assert names(in_order(rows, TROUBLE, is_reversed=True))[-1] == "unread"


def test_a_filter_is_a_part_of_a_name_in_any_case() -> None:
    rows = rows_of(Stream(b"Orders:eu"), Stream(b"mails"))
    assert names(matching(rows, "ORDERS")) == ["Orders:eu"]
    assert names(matching(rows, "")) == ["Orders:eu", "mails"]


def test_dead_letters_are_those_of_all_groups_each_place_once() -> None:
    board = board_of(
        [
            Stream(b"dead", length=3, groups=()),
            Stream(
                b"s",
                groups=(Group(b"a", dead_letter=b"dead"), Group(b"b", dead_letter=b"dead"),
                        Group(b"c", dead_letter=b"")),
            ),
            Stream(b"t", groups=(Group(b"a", dead_letter=b"not seen"),)),
            Stream(b"u", groups=(Group(b"a"),)),
            Stream(b"v", groups=(Group(b"a", dead_letter=b""),)),
        ]
    )  # fmt: skip
    cells = {row.name: columns.DEAD.cell(row) for row in board.streams()}
    assert cells == {"dead": "", "s": "3", "t": "-", "u": "-", "v": ""}


def test_streams_that_have_gone_are_forgotten() -> None:
    board = board_of([Stream(b"a", groups=(Group(b"g"),)), Stream(b"b", groups=())])
    board.keep_only({b"b"})
    assert [row.name for row in board.streams()] == ["b"]
    assert list(board.groups()) == []
    assert board.stream(b"a") is None
    assert board.group(b"a", b"g") is None


def test_a_name_of_usual_length_is_whole_before_less_needed_columns_are_there() -> None:
    rows = rows_of(Stream(b"warehouse:orders", groups=()))
    chosen = {column.title: size for column, size in fitting(OF_STREAMS, rows, 130)}
    assert chosen["stream"] == len("warehouse:orders")
    assert columns.SPARK.title not in chosen


@pytest.mark.parametrize("width", [20, 60, 100, 200])
def test_a_cell_that_is_too_long_is_cut_and_shows_it(width: int) -> None:
    assert columns.padded("x" * 300, columns.STREAM, width) == "x" * (width - 1) + "…"
