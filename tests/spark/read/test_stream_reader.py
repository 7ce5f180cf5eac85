"""The stream reader, called as Spark calls it: offsets, limits, data loss, position groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.errors import CheckpointError, DataLossError, OptionError, ServerError
from pyspark_penstock.read import entry_reader, plan
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long")
Json = dict[str, Any]
MakeReader = Callable[..., PenstockStreamReader]


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers with the given options, and stops them at the end."""
    made = []

    def make(**options: str) -> PenstockStreamReader:
        made.append(PenstockStreamReader(stream_options(at | options), SCHEMA))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


@pytest.fixture
def reader(reader_of: MakeReader) -> PenstockStreamReader:
    """A reader of the stream ``s`` from its beginning."""
    return from_start(reader_of)


def from_start(reader_of: MakeReader, **options: str) -> PenstockStreamReader:
    return reader_of(subscribe="s", startingOffsets="earliest", minPartitions="1", **options)


def add(client: redis.Redis, stream: str, *values: int) -> None:
    """Add entries whose ids are their values: 1-0, 2-0, ..."""
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def values(reader: PenstockStreamReader, start: Json, end: Json) -> list[int]:
    """The values that the tasks of a batch read."""
    return [
        i
        for partition in reader.partitions(start, end)
        for batch in reader.read(partition)
        for i in batch.column("i").to_pylist()
    ]


def advance(reader: PenstockStreamReader, start: Json, rows: int = 1_000_000) -> Json:
    return reader.latestOffset(start, ReadMaxRows(rows))


def positions(offset: Json) -> dict[str, tuple[str, int]]:
    return {s: (p["id"], p["n"]) for s, p in offset["streams"].items()}


# ---------------------------------------------------------------------- where it starts


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": "earliest"}, [1, 2, 3, 4, 5]),
        ({}, []),
        ({"startingOffsets": "latest"}, []),
        ({"startingOffsets": "3-0"}, [3, 4, 5]),
        ({"startingOffsets": "(3-0"}, [4, 5]),
        ({"startingOffsets": "(3"}, [4, 5]),
        ({"startingOffsets": "3"}, [3, 4, 5]),
        ({"startingOffsets": '{"s": "2-1"}'}, [3, 4, 5]),
        ({"startingOffsets": '{"s": "earliest"}'}, [1, 2, 3, 4, 5]),
        ({"startingOffsets": "group:g"}, [3, 4, 5]),
        ({"startingTimestamp": "4"}, [4, 5]),
        ({"startingOffsetsByTimestamp": '{"s": 2}'}, [2, 3, 4, 5]),
        ({"startingTimestamp": "6", "startingOffsetsByTimestampStrategy": "latest"}, []),
        ({"startingOffsets": "99-0"}, []),
    ],
    ids=str,
)
def test_a_query_starts_where_its_options_say(
    client: redis.Redis, reader_of: MakeReader, options: dict[str, str], expected: list[int]
) -> None:
    add(client, "s", 1, 2, 3, 4, 5)
    client.xgroup_create("s", "g", "2-0")
    reader = reader_of(subscribe="s", **options)
    start = reader.initialOffset()
    assert start["streams"]["s"]["n"] == 5 - len(expected)
    assert values(reader, start, advance(reader, start)) == expected


def test_assigned_ranges_begin_at_their_start(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1, 2, 3)
    add(client, "t", 1, 2)
    reader = reader_of(assign='{"s": ["3-0", "latest"], "t": ["earliest", "latest"]}')
    start = reader.initialOffset()
    assert sorted(values(reader, start, advance(reader, start))) == [1, 2, 3]


