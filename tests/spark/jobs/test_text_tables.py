"""Numbers, durations and tables as text."""

from __future__ import annotations

import pytest

from pyspark_penstock.jobs.text_tables import duration, number, size, table


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (1_999, "1999 ms"), (2_000, "2 s"), (119_999, "119 s"), (120_000, "2 min"),
     (7_200_000, "2 h"), (200_000_000, "2 d")],
)  # fmt: skip
def test_a_duration_is_in_the_largest_unit_that_fits_twice(ms: int, text: str) -> None:
    assert duration(ms) == text


def test_an_unknown_number_is_a_question_mark() -> None:
    assert (number(None), number(1_234)) == ("?", "1,234")


def test_sizes_have_three_digits_and_a_unit() -> None:
    sizes = (0, 999, 1_000, 31_440_000, 5_330_000_000)
    assert [size(each) for each in sizes] == ["0 B", "999 B", "1 kB", "31.4 MB", "5.33 GB"]


def test_numbers_are_right_aligned_and_text_left_aligned() -> None:
    rows = [["a", "1,000", "x"], ["long", "?", "yy"]]
    assert list(table(["s", "n", "t"], rows)) == [
        "s         n  t",
        "a     1,000  x",
        "long      ?  yy",
    ]


def test_a_table_without_rows_is_only_its_header() -> None:
    assert list(table(["stream", "lag"], [])) == ["stream  lag"]
