"""SharedStreamReader, called as Spark calls it: where it starts, and its batches."""

from __future__ import annotations

import pytest
import redis
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.entry_id import LAST
from pyspark_penstock.read import plan
from pyspark_penstock.shared import claims
from pyspark_penstock.shared.group_reader import SharedStreamReader
from tests.spark.shared.group import (
    GROUP,
    MakeReader,
    add,
    advance,
    consumers,
    first_batch,
    rival_reads,
    values,
)

# ---------------------------------------------------------------------- where it starts


@pytest.mark.parametrize(
    ("options", "expected", "entries_read"),
    [
        ({}, [3, 4, 5], 2),
        ({"startingOffsets": "latest"}, [], 5),
        ({"startingOffsets": "4-0"}, [4, 5], 3),
        ({"startingOffsets": '{"s": "(4-0"}'}, [5], 4),
        ({"startingTimestamp": "5"}, [5], 4),
    ],
    ids=str,
)
def test_a_new_query_creates_the_group_at_its_starting_position(
    client: redis.Redis,
    reader_of: MakeReader,
    options: dict[str, str],
    expected: list[int],
    entries_read: int,
) -> None:
    add(client, "s", 1, 2, 3, 4, 5)
    client.xtrim("s", maxlen=3, approximate=False)
    reader = reader_of(**options)
    start = reader.initialOffset()
    assert client.xinfo_groups("s")[0]["entries-read"] == entries_read
    assert values(reader, start, advance(reader, start)) == expected


def test_an_existing_group_is_not_moved(client: redis.Redis, reader: SharedStreamReader) -> None:
    add(client, "s", 1, 2, 3)
    client.xgroup_create("s", GROUP, "2-0")
    assert values(reader, *first_batch(reader)) == [3]


