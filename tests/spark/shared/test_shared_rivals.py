"""A shared group: which entries are acknowledged, and which are claimed from other consumers."""

from __future__ import annotations

import pytest
import redis

from pyspark_penstock.shared import claims
from pyspark_penstock.shared.group_reader import SharedStreamReader
from tests.spark.shared.group import (
    GROUP,
    STALE_MS,
    MakeReader,
    add,
    advance,
    consumers,
    first_batch,
    leave_pending,
    pending,
    rival_reads,
    values,
)

# ---------------------------------------------------------------------- acknowledging


def test_a_batch_is_acknowledged_when_the_next_one_is_planned(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """By then it is in Spark's commit log. Spark's call of commit() comes later, or never."""
    add(client, "s", 1, 2)
    start, end = first_batch(reader)
    values(reader, start, end)
    assert pending(client) == [1, 2]
    assert advance(reader, end) == end
    assert (pending(client), consumers(client)) == ([], [])


def test_commit_acknowledges_too(client: redis.Redis, reader: SharedStreamReader) -> None:
    add(client, "s", 1, 2)
    _, end = first_batch(reader)
    reader.commit(end)
    reader.commit(end)
    assert (pending(client), consumers(client)) == ([], [])


def test_a_restart_acknowledges_the_committed_batch_without_reading_it(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    _, end = first_batch(reader_of())
    add(client, "s", 3)
    again = reader_of()
    assert values(again, end, advance(again, end)) == [3]
    assert pending(client) == [3]


def test_entries_a_consumer_gets_after_its_batch_are_not_acknowledged(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """A killed driver's last command can be executed late."""
    add(client, "s", 1, 2, 3)
    start, end = first_batch(reader, rows=2)
    leave_pending(client, 3, name=f"{end['member']}-1")
    assert values(reader, start, end) == [1, 2]
    reader.commit(end)
    assert (pending(client), len(consumers(client))) == ([3], 1)


def test_entries_taken_before_their_acknowledgement_are_warned_of(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    start, end = first_batch(reader)
    values(reader, start, end)
    leave_pending(client, 2, name="thief")
    reader.commit(end)
    assert "1 of 3 entries had been taken over by others" in caplog.text
    assert pending(client) == [2]


# ---------------------------------------------------------------------- entries left pending


def test_entries_claimed_by_a_killed_attempt_are_in_the_next_batch(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 10))
    one = reader_of()
    _, end = first_batch(one, rows=2)
    advance(one, end, 4)  # killed before this batch is in the log
    again = reader_of()
    found = advance(again, end, 3)
    assert values(again, end, found) == [3, 4, 5, 6]
    assert values(again, found, advance(again, found, 3)) == [7, 8, 9]


def test_a_batch_planned_again_is_the_same(client: redis.Redis, reader: SharedStreamReader) -> None:
    add(client, "s", 1, 2, 3)
    start, end = first_batch(reader)
    assert advance(reader, start) == advance(reader, start) == end


def test_stale_pending_entries_are_claimed_first(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", *range(1, 8))
    client.xgroup_create("s", GROUP, "0-0")
    rival_reads(client, 5)
    leave_pending(client, 2, 4)
    start, end = first_batch(reader, rows=3)
    assert values(reader, start, end) == [2, 4, 6]


@pytest.mark.parametrize(("min_idle", "expected"), [("900000", [1]), ("1100000", [2])])
def test_entries_are_stale_after_claim_min_idle_ms(
    client: redis.Redis, reader_of: MakeReader, min_idle: str, expected: list[int]
) -> None:
    add(client, "s", 1, 2)
    client.xgroup_create("s", GROUP, "0-0")
    rival_reads(client, 1)
    leave_pending(client, 1)
    reader = reader_of(claimMinIdleMs=min_idle)
    assert values(reader, *first_batch(reader, rows=1)) == expected


def test_stale_entries_are_claimed_within_the_limit(
    client: redis.Redis, reader: SharedStreamReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "PAGE_SIZE", 2)
    add(client, "s", *range(1, 8))
    client.xgroup_create("s", GROUP, "7-0")
    leave_pending(client, *range(1, 8))
    start, first = first_batch(reader, rows=5)
    assert values(reader, start, first) == [1, 2, 3, 4, 5]
    assert values(reader, first, advance(reader, first, 5)) == [6, 7]


class Clock:
    """A fake clock, which the test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_stale_entries_are_looked_for_at_intervals(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    client.xgroup_create("s", GROUP, "2-0")
    rival_reads(client, 1)
    leave_pending(client, 1)
    reader = reader_of(claimMinIdleMs="1000000")
    clock = reader._claimer._now = Clock()
    start, first = first_batch(reader)
    assert values(reader, start, first) == [1]
    leave_pending(client, 2, idle_ms=2 * STALE_MS)
    clock.seconds = 499.0
    assert advance(reader, first) == first
    clock.seconds = 501.0
    assert values(reader, first, advance(reader, first)) == [2]


def test_stale_entries_that_were_deleted_are_dropped_with_a_warning(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    client.xgroup_create("s", GROUP, "3-0")
    leave_pending(client, 1, 2, 3)
    client.xdel("s", "1-0", "2-0")
    assert values(reader, *first_batch(reader)) == [3]
    assert "2 entries that others had left pending had been deleted" in caplog.text
    assert pending(client) == [3]
