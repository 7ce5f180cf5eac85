"""Plans and offsets: the checkpoint's JSON, and the tasks that follow from it."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.plan import SMALL, Range, budgets, ranges, shares, time_cuts
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
        Range("s", EntryId(4, 0), EntryId(6, 0), None, WHOLE),
        Range("s", EntryId(6, 0), EntryId(9, 0), None, WHOLE),
    ]
    for start in (Position(EntryId(1, 0), 10), Position(EntryId(77, 0), 777)):
        assert ranges(offset(s=start), offset(s=BATCH)) == expected
    assert ranges(offset(), offset(s=BATCH)) == expected


def test_a_stream_that_did_not_move_has_no_task() -> None:
    assert ranges(offset(s=BATCH), offset(s=BATCH)) == []
    assert ranges(offset(s=Position()), offset(s=Position())) == []


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
    """No stream gets more than its backlog, each gets at least one, and the sum is limited."""
    found = shares(backlogs, limit)
    assert found.keys() == backlogs.keys()
    assert all(found[s] <= backlogs[s] for s in backlogs)
    assert all(found[s] >= 1 for s in backlogs if backlogs[s])
    assert sum(found.values()) <= max(limit, 0) + len(backlogs)
    if sum(backlogs.values()) <= limit:
        assert found == backlogs


def test_budgets_divide_bytes_and_give_each_stream_at_least_one() -> None:
    assert budgets({"a": 900, "b": 100, "c": 0}, 500) == {"a": 450, "b": 50, "c": 1}
    assert budgets({"a": 900, "b": 100}, 1) == {"a": 1, "b": 1}
    assert budgets({"a": 0}, 500) == {"a": 1}
