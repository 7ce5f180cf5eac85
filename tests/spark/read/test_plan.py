"""Plans and offsets: the checkpoint's JSON, and the tasks that follow from it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.read.offsets import FleetOffset, Offset
from pyspark_penstock.read.plan import (
    SMALL,
    Range,
    budgets,
    bundles,
    in_turn,
    ranges,
    shares,
    tasks,
    time_cuts,
)
from pyspark_penstock.read.positions import Cut, Position
from tests.spark.test_entry_id import IDS

COUNTS = st.integers(0, 2**63)
CUTS = st.builds(Cut, IDS, st.none() | COUNTS)
POSITIONS = st.builds(
    Position, IDS, COUNTS, st.none() | CUTS, st.lists(CUTS, max_size=3).map(tuple)
)
OFFSETS = st.builds(
    Offset,
    st.just({"subscribe": ["a"]}),
    st.dictionaries(st.text(max_size=3), POSITIONS, max_size=3),
)


@settings(deadline=None)
@given(OFFSETS)
def test_an_offset_is_read_back_from_json(offset: Offset) -> None:
    assert Offset.from_json(json.loads(json.dumps(offset.to_json()))) == offset


def offset(**streams: Position) -> Offset:
    return Offset({"subscribe": sorted(streams)}, streams)


BATCH = Position(
    EntryId(9, 0), 90, Cut(EntryId(1, 0), 10), (Cut(EntryId(4, 0), 40), Cut(EntryId(6, 0), None))
)


WHOLE = (Cut(EntryId(1, 0), 10), Cut(EntryId(9, 0), 90))


def test_the_tasks_of_a_batch_depend_only_on_its_end() -> None:
    """When the first batch is replayed, its start offset can differ."""
    expected = [
        Range("s", EntryId(1, 0), EntryId(4, 0), 30),
        Range("s", EntryId(4, 0), EntryId(6, 0), None, WHOLE, part=1),
        Range("s", EntryId(6, 0), EntryId(9, 0), None, WHOLE, part=2),
    ]
    for start in (Position(EntryId(1, 0), 10), Position(EntryId(77, 0), 777)):
        assert ranges(offset(s=start), {"s": BATCH}) == expected
    assert ranges(offset(), {"s": BATCH}) == expected


def test_a_stream_that_did_not_move_has_no_task() -> None:
    assert ranges(offset(s=BATCH), {"s": BATCH}) == []
    assert ranges(offset(s=Position()), {"s": Position()}) == []


@settings(deadline=None)
@given(IDS, IDS, st.integers(0, 10 * SMALL), st.integers(1, 8))
def test_small_ranges_get_one_task(a: EntryId, b: EntryId, entries: int, parts: int) -> None:
    after, upto = sorted((a, b))
    assert len(time_cuts(after, upto, entries, parts)) < max(
        1, min(parts, -(-entries // SMALL))
    ) + (entries == 0)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 10**7)), st.integers(1, 10**7))
def test_shares_divide_a_limit_among_streams(backlogs: dict[str, int], limit: int) -> None:
    """No stream gets more than its backlog, each gets at least one, and all of it is used."""
    found = shares(backlogs, limit)
    assert found.keys() == backlogs.keys()
    assert all(found[s] <= backlogs[s] for s in backlogs)
    waiting = [s for s in backlogs if backlogs[s]]
    assert limit < len(waiting) or all(found[s] >= 1 for s in waiting)
    assert sum(found.values()) == min(limit, sum(backlogs.values()))
    if sum(backlogs.values()) <= limit:
        assert found == backlogs


def test_shares_are_proportional() -> None:
    assert shares({"a": 90, "b": 10}, 20) == {"a": 18, "b": 2}
    assert shares({"a": 10**6, "b": 1, "c": 1}, 1_000) == {"a": 998, "b": 1, "c": 1}
    many = {f"s{at}": 1 for at in range(999)} | {"big": 10**6}
    assert shares(many, 2_000)["big"] == 1_001


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5), min_size=2),
    st.integers(1, 3),
)
def test_streams_take_turns_if_there_are_more_of_them_than_entries(
    backlogs: dict[str, int], limit: int
) -> None:
    """None waits longer than it takes to serve all others once."""
    left = dict(backlogs)
    turn: str | None = None
    waited = dict.fromkeys(backlogs, 0)
    while any(left.values()):
        found = shares(left, limit, turn)
        rounds = -(-len(backlogs) // limit)
        chosen = [s for s in in_turn(left, turn) if found[s]]
        turn = chosen[-1]
        for stream, entries in list(left.items()):
            waited[stream] = 0 if found[stream] or not entries else waited[stream] + 1
            left[stream] = entries - found[stream]
        assert max(waited.values()) <= rounds


COUNTED = st.builds(Range, st.sampled_from("abc"), IDS, IDS, st.none() | st.integers(0, 3 * SMALL))


@settings(deadline=None)
@given(st.lists(COUNTED, max_size=20), st.integers(0, 2 * SMALL))
def test_bundles_hold_all_ranges_in_order_and_not_too_many_entries(
    ranges: list[Range], fill: int
) -> None:
    found = list(bundles("a:1", ranges, fill, "reader"))
    assert [task for bundle in found for task in bundle.ranges] == ranges
    for bundle in found:
        sizes = [task.expected for task in bundle.ranges]
        assert bundle.ranges
        assert len(sizes) == 1 or (None not in sizes and sum(s or 0 for s in sizes) <= fill)


def test_an_offset_of_an_older_version_has_a_task_for_each_range() -> None:
    """The sink's markers count tasks: other tasks in a replay would write rows again."""
    streams = {s: Position(EntryId(9, 0), 2, Cut(EntryId(1, 0), 1)) for s in "abc"}
    old = FleetOffset({"subscribe": ["a"]}, "q", {"": streams})
    assert len(tasks(FleetOffset({}, "q", {}), old)) == 3
    assert len(tasks(FleetOffset({}, "q", {}), replace(old, fill=SMALL))) == 1


def test_budgets_divide_bytes_and_give_each_stream_at_least_one() -> None:
    assert budgets({"a": 900, "b": 100, "c": 0}, 500) == {"a": 450, "b": 50, "c": 1}
    assert budgets({"a": 900, "b": 100}, 1) == {"a": 1, "b": 1}
    assert budgets({"a": 0}, 500) == {"a": 1}


POSITION = {"id": "5-0", "n": 5, "from": ["1-0", 1], "cuts": [["2-0", 2]]}


@pytest.mark.parametrize(
    "edited",
    [
        {"source": None}, {"source": []}, {"source": "s"}, {"streams": {"s": "5-0"}},
        {"streams": {"s": POSITION | {"n": float("inf")}}}, {"servers": {"a:1": "s"}},
        {"streams": {"s": POSITION | {"cuts": [["2-0", float("inf")]]}}},
        {"servers": {"a:1": {"streams": {"s": "x"}}}}, {"source": None, "servers": {}},
    ],
    ids=str,
)  # fmt: skip
def test_an_offset_that_was_edited_by_hand_is_a_checkpoint_error(edited: dict[str, Any]) -> None:
    whole = {"source": {"subscribe": ["s"]}, "query": "q", "streams": {"s": POSITION}}
    FleetOffset.from_json(whole)
    with pytest.raises(CheckpointError, match="not an offset of this source"):
        FleetOffset.from_json(whole | edited)
