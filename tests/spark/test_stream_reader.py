"""The stream reader, asked as Spark asks it: offsets, limits, loss, and what it publishes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock import plan, stream_reader
from pyspark_penstock.errors import CheckpointError, DataLossError, OptionError, ServerError
from pyspark_penstock.source_options import stream_options
from pyspark_penstock.stream_reader import PenstockStreamReader

SCHEMA = StructType().add("i", "long")
Json = dict[str, Any]
MakeReader = Callable[..., PenstockStreamReader]


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers of just these options, and stops them."""
    made = []

    def make(**options: str) -> PenstockStreamReader:
        made.append(PenstockStreamReader(stream_options(at | options), SCHEMA))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


@pytest.fixture
def reader(reader_of: MakeReader) -> PenstockStreamReader:
    """A reader of the stream s from its beginning."""
    return from_start(reader_of)


def from_start(reader_of: MakeReader, **options: str) -> PenstockStreamReader:
    return reader_of(subscribe="s", startingOffsets="earliest", minPartitions="1", **options)


def add(client: redis.Redis, stream: str, *values: int) -> None:
    """Entries whose ids are their values: 1-0, 2-0, ..."""
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def values(reader: PenstockStreamReader, start: Json, end: Json) -> list[int]:
    """What the tasks of a batch read."""
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
def test_where_a_query_starts(
    client: redis.Redis, reader_of: MakeReader, options: dict[str, str], expected: list[int]
) -> None:
    add(client, "s", 1, 2, 3, 4, 5)
    client.xgroup_create("s", "g", "2-0")
    reader = reader_of(subscribe="s", **options)
    start = reader.initialOffset()
    assert start["streams"]["s"]["n"] == 5 - len(expected)
    assert values(reader, start, advance(reader, start)) == expected


def test_assigned_ranges_start_where_they_say(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1, 2, 3)
    add(client, "t", 1, 2)
    reader = reader_of(assign='{"s": ["3-0", "latest"], "t": ["earliest", "latest"]}')
    start = reader.initialOffset()
    assert sorted(values(reader, start, advance(reader, start))) == [1, 2, 3]


