"""Cells: unknown is a dash; what there is none of is blank or 0."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.top import cells


def test_unknown_is_a_dash_and_never_0() -> None:
    assert cells.count(None) == cells.octets(None) == cells.rate(None) == "-"
    assert cells.age(None, 3) == cells.age(None, None) == "-"
    assert cells.count(0) == "0"
    assert cells.rate(0.0) == "0"


def test_the_oldest_of_nothing_is_blank() -> None:
    assert cells.age(None, 0) == ""
    assert cells.age(90_000, 1) == "90 s"


def test_sizes() -> None:
    shown = [cells.octets(n) for n in (0, 1023, 1024, 200 * 1024, 3 << 20, 5 << 30, 7 << 40)]
    assert shown == ["0B", "1023B", "1.0K", "200K", "3.0M", "5.0G", "7.0T"]


def test_rates_below_10_have_a_digit_more() -> None:
    assert [cells.rate(each) for each in (0.25, 9.94, 10.4, 12_345.0)] == [
        "0.2", "9.9", "10", "12,345",
    ]  # fmt: skip


def test_a_sparkline_stands_at_the_right_and_its_top_is_full() -> None:
    assert cells.spark([], 4) == "    "
    assert cells.spark([0.0, 0.0], 4) == "  ▁▁"
    assert cells.spark([0.0, None, 5.0, 10.0], 4) == "▁ ▅█"


@given(st.lists(st.none() | st.floats(0, 1e9)), st.integers(1, 40))
def test_a_sparkline_has_its_width(rates: list[float | None], width: int) -> None:
    line = cells.spark(rates, width)
    assert len(line) == width
    assert set(line) <= set(cells.BARS + " ")