def test_a_stream_that_appears_is_read_from_its_beginning(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    for options in ({"subscribe": "s,new"}, {"subscribePattern": "*"}):
        client.flushall()
        add(client, "s", 1)
        reader = reader_of(startingOffsets="latest", **options)
        start = reader.initialOffset()
        add(client, "new", 7, 8)
        assert reader.initialOffset() == start
        assert values(reader, start, advance(reader, start)) == [7, 8]


def test_a_missing_stream_gives_an_empty_batch(reader: SharedStreamReader) -> None:
    start, end = first_batch(reader)
    assert end == start


# ---------------------------------------------------------------------- batches


def test_a_batch_is_the_pending_entries_of_one_consumer(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", *range(1, 8))
    start, end = first_batch(reader, rows=5)
    (consumer,) = client.xinfo_consumers("s", GROUP)
    assert consumer["name"].decode() == f"{end['member']}-1"
    assert end["member"].startswith("spark-")
    assert consumer["pending"] == end["claims"]["s"]["entries"] == 5
    assert values(reader, start, end) == [1, 2, 3, 4, 5]


def test_reading_does_not_count_as_a_delivery(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1, 2)
    start, end = first_batch(reader)
    assert values(reader, start, end) == values(reader, start, end) == [1, 2]
    entries = client.xpending_range("s", GROUP, "-", "+", 9)
    assert [entry["times_delivered"] for entry in entries] == [1, 1]


def test_each_entry_is_read_by_one_consumer_only(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 10))
    one, other = reader_of(), reader_of()
    start, end = first_batch(one, rows=3)
    rival_reads(client, 2)
    assert values(other, *first_batch(other, rows=3)) == [6, 7, 8]
    assert values(one, start, end) == [1, 2, 3]
    assert values(one, end, advance(one, end)) == [9]


def test_queries_with_the_same_prefix_have_different_consumers(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    for _ in range(2):
        first_batch(reader_of(consumerPrefix="etl"), rows=1)
    names = consumers(client)
    assert len(set(names)) == 2
    assert all(name.startswith(b"etl-") for name in names)


def test_tasks_are_the_same_for_another_reader(
    client: redis.Redis, reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "SMALL", 2)
    monkeypatch.setattr(claims, "PAGE_SIZE", 4)
    add(client, "s", *range(1, 11))
    start, end = first_batch(reader_of(minPartitions="3"))
    tasks = [partition.value for partition in reader_of().partitions(start, end)]
    assert [task.entries for task in tasks] == [4, 4, 2]
    again = reader_of(maxRecordsPerPartition="1")
    assert [partition.value for partition in again.partitions(start, end)] == tasks
    assert values(again, start, end) == list(range(1, 11))


def test_records_of_a_task_are_limited(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1, 2, 3, 4, 5)
    reader = reader_of(maxRecordsPerPartition="2")
    tasks = [partition.value.entries for partition in reader.partitions(*first_batch(reader))]
    assert tasks == [2, 2, 1]


def test_a_batch_without_own_entries_has_no_tasks(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1)
    _, end = first_batch(reader)
    assert reader.partitions(end, end) == []


def test_a_limit_is_divided_in_proportion_to_the_backlogs(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 31))
    add(client, "t", *range(1, 11))
    reader = reader_of(subscribe="s,t")
    start, end = first_batch(reader, rows=8)
    assert {s: claim["entries"] for s, claim in end["claims"].items()} == {"s": 6, "t": 2}
    assert (reader.reportLatestOffset() or {})["lag"] == {"s": 24, "t": 8}
    assert sorted(values(reader, start, end)) == [1, 1, 2, 2, 3, 4, 5, 6]


def test_without_a_limit_all_entries_are_claimed(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", *range(1, 8))
    start = reader.initialOffset()
    assert len(values(reader, start, reader.latestOffset(start, ReadAllAvailable()))) == 7


def test_the_default_limit_leaves_entries_to_other_consumers(reader: SharedStreamReader) -> None:
    assert reader.getDefaultReadLimit() == ReadMaxRows(100_000)


def test_available_now_ends_at_the_entries_that_were_there(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2, 3, 4, 5)
    reader = reader_of(subscribe="s,t")
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    add(client, "s", 6)
    add(client, "t", 1)
    first = advance(reader, start, 3)
    rival_reads(client, 1)
    assert values(reader, start, first) == [1, 2, 3]
    second = advance(reader, first, 3)
    assert values(reader, first, second) == [5]
    assert advance(reader, second) == second


def test_a_group_reaches_the_end_despite_deleted_entries(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """The server then does not know how many entries the group has read."""
    add(client, "s", *range(1, 8))
    client.xgroup_create("s", GROUP, "0-0")
    rival_reads(client, 2)
    client.xdel("s", "4-0", "6-0")
    start, end = first_batch(reader)
    assert values(reader, start, end) == [3, 5, 7]
    assert advance(reader, end) == end


def test_a_lost_connection_loses_no_claimed_entry(
    client: redis.Redis, reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reply claims two entries."""
    reader = reader_of(fetchSize="2")
    add(client, "s", *range(1, 10))
    answer, fail = Connection.answer, [False, True, False, True]

    def answer_or_not(self: Connection) -> bytes:
        found = answer(self)
        if fail and fail.pop(0):
            raise ConnectionError("gone")
        return found

    monkeypatch.setattr(Connection, "answer", answer_or_not)
    start, end = first_batch(reader, rows=8)
    assert values(reader, start, end) == list(range(1, 9))
    assert not fail


def test_streams_take_turns_if_the_limit_is_below_their_number(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """The first stream always has a backlog, and the others must not wait for its end."""
    add(client, "a", *range(1, 9))
    add(client, "b", 20)
    add(client, "c", 30)
    reader = reader_of(subscribe="a,b,c")
    start, found = reader.initialOffset(), list[int]()
    for _ in range(4):
        end = advance(reader, start, 1)
        found += values(reader, start, end)
        start = end
    assert found == [1, 20, 30, 2]


@pytest.mark.parametrize("page", ["1", "1000"])
def test_the_largest_id_can_be_claimed_read_and_acknowledged(
    client: redis.Redis, reader_of: MakeReader, page: str
) -> None:
    client.xadd("s", {"i": 1}, id="1-0")
    client.xadd("s", {"i": 2}, id=str(LAST))
    reader = reader_of(fetchSize=page, maxRecordsPerPartition="1")
    start, end = first_batch(reader)
    assert values(reader, start, end) == [1, 2]
    assert advance(reader, end) == end
    assert client.xpending("s", GROUP)["pending"] == 0