def test_no_entry_as_young_as_the_starting_time_is_an_error(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    with pytest.raises(OptionError, match="no entry at or after 2 ms"):
        reader_of(subscribe="s", startingTimestamp="2").initialOffset()


def test_a_stream_that_does_not_exist_yet_is_read_from_its_beginning_when_it_does(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    reader = reader_of(subscribe="s", startingOffsets="latest")
    start = reader.initialOffset()
    assert advance(reader, start) == start
    add(client, "s", 1)
    assert values(reader, start, advance(reader, start)) == [1]


def test_a_key_that_is_no_stream_is_an_error(client: redis.Redis, reader_of: MakeReader) -> None:
    client.rpush("s", "x")
    with pytest.raises(ServerError, match="stream 's': WRONGTYPE"):
        reader_of(subscribe="s").initialOffset()


def test_streams_that_appear_are_picked_up_by_a_pattern_whole(
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


def test_nothing_new_is_the_offset_itself(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1)
    end = advance(reader, reader.initialOffset())
    assert advance(reader, end) == end
    assert list(reader.partitions(end, end)) == []


def test_batches_have_as_many_entries_as_the_limit_says(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    offset, batches = reader.initialOffset(), []
    while (end := advance(reader, offset, rows=4)) != offset:
        batches.append(values(reader, offset, end))
        offset = end
    assert batches == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert positions(offset) == {"s": ("10-0", 10)}


def test_the_limit_is_shared_in_proportion_to_what_waits(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "big", *range(1, 91))
    add(client, "small", *range(1, 11))
    reader = reader_of(subscribe="big,small", startingOffsets="earliest")
    end = advance(reader, reader.initialOffset(), rows=20)
    assert positions(end) == {"big": ("18-0", 18), "small": ("2-0", 2)}


def test_no_limit_means_all(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", *range(1, 11))
    reader = from_start(reader_of, maxBytesPerTrigger="1")
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert positions(end) == {"s": ("10-0", 10)}


@pytest.mark.parametrize(("most", "expected"), [("1", 1), ("500", 14), ("1000000", 100)])
def test_a_limit_in_bytes_counts_what_the_server_sends(
    client: redis.Redis, reader_of: MakeReader, most: str, expected: int
) -> None:
    """An entry here is 34 bytes; one at least is read."""
    for i in range(1, 101):
        client.xadd("s", {"i": 5}, id=f"{1000 + i}-0")
    reader = from_start(reader_of, maxBytesPerTrigger=most)
    end = advance(reader, reader.initialOffset())
    assert end["streams"]["s"]["n"] == expected


def test_a_limit_in_bytes_is_of_the_batch(client: redis.Redis, reader_of: MakeReader) -> None:
    """Shared by the streams in proportion; an entry here is 34 bytes."""
    for stream, count in (("big", 90), ("small", 10)):
        for i in range(1, count + 1):
            client.xadd(stream, {"i": 5}, id=f"{1000 + i}-0")
    reader = reader_of(subscribe="big,small", startingOffsets="earliest", maxBytesPerTrigger="700")
    end = advance(reader, reader.initialOffset())
    assert positions(end) == {"big": ("1018-0", 18), "small": ("1002-0", 2)}


def test_the_default_limit_is_a_million(reader: PenstockStreamReader) -> None:
    assert reader.getDefaultReadLimit() == ReadMaxRows(1_000_000)


def test_fewer_than_the_least_are_waited_for_but_not_for_ever(
    client: redis.Redis, reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [1_000.0]
    monkeypatch.setattr(stream_reader.time, "monotonic", lambda: now_s[0])
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


def test_available_now_stops_at_what_was_there(client: redis.Redis, reader_of: MakeReader) -> None:
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
    sizes = [p.value.expected for p in reader.partitions(start, end)]
    assert sizes == [10, 10, 10, 10]
    whole = advance(reader, start)
    assert len(reader.partitions(start, whole)) == 4
    assert values(reader, start, whole) == list(range(1, 61))


def test_no_task_is_larger_than_the_option_says(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", *range(1, 101))
    reader = from_start(reader_of, maxRecordsPerPartition="30")
    start = reader.initialOffset()
    end = advance(reader, start, rows=90)
    assert [p.value.expected for p in reader.partitions(start, end)] == [30, 30, 30]


def test_progress_tells_the_distance_to_the_end(
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


def test_trimming_what_was_read_is_no_loss(
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


def test_a_single_deletion_is_found_by_the_task(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    first = advance(reader, reader.initialOffset(), rows=5)
    second = advance(reader, first)
    client.xdel("s", "7-0")
    with pytest.raises(DataLossError, match="1 of 5 entries after 5-0 up to 10-0"):
        values(reader, first, second)


def test_trimming_between_plan_and_replay_is_found(
    client: redis.Redis, reader_of: MakeReader, reader: PenstockStreamReader
) -> None:
    add(client, "s", *range(1, 11))
    start = reader.initialOffset()
    end = advance(reader, start)
    client.xtrim("s", maxlen=4, approximate=False)
    with pytest.raises(DataLossError, match="6 entries after 0-0"):
        from_start(reader_of).partitions(start, end)


# ---------------------------------------------------------------------- other data


def test_a_server_that_lost_data_is_told_apart(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1, 2, 3)
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    add(client, "s", 1, 2)
    with pytest.raises(CheckpointError, match=r"read up to 3-0, but .* nothing after 2-0"):
        advance(reader, end)


def test_a_stream_made_anew_is_told_apart(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1, 2, 3)
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    add(client, "s", 8, 9)
    with pytest.raises(CheckpointError, match="3 entries had been added then, now it is 2"):
        advance(reader, end)


def test_a_stream_that_is_gone_is_told(client: redis.Redis, reader: PenstockStreamReader) -> None:
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


def test_a_group_is_published_when_the_next_batch_is_asked_for_though_there_be_none(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    reader = from_start(reader_of, group="spark")
    start = reader.initialOffset()
    end = advance(reader, start)
    assert client.xinfo_groups("s") == []  # nothing is done
    assert advance(reader, end) == end
    (group,) = client.xinfo_groups("s")
    assert (group["last-delivered-id"], group["entries-read"], group["lag"]) == (b"2-0", 2, 0)


def test_without_a_group_nothing_is_published(
    client: redis.Redis, reader: PenstockStreamReader
) -> None:
    add(client, "s", 1)
    reader.commit(advance(reader, reader.initialOffset()))
    assert client.xinfo_groups("s") == []


def test_a_group_is_not_made_for_a_stream_that_is_gone(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    reader = from_start(reader_of, group="spark")
    end = advance(reader, reader.initialOffset())
    client.delete("s")
    reader.commit(end)
    assert not client.exists("s")
