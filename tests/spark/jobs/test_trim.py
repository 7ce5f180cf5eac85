"""Trimming: which entries are removed, and which must stay."""

from __future__ import annotations

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.entry_id import LAST, EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.jobs.trim import GroupNeed, next_id, plan_trim, trim
from pyspark_penstock.read.positions import Position
from tests.spark.stored import xrange

IDS = st.builds(EntryId, st.integers(0, 20), st.integers(0, 3))
GROUPS = st.lists(st.builds(GroupNeed, st.text("ab", min_size=1), IDS, st.none() | IDS))


@given(IDS, GROUPS, st.none() | st.integers(-1, 20))
@settings(max_examples=200)
def test_an_entry_is_trimmed_only_if_archived_old_and_not_needed(
    archived: EntryId, groups: list[GroupNeed], keep_from_ms: int | None
) -> None:
    bound = plan_trim(archived, groups, keep_from_ms).first_kept
    for entry in (EntryId(ms, seq) for ms in range(21) for seq in range(4)):
        gone = entry < bound
        unread = any(entry > group.last_delivered for group in groups)
        pending = any(g.oldest_pending is not None and entry >= g.oldest_pending for g in groups)
        young = keep_from_ms is not None and entry.ms >= keep_from_ms
        assert gone == (entry <= archived and not unread and not pending and not young)


def test_next_id_of_the_largest_id_is_itself() -> None:
    assert next_id(EntryId(4, 2**64 - 1)) == EntryId(5, 0)
    assert next_id(LAST) == LAST


def ten_entries(client: redis.Redis) -> None:
    for ms in range(1, 11):
        client.xadd("in", {"ms": ms}, id=f"{ms}-0")


def test_archived_entries_are_trimmed(client: redis.Redis) -> None:
    ten_entries(client)
    found = trim(client, "in", Position(EntryId(4, 0)))
    assert (found.removed, found.hold.reason) == (4, "not archived yet")
    assert client.xlen("in") == 6


def test_entries_not_delivered_to_a_group_are_kept(client: redis.Redis) -> None:
    ten_entries(client)
    client.xgroup_create("in", "slow", id="2-0")
    found = trim(client, "in", Position(EntryId(10, 0)))
    assert (found.removed, found.hold.reason) == (2, "group 'slow'")


def test_pending_entries_of_a_group_are_kept(client: redis.Redis) -> None:
    ten_entries(client)
    client.xgroup_create("in", "workers", id="0")
    client.xreadgroup("workers", "ann", {"in": ">"})
    client.xack("in", "workers", *(f"{ms}-0" for ms in (1, 2, 3, 5)))
    assert trim(client, "in", Position(EntryId(10, 0))).removed == 3
    assert xrange(client, "in", count=1)[0][0] == b"4-0"


def test_young_entries_are_kept_though_archived(client: redis.Redis) -> None:
    ten_entries(client)
    assert trim(client, "in", Position(EntryId(10, 0)), keep_from_ms=8).removed == 7


def test_nothing_is_trimmed_without_archived_entries_or_a_stream(client: redis.Redis) -> None:
    ten_entries(client)
    assert trim(client, "in", Position(EntryId(0, 0))).removed == 0
    assert trim(client, "gone", Position(EntryId(5, 0))).removed == 0


def test_a_stream_that_was_made_again_is_not_trimmed_by_what_was_archived_of_the_old_one(
    client: redis.Redis,
) -> None:
    client.xadd("s", {"a": 1}, id="1-0")
    with pytest.raises(CheckpointError, match="nothing after 1-0"):
        trim(client, "s", Position(EntryId(100, 0), 1))
    client.xadd("s", {"a": 2}, id="200-0")
    with pytest.raises(CheckpointError, match="it is new"):
        trim(client, "s", Position(EntryId(100, 0), 3))
    assert len(xrange(client, "s")) == 2
