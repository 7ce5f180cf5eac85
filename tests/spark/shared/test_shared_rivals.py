"""A shared group: what is acknowledged, and what is claimed from others."""

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
    leave,
    pending,
    rival_reads,
    values,
)

# ---------------------------------------------------------------------- acknowledging


def test_a_batch_is_acknowledged_when_the_next_is_asked_for(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """The batch is in Spark's commit log then. Spark's own commit comes later, or never."""
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


def test_a_restart_acknowledges_what_was_done_and_does_not_read_it(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    _, end = first_batch(reader_of())
    add(client, "s", 3)
    again = reader_of()
    assert values(again, end, advance(again, end)) == [3]
    assert pending(client) == [3]


def test_what_comes_to_a_consumer_behind_its_batch_is_not_acknowledged(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """A killed driver's last command may be executed late."""
    add(client, "s", 1, 2, 3)
    start, end = first_batch(reader, rows=2)
    leave(client, 3, name=f"{end['member']}-1")
    assert values(reader, start, end) == [1, 2]
    reader.commit(end)
    assert (pending(client), len(consumers(client))) == ([3], 1)


def test_what_others_took_before_it_was_acknowledged_is_warned_of(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    start, end = first_batch(reader)
    values(reader, start, end)
    leave(client, 2, name="thief")
    reader.commit(end)
    assert "1 of 3 entries had been taken over by others" in caplog.text
    assert pending(client) == [2]


# ---------------------------------------------------------------------- what others left


def test_what_a_dead_attempt_had_claimed_is_in_the_next_batch_whatever_the_limit(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 10))
    one = reader_of()
    _, end = first_batch(one, rows=2)
    advance(one, end, 4)  # and dies before it is in the log
    again = reader_of()
    found = advance(again, end, 3)
    assert values(again, end, found) == [3, 4, 5, 6]
    assert values(again, found, advance(again, found, 3)) == [7, 8, 9]


def test_a_batch_that_is_asked_for_again_is_the_same(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1, 2, 3)
    start, end = first_batch(reader)
    assert advance(reader, start) == advance(reader, start) == end


def test_what_others_left_for_too_long_is_claimed_first(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", *range(1, 8))
    client.xgroup_create("s", GROUP, "0-0")
    rival_reads(client, 5)
    leave(client, 2, 4)
    start, end = first_batch(reader, rows=3)
    assert values(reader, start, end) == [2, 4, 6]


@pytest.mark.parametrize(("min_idle", "expected"), [("900000", [1]), ("1100000", [2])])
def test_how_long_is_too_long(
    client: redis.Redis, reader_of: MakeReader, min_idle: str, expected: list[int]
) -> None:
    add(client, "s", 1, 2)
    client.xgroup_create("s", GROUP, "0-0")
    rival_reads(client, 1)
    leave(client, 1)
    reader = reader_of(claimMinIdleMs=min_idle)
    assert values(reader, *first_batch(reader, rows=1)) == expected


def test_what_is_stale_is_claimed_bit_by_bit_within_the_limit(
    client: redis.Redis, reader: SharedStreamReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "PAGE_SIZE", 2)
    add(client, "s", *range(1, 8))
    client.xgroup_create("s", GROUP, "7-0")
    leave(client, *range(1, 8))
    start, first = first_batch(reader, rows=5)
    assert values(reader, start, first) == [1, 2, 3, 4, 5]
    assert values(reader, first, advance(reader, first, 5)) == [6, 7]


class Clock:
    """A clock that the test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_stale_entries_are_looked_for_now_and_then(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    client.xgroup_create("s", GROUP, "2-0")
    rival_reads(client, 1)
    leave(client, 1)
    reader = reader_of(claimMinIdleMs="1000000")
    clock = reader._claimer._now = Clock()
    start, first = first_batch(reader)
    assert values(reader, start, first) == [1]
    leave(client, 2, idle_ms=2 * STALE_MS)
    clock.seconds = 499.0
    assert advance(reader, first) == first
    clock.seconds = 501.0
    assert values(reader, first, advance(reader, first)) == [2]


def test_stale_entries_that_were_deleted_are_forgotten_and_warned_of(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    client.xgroup_create("s", GROUP, "3-0")
    leave(client, 1, 2, 3)
    client.xdel("s", "1-0", "2-0")
    assert values(reader, *first_batch(reader)) == [3]
    assert "2 entries that others had left pending had been deleted" in caplog.text
    assert pending(client) == [3]