def test_a_starting_time_after_the_last_entry_is_an_error(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    with pytest.raises(OptionError, match="no entry at or after 2 ms"):
        reader_of(subscribe="s", startingTimestamp="2").initialOffset()


def test_a_stream_that_appears_later_is_read_from_its_beginning(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    reader = reader_of(subscribe="s", startingOffsets="latest")
    start = reader.initialOffset()
    assert advance(reader, start) == start
    add(client, "s", 1)
    assert values(reader, start, advance(reader, start)) == [1]


def test_a_key_of_another_type_is_an_error(client: redis.Redis, reader_of: MakeReader) -> None:
    client.rpush("s", "x")
    with pytest.raises(ServerError, match="stream 's': WRONGTYPE"):
        reader_of(subscribe="s").initialOffset()


def test_a_pattern_reads_new_streams_from_their_beginning(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "order:1", 1, 2)
    client.set("order:no-stream", "x")
    reader = reader_of(subscribePattern="order:*", startingOffsets="latest")
    start = reader.initialOffset()
    assert positions(start) == {"order:1": ("2-0", 2)}
    add(client, "order:2", 7, 8, 9)
    client.xtrim("order:2", maxlen=2, approximate=False)
    end = advance(reader, start)
    assert values(reader, start, end) == [8, 9]
    assert positions(end) == {"order:1": ("2-0", 2), "order:2": ("9-0", 3)}


# ---------------------------------------------------------------------- limits


def test_without_new_entries_the_offset_stays(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1)
    end = advance(reader, reader.initialOffset())
    assert advance(reader, end) == end
    assert list(reader.partitions(end, end)) == []


def test_batches_have_at_most_the_limit_of_entries(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    offset, batches = reader.initialOffset(), []
    while (end := advance(reader, offset, rows=4)) != offset:
        batches.append(values(reader, offset, end))
        offset = end
    assert batches == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert positions(offset) == {"s": ("10-0", 10)}


def test_the_limit_is_divided_in_proportion_to_the_backlogs(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "big", *range(1, 91))
    add(client, "small", *range(1, 11))
    reader = reader_of(subscribe="big,small", startingOffsets="earliest")
    end = advance(reader, reader.initialOffset(), rows=20)
    assert positions(end) == {"big": ("18-0", 18), "small": ("2-0", 2)}


def test_without_a_limit_all_entries_are_read(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", *range(1, 11))
    reader = from_start(reader_of, maxBytesPerTrigger="1")
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert positions(end) == {"s": ("10-0", 10)}


@pytest.mark.parametrize(("most", "expected"), [("1", 1), ("500", 14), ("1000000", 100)])
def test_a_limit_in_bytes_counts_the_bytes_of_the_reply(
    client: redis.Redis, reader_of: MakeReader, most: str, expected: int
) -> None:
    """Each entry has 34 bytes here. At least one is read."""
    for i in range(1, 101):
        client.xadd("s", {"i": 5}, id=f"{1000 + i}-0")
    reader = from_start(reader_of, maxBytesPerTrigger=most)
    end = advance(reader, reader.initialOffset())
    assert end["streams"]["s"]["n"] == expected


def test_a_limit_in_bytes_is_for_the_whole_batch(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """It is divided in proportion to the backlogs. Each entry has 34 bytes here."""
    for stream, count in (("big", 90), ("small", 10)):
        for i in range(1, count + 1):
            client.xadd(stream, {"i": 5}, id=f"{1000 + i}-0")
    reader = reader_of(subscribe="big,small", startingOffsets="earliest", maxBytesPerTrigger="700")
    end = advance(reader, reader.initialOffset())
    assert positions(end) == {"big": ("1018-0", 18), "small": ("1002-0", 2)}


def test_the_default_limit_is_a_million(reader: PenstockStreamReader) -> None:
    assert reader.getDefaultReadLimit() == ReadMaxRows(1_000_000)


def test_a_batch_waits_for_min_offsets_but_at_most_max_trigger_delay(
    client: redis.Redis, reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    add(client, "s", 1)
    reader = from_start(reader_of, minOffsetsPerTrigger="3", maxTriggerDelay="10s")
    first = advance(reader, reader.initialOffset())
    assert positions(first) == {"s": ("1-0", 1)}
    add(client, "s", 2, 3)
    assert advance(reader, first) == first
    now_s[0] += 9.9
    assert advance(reader, first) == first
    add(client, "s", 4)
    second = advance(reader, first)
    assert positions(second) == {"s": ("4-0", 4)}
    add(client, "s", 5)
    now_s[0] += 10
    assert positions(advance(reader, second)) == {"s": ("5-0", 5)}


def test_available_now_reads_only_the_entries_that_were_there(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s:1", 1, 2, 3)
    reader = reader_of(subscribePattern="s:*", startingOffsets="earliest")
    start = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    add(client, "s:1", 4)
    add(client, "s:2", 1)
    first = advance(reader, start, rows=2)
    second = advance(reader, first, rows=2)
    assert values(reader, start, first) + values(reader, first, second) == [1, 2, 3]
    assert advance(reader, second) == second


def test_large_batches_are_split_into_tasks_of_the_same_size(
    client: redis.Redis, reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "SMALL", 10)
    add(client, "s", *range(1, 61))
    reader = reader_of(subscribe="s", startingOffsets="earliest", minPartitions="4")
    start = reader.initialOffset()
    end = advance(reader, start, rows=40)
    sizes = counts(reader, start, end)
    assert sizes == [10, 10, 10, 10]
    whole = advance(reader, start)
    assert len(reader.partitions(start, whole)) == 4
    assert values(reader, start, whole) == list(range(1, 61))


@pytest.mark.parametrize(
    ("rows", "sizes"), [(90, [30, 30, 30]), (1_000_000, [30, 30, 30, 11])], ids=["bounded", "all"]
)
def test_no_task_is_larger_than_max_records_per_partition(
    client: redis.Redis, reader_of: MakeReader, rows: int, sizes: list[int]
) -> None:
    """Nearly all entries have the same milliseconds."""
    for i in range(100):
        client.xadd("s", {"i": i}, id=f"1000-{i}")
    client.xadd("s", {"i": 100}, id="1763000000000-0")
    reader = from_start(reader_of, maxRecordsPerPartition="30")
    start = reader.initialOffset()
    end = advance(reader, start, rows=rows)
    found = [count or 0 for count in counts(reader, start, end)]
    assert sum(found) == sum(sizes)
    assert max(found) <= 30  # XSPLIT makes parts of the same length
    assert len(found) <= 4
    assert values(reader, start, end) == list(range(sum(sizes)))


def test_the_latest_offset_minus_the_batch_s_end_is_the_backlog(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    end = advance(reader, reader.initialOffset(), rows=4)
    latest = reader.reportLatestOffset()
    assert latest is not None
    assert latest["streams"]["s"]["n"] - end["streams"]["s"]["n"] == 6


# ---------------------------------------------------------------------- loss


def test_entries_trimmed_before_they_were_read_are_counted_exactly(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    end = advance(reader, reader.initialOffset(), rows=3)
    client.xtrim("s", maxlen=2, approximate=False)
    with pytest.raises(DataLossError, match="5 entries after 3-0 were trimmed or deleted"):
        advance(reader, end)


def test_with_fail_on_data_loss_off_the_rest_is_read(
    client: redis.Redis, reader_of: MakeReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 11))
    reader = from_start(reader_of, failOnDataLoss="false")
    first = advance(reader, reader.initialOffset(), rows=3)
    client.xtrim("s", maxlen=2, approximate=False)
    second = advance(reader, first)
    assert values(reader, first, second) == [9, 10]
    assert positions(second) == {"s": ("10-0", 10)}
    assert caplog.text.count("5 entries were lost unread") == 1


def test_trimming_entries_that_were_read_is_no_loss(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    end = advance(reader, reader.initialOffset(), rows=5)
    client.xtrim("s", maxlen=5, approximate=False)
    assert values(reader, end, advance(reader, end)) == [6, 7, 8, 9, 10]


def test_a_stream_trimmed_before_the_query_began_has_lost_nothing(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    client.xtrim("s", maxlen=5, approximate=False)
    start = reader.initialOffset()
    assert values(reader, start, advance(reader, start)) == [6, 7, 8, 9, 10]


def test_a_task_detects_a_single_deletion(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    first = advance(reader, reader.initialOffset(), rows=5)
    second = advance(reader, first)
    client.xdel("s", "7-0")
    with pytest.raises(DataLossError, match="1 of 5 entries after 5-0 up to 10-0"):
        values(reader, first, second)


def test_trimming_between_plan_and_replay_is_detected(
    client: redis.Redis, reader_of: MakeReader, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    start = reader.initialOffset()
    end = advance(reader, start)
    client.xtrim("s", maxlen=4, approximate=False)
    with pytest.raises(DataLossError, match="6 entries after 0-0"):
        from_start(reader_of).partitions(start, end)


# ---------------------------------------------------------------------- loss in large batches


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give batches of a few entries several tasks, as large batches have."""
    monkeypatch.setattr(plan, "SMALL", 10)


def large(reader_of: MakeReader, **options: str) -> PenstockStreamReader:
    """A reader of the stream ``s`` from its beginning, with two tasks for each batch."""
    given = {"startingOffsets": "earliest", "minPartitions": "2"} | options
    return reader_of(subscribe="s", **given)


def counts(reader: PenstockStreamReader, start: Json, end: Json) -> list[int | None]:
    return [task.expected for p in reader.partitions(start, end) for task in p.value.ranges]


def trim(client: redis.Redis, left: int) -> None:
    client.xtrim("s", maxlen=left, approximate=False)


@pytest.mark.usefixtures("small_tasks")
def test_a_stream_that_never_lost_an_entry_is_not_read_twice(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 41))
    reader = large(reader_of)
    start = reader.initialOffset()
    client.config_resetstat()
    end = advance(reader, start)
    assert "cmdstat_xrange" not in client.info("commandstats")
    assert counts(reader, start, end) == [None, None]
    assert values(reader, start, end) == list(range(1, 41))


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    ("remove", "lost"),
    [
        (lambda client: trim(client, 30), 10),
        (lambda client: client.xdel("s", "7-0"), 1),
        (lambda client: client.xdel("s", "39-0", "40-0"), 2),
    ],
    ids=["trimmed", "deleted", "deleted at the end"],
)
def test_the_tasks_of_an_uncounted_batch_detect_the_first_loss_of_a_stream(
    client: redis.Redis,
    reader_of: MakeReader,
    caplog: pytest.LogCaptureFixture,
    remove: Callable[[redis.Redis], object],
    lost: int,
) -> None:
    add(client, "s", *range(1, 41))
    reader = large(reader_of)
    start = reader.initialOffset()
    end = advance(reader, start)
    tasks = reader.partitions(start, end)
    remove(client)
    for task in tasks:
        with pytest.raises(DataLossError, match=f"up to {lost} of 40 entries after 0-0 up to 40-0"):
            list(reader.read(task))
    lenient = large(reader_of, failOnDataLoss="false")
    rows = [n for t in tasks for batch in lenient.read(t) for n in batch.column("i").to_pylist()]
    assert len(rows) == 40 - lost
    assert caplog.messages == []


@pytest.mark.usefixtures("small_tasks")
def test_the_first_trim_of_entries_that_were_read_is_no_loss(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 61))
    reader = large(reader_of)
    first = advance(reader, reader.initialOffset(), rows=20)
    second = advance(reader, first)
    tasks = reader.partitions(first, second)
    assert counts(reader, first, second) == [None, None]
    trim(client, 40)
    rows = [n for t in tasks for batch in reader.read(t) for n in batch.column("i").to_pylist()]
    assert rows == list(range(21, 61))


@pytest.mark.usefixtures("small_tasks")
def test_a_trim_of_entries_that_a_task_has_read_is_no_loss_for_it(
    client: redis.Redis, reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another task cannot know whether those entries were read in time, and so it fails."""
    monkeypatch.setattr(entry_reader, "ROWS", 1)
    add(client, "s", *range(1, 41))
    reader = large(reader_of, fetchSize="5")
    start = reader.initialOffset()
    tasks = reader.partitions(start, advance(reader, start))
    batches = reader.read(tasks[0])
    first = next(batches).num_rows
    trim(client, 35)
    assert first + sum(batch.num_rows for batch in batches) == 20
    with pytest.raises(DataLossError, match="up to 5 of 40 entries"):
        list(reader.read(tasks[1]))


@pytest.mark.usefixtures("small_tasks")
def test_a_stream_recreated_while_a_batch_is_read_is_a_loss(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 41))
    reader = large(reader_of)
    start = reader.initialOffset()
    tasks = reader.partitions(start, advance(reader, start))
    client.delete("s")
    add(client, "s", 50)
    with pytest.raises(DataLossError, match="up to 40 of 40 entries"):
        list(reader.read(tasks[0]))


@pytest.mark.usefixtures("small_tasks")
def test_planning_a_large_batch_counts_unread_deletions_exactly(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 61))
    reader = large(reader_of)
    first = advance(reader, reader.initialOffset(), rows=20)
    client.xdel("s", "3-0", "30-0", "31-0", "60-0")
    with pytest.raises(DataLossError, match="'s': 3 entries up to 60-0 were trimmed or deleted"):
        advance(reader, first)


@pytest.mark.usefixtures("small_tasks")
def test_a_counted_batch_warns_once_of_unread_deletions(
    client: redis.Redis, reader_of: MakeReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 61))
    reader = large(reader_of, failOnDataLoss="false", maxRecordsPerPartition="25")
    first = advance(reader, reader.initialOffset(), rows=20)
    client.xdel("s", "3-0", "30-0", "31-0", "60-0")
    second = advance(reader, first)
    kept = [i for i in range(21, 60) if i not in {30, 31}]
    assert values(reader, first, second) == kept
    assert counts(reader, first, second) == [20, 17]
    assert positions(second) == {"s": ("60-0", 60)}
    assert advance(reader, second) == second
    assert [text.count("3 entries up to 60-0") for text in caplog.messages] == [1]


@pytest.mark.usefixtures("small_tasks")
def test_limited_batches_detect_deletions_when_they_have_caught_up(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 61))
    reader = large(reader_of)
    first = advance(reader, reader.initialOffset(), rows=10)
    client.xdel("s", "15-0", "16-0")
    second = advance(reader, first, rows=20)
    assert positions(second) == {"s": ("32-0", 30)}
    with pytest.raises(DataLossError, match="2 entries up to 60-0"):
        advance(reader, second)
    with pytest.raises(DataLossError, match="2 entries up to 60-0"):
        advance(reader, second, rows=28)  # exactly the rest, since two of 30 are gone


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("rows", [7, 1_000_000])
@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"startingOffsets": "earliest"}, 11),
        ({"startingOffsets": "latest"}, 41),
        ({"startingOffsets": "5-0"}, 11),
        ({"startingOffsets": "20-0"}, 20),
        ({"startingOffsets": "(25-0"}, 27),
        ({"startingOffsets": "26"}, 27),
    ],
    ids=str,
)
def test_entries_missing_before_a_query_began_are_no_loss(
    client: redis.Redis, reader_of: MakeReader, options: dict[str, str], first: int, rows: int
) -> None:
    add(client, "s", *range(1, 41))
    trim(client, 30)
    client.xdel("s", "15-0", "26-0", "40-0")
    reader = large(reader_of, **options)
    offset = reader.initialOffset()
    add(client, "s", *range(41, 81))
    found = []
    while (end := advance(reader, offset, rows)) != offset:
        found += values(reader, offset, end)
        offset = end
    assert found == [i for i in range(first, 81) if i not in {15, 26, 40}]
    assert positions(offset) == {"s": ("80-0", 80)}


@pytest.mark.usefixtures("small_tasks")
def test_entries_missing_before_a_stream_was_first_seen_are_no_loss(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    reader = reader_of(subscribePattern="s*", startingOffsets="latest", minPartitions="2")
    start = reader.initialOffset()
    add(client, "s", *range(1, 41))
    client.xdel("s", "1-0", "20-0")
    assert values(reader, start, advance(reader, start)) == [*range(2, 20), *range(21, 41)]


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("rows", [7, 1_000_000])
def test_deletions_after_the_end_of_available_now_are_no_loss(
    client: redis.Redis, reader_of: MakeReader, rows: int
) -> None:
    add(client, "s", *range(1, 41))
    client.xdel("s", "20-0")
    reader = large(reader_of)
    offset = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    add(client, "s", *range(41, 61))
    first = advance(reader, offset, 7)
    found, offset = values(reader, offset, first), first
    client.xdel("s", "50-0")
    while (end := advance(reader, offset, rows)) != offset:
        found += values(reader, offset, end)
        offset = end
    assert found == [i for i in range(1, 41) if i != 20]
    assert positions(offset) == {"s": ("40-0", 40)}


def test_a_trim_beyond_the_end_of_available_now_is_warned_of_once(
    client: redis.Redis, reader_of: MakeReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 41))
    reader = from_start(reader_of, failOnDataLoss="false")
    first = advance(reader, reader.initialOffset(), rows=10)
    reader.prepareForTriggerAvailableNow()
    add(client, "s", *range(41, 61))
    trim(client, 10)
    second = advance(reader, first)
    assert values(reader, first, second) == []
    reader = from_start(reader_of, failOnDataLoss="false")
    assert values(reader, second, advance(reader, second)) == list(range(51, 61))
    assert caplog.messages == ["stream 's': 40 entries were lost unread"]


@pytest.mark.usefixtures("small_tasks")
def test_a_batch_planned_by_an_older_version_is_read_as_planned(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """Older versions split batches by time even if entries had been removed."""
    add(client, "s", *range(1, 61))
    trim(client, 50)
    client.xdel("s", "40-0")
    reader = large(reader_of)
    start = reader.initialOffset()
    place = {"id": "60-0", "n": 60, "from": ["0-0", 11], "cuts": [["30-0", None]]}
    end = start | {"streams": {"s": place}}
    assert counts(reader, start, end) == [None, None]
    assert values(reader, start, end) == [i for i in range(11, 61) if i != 40]
    tasks = reader.partitions(start, end)
    client.xdel("s", "20-0")
    with pytest.raises(DataLossError, match="up to 1 of 49 entries after 0-0 up to 60-0"):
        list(reader.read(tasks[0]))


EVENTS = st.tuples(
    st.sampled_from(["add", "add", "delete", "trim", "read", "read some", "remove and read"]),
    st.integers(1, 40),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(EVENTS, max_size=12), st.booleans())
def test_a_query_fails_if_and_only_if_it_missed_an_entry(
    client: redis.Redis, at: dict[str, str], events: list[tuple[str, int]], counted: bool
) -> None:
    """It can notice only after it has caught up, so each history ends with a full read."""
    client.flushall()
    options = {"maxRecordsPerPartition": "15"} if counted else {}
    given = at | {"subscribe": "s", "startingOffsets": "earliest", "minPartitions": "2"} | options
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    offset, read, removed, last = reader.initialOffset(), set[int](), set[int](), 0

    def there() -> set[int]:
        return {int(fields[b"i"]) for _, fields in xrange(client, "s")}

    def remove(kind: str, amount: int) -> None:
        before = there()
        if kind == "trim":
            trim(client, max(0, len(before) - amount))
        elif before:
            client.xdel("s", f"{sorted(before)[amount % len(before)]}-0")
        removed.update(before - there())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "SMALL", 10)
        try:
            for kind, amount in [*events, ("read", 0)]:
                if kind == "add":
                    add(client, "s", *range(last + 1, last + amount + 1))
                    last += amount
                elif "read" not in kind:
                    remove(kind, amount)
                else:
                    end = advance(reader, offset, amount if kind == "read some" else 1_000_000)
                    tasks = reader.partitions(offset, end)
                    if kind == "remove and read":
                        remove("delete" if amount % 2 else "trim", amount)
                    for task in tasks:
                        for batch in reader.read(task):
                            read.update(batch.column("i").to_pylist())
                    offset = end
        except DataLossError:
            assert removed - read
        else:
            assert read == set(range(1, last + 1))
        finally:
            reader.stop()


# ---------------------------------------------------------------------- other data


def test_a_server_that_lost_data_is_detected(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1, 2, 3)
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    add(client, "s", 1, 2)
    with pytest.raises(CheckpointError, match=r"read up to 3-0, but .* nothing after 2-0"):
        advance(reader, end)


def test_a_recreated_stream_is_detected(client: redis.Redis, reader: PenstockStreamReader) -> None:
    add(client, "s", 1, 2, 3)
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    add(client, "s", 8, 9)
    with pytest.raises(CheckpointError, match="3 entries had been added then, now it is 2"):
        advance(reader, end)


def test_a_deleted_stream_is_an_error(client: redis.Redis, reader: PenstockStreamReader) -> None:
    add(client, "s", 1)
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    with pytest.raises(CheckpointError, match="does not exist any more"):
        advance(reader, end)


def test_a_checkpoint_of_other_streams_is_refused(
    client: redis.Redis, reader_of: MakeReader, reader: PenstockStreamReader
) -> None:
    start = reader.initialOffset()
    other = reader_of(subscribe="s,t")
    with pytest.raises(CheckpointError, match=r"\['s'\].*this one reads.*\['s', 't'\]"):
        advance(other, start)


@pytest.mark.parametrize("value", [{}, {"streams": 1, "source": {}}, {"streams": {"s": {}}}])
def test_a_checkpoint_of_another_source_is_refused(
    reader: PenstockStreamReader, client: redis.Redis, value: Json
) -> None:
    with pytest.raises(CheckpointError):
        advance(reader, value)


# ---------------------------------------------------------------------- group


def test_a_group_shows_position_and_exact_lag(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", *range(1, 11))
    reader = from_start(reader_of, group="spark")
    first = advance(reader, reader.initialOffset(), rows=4)
    reader.commit(first)
    (group,) = client.xinfo_groups("s")
    assert (group["last-delivered-id"], group["entries-read"], group["lag"]) == (b"4-0", 4, 6)
    reader.commit(advance(reader, first))
    (group,) = client.xinfo_groups("s")
    assert (group["last-delivered-id"], group["entries-read"], group["lag"]) == (b"10-0", 10, 0)


def test_a_group_is_moved_when_the_next_batch_is_planned_even_if_empty(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    reader = from_start(reader_of, group="spark")
    start = reader.initialOffset()
    end = advance(reader, start)
    assert client.xinfo_groups("s") == []  # no batch is done yet
    assert advance(reader, end) == end
    (group,) = client.xinfo_groups("s")
    assert (group["last-delivered-id"], group["entries-read"], group["lag"]) == (b"2-0", 2, 0)


def test_without_the_option_no_group_is_created(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1)
    reader.commit(advance(reader, reader.initialOffset()))
    assert client.xinfo_groups("s") == []


def test_no_group_is_created_for_a_deleted_stream(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    reader = from_start(reader_of, group="spark")
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    reader.commit(end)
    assert not client.exists("s")
