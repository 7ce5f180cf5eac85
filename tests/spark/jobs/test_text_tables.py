"""Numbers, durations and tables as text."""

from __future__ import annotations

import pytest

from pyspark_penstock.jobs.text_tables import duration, number, table


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (1_999, "1999 ms"), (2_000, "2 s"), (119_999, "119 s"), (120_000, "2 min"),
     (7_200_000, "2 h"), (200_000_000, "2 d")],
)  # fmt: skip
def test_times_are_in_the_largest_unit_of_which_there_are_two(ms: int, text: str) -> None:
    assert duration(ms) == text


def test_a_number_that_nobody_knows_is_a_question_mark() -> None:
    assert (number(None), number(1_234)) == ("?", "1,234")


def test_numbers_stand_to_the_right_and_text_to_the_left() -> None:
    rows = [["a", "1,000", "x"], ["long", "?", "yy"]]
    assert list(table(["s", "n", "t"], rows)) == [
        "s         n  t",
        "a     1,000  x",
        "long      ?  yy",
    ]


def test_a_table_without_rows_is_its_head() -> None:
    assert list(table(["stream", "lag"], [])) == ["stream  lag"]
