"""EntryId: its text and number, and how a range of ids is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.entry_id import FIRST, LARGEST_PART, LAST, EntryId, between

PARTS = st.one_of(st.integers(0, 5), st.integers(0, LARGEST_PART))
IDS = st.builds(EntryId, PARTS, PARTS)


@settings(deadline=None)
@given(IDS)
def test_an_id_is_parsed_back_from_its_text_and_number(entry: EntryId) -> None:
    assert EntryId.parse(str(entry)) == entry
    assert EntryId.parse(str(entry).encode()) == entry
    assert EntryId.from_number(entry.number) == entry


@settings(deadline=None)
@given(IDS, IDS)
def test_ids_are_ordered_as_their_numbers(a: EntryId, b: EntryId) -> None:
    assert (a < b) == (a.number < b.number)


@settings(deadline=None)
@given(IDS)
def test_the_previous_id_is_the_nearest_below(entry: EntryId) -> None:
    assert entry.previous().number == max(entry.number - 1, 0)


@pytest.mark.parametrize(
    "text", ["", "-", "1-", "-1", "a", "1-2-3", "1 ", str(2**64), "\N{ARABIC-INDIC DIGIT ONE}-1"]
)
def test_text_that_is_not_an_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an entry id"):
        EntryId.parse(text)


@settings(deadline=None)
@given(IDS, IDS, st.integers(1, 9))
def test_cuts_ascend_strictly_inside_the_range(a: EntryId, b: EntryId, parts: int) -> None:
    low, high = sorted((a, b))
    cuts = between(low, high, parts)
    assert len(cuts) < parts
    assert cuts == sorted(set(cuts))
    assert all(low < cut < high for cut in cuts)


def test_cuts_divide_time_equally() -> None:
    cuts = between(EntryId(1_000, 7), EntryId(5_000, 0), 4)
    assert cuts == [EntryId(2_000, 0), EntryId(3_000, 0), EntryId(4_000, 0)]


def test_within_a_millisecond_cuts_divide_the_sequence_numbers() -> None:
    cuts = between(EntryId(5, 0), EntryId(5, 400), 4)
    assert cuts == [EntryId(5, 100), EntryId(5, 200), EntryId(5, 300)]


def test_the_range_of_all_ids_can_be_cut() -> None:
    assert len(between(FIRST, LAST, 8)) == 7
