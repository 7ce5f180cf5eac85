"""Ids: neighbours, and what people mean by a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.top.entry_ids import MOST, before, following, meant_by, parts

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)
ids = st.builds(lambda ms, rest: f"{ms}-{rest}", st.integers(0, MOST - 1), st.integers(0, MOST))


@given(ids)
def test_neighbours_lie_next_to_each_other(entry_id: str) -> None:
    assert before(following(entry_id)) == entry_id
    assert parts(following(entry_id)) > parts(entry_id)


def test_below_the_first_id_is_nothing() -> None:
    assert before("0-0") == "0-0"
    assert before("1-0") == f"0-{MOST}"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("$", "$"),
        ("0", "0-0"),
        (" 1795-3 ", "1795-3"),
        ("2h", before(f"{NOON_MS - 7_200_000}-0")),
        ("15 min", before(f"{NOON_MS - 900_000}-0")),
        ("11:30", before(f"{NOON_MS - 1_800_000}-0")),
        ("9:00", before(f"{NOON_MS - 3 * 3_600_000}-0")),
        ("11:30:10", before(f"{NOON_MS - 1_790_000}-0")),
        ("2026-11-24", before(f"{NOON_MS - 36 * 3_600_000}-0")),
        ("2026-11-25 13:00+02:00", before(f"{NOON_MS - 3_600_000}-0")),
    ],
)
def test_what_is_meant(words: str, meant: str) -> None:
    assert meant_by(words, NOON) == meant


def test_a_time_without_a_zone_is_in_ours() -> None:
    there = NOON.astimezone(timezone(timedelta(hours=2)))
    assert meant_by("13:30", there) == before(f"{NOON_MS - 1_800_000}-0")


@pytest.mark.parametrize("words", ["", "soon", "1-2-3", "25:00", "-5", f"{MOST + 1}-0"])
def test_what_is_no_place_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match=r"no id and no time|too large"):
        meant_by(words, NOON)
