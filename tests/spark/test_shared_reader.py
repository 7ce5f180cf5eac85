"""The reader of a shared group, asked as Spark asks it: claims, rivals, acknowledgements."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock import claims, plan
from pyspark_penstock.errors import CheckpointError, DataLossError, ServerError
from pyspark_penstock.shared_reader import SharedStreamReader
from pyspark_penstock.source_options import stream_options
from pyspark_penstock.wire import Wire

SCHEMA = StructType().add("i", "long")
GROUP = "g"
STALE_MS = 1_000_000  # longer than anything is pending here

Json = dict[str, Any]
MakeReader = Callable[..., SharedStreamReader]


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers of the stream s from its beginning, or of what else options say; stops them."""
    made = []

    def make(**options: str) -> SharedStreamReader:
        given = {} if "subscribePattern" in options else {"subscribe": "s"}
        given |= {} if "startingTimestamp" in options else {"startingOffsets": "earliest"}
        given |= at | {"minPartitions": "1", "group": GROUP, "groupMode": "shared"}
        read = stream_options(given | options)
        assert read.sharing
        made.append(SharedStreamReader(read, read.sharing, SCHEMA))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


@pytest.fixture
def reader(reader_of: MakeReader) -> SharedStreamReader:
    return reader_of()


def add(client: redis.Redis, stream: str, *values: int) -> None:
    """Entries whose ids are their values: 1-0, 2-0, ..."""
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def advance(reader: SharedStreamReader, start: Json, rows: int = 1_000) -> Json:
    return reader.latestOffset(start, ReadMaxRows(rows))


def first_batch(reader: SharedStreamReader, rows: int = 1_000) -> tuple[Json, Json]:
    start = reader.initialOffset()
    return start, advance(reader, start, rows)


def values(reader: SharedStreamReader, start: Json, end: Json) -> list[int]:
    """What the tasks of a batch read."""
    return [
        i
        for partition in reader.partitions(start, end)
        for batch in pickle.loads(pickle.dumps(reader)).read(partition)
        for i in batch.column("i").to_pylist()
    ]


def rival_reads(client: redis.Redis, count: int, stream: str = "s", name: str = "rival") -> None:
    client.xreadgroup(GROUP, name, {stream: ">"}, count)


def leave(client: redis.Redis, *values: int, idle_ms: int = STALE_MS, name: str = "dead") -> None:
    """Let a consumer have these pending for so long already."""
    client.xclaim("s", GROUP, name, 0, [f"{i}-0" for i in values], idle=idle_ms, force=True)


def pending(client: redis.Redis, stream: str = "s") -> list[int]:
    entries = client.xpending_range(stream, GROUP, "-", "+", 1_000)
    return [int(entry["message_id"].split(b"-")[0]) for entry in entries]


def consumers(client: redis.Redis, stream: str = "s") -> list[bytes]:
    return [consumer["name"] for consumer in client.xinfo_consumers(stream, GROUP)]


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
def test_the_group_is_made_where_a_new_query_starts(
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


def test_a_group_that_is_there_is_not_moved(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
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


def test_a_stream_that_does_not_exist_is_waited_for(reader: SharedStreamReader) -> None:
    start, end = first_batch(reader)
    assert end == start


# ---------------------------------------------------------------------- batches


def test_a_batch_is_what_one_consumer_has_pending(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", *range(1, 8))
    start, end = first_batch(reader, rows=5)
    (consumer,) = client.xinfo_consumers("s", GROUP)
    assert consumer["name"].decode() == f"{end['member']}-1"
    assert end["member"].startswith("spark-")
    assert consumer["pending"] == end["claims"]["s"]["entries"] == 5
    assert values(reader, start, end) == [1, 2, 3, 4, 5]


def test_reading_counts_as_no_delivery(client: redis.Redis, reader: SharedStreamReader) -> None:
    add(client, "s", 1, 2)
    start, end = first_batch(reader)
    assert values(reader, start, end) == values(reader, start, end) == [1, 2]
    entries = client.xpending_range("s", GROUP, "-", "+", 9)
    assert [entry["times_delivered"] for entry in entries] == [1, 1]


def test_each_entry_is_read_by_one_only(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", *range(1, 10))
    one, other = reader_of(), reader_of()
    start, end = first_batch(one, rows=3)
    rival_reads(client, 2)
    assert values(other, *first_batch(other, rows=3)) == [6, 7, 8]
    assert values(one, start, end) == [1, 2, 3]
    assert values(one, end, advance(one, end)) == [9]


def test_queries_of_one_prefix_have_no_consumer_in_common(
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


def test_records_a_task_are_limited(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1, 2, 3, 4, 5)
    reader = reader_of(maxRecordsPerPartition="2")
    tasks = [partition.value.entries for partition in reader.partitions(*first_batch(reader))]
    assert tasks == [2, 2, 1]


def test_a_batch_that_is_only_of_other_sources_has_no_tasks(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1)
    _, end = first_batch(reader)
    assert reader.partitions(end, end) == []


def test_a_limit_is_shared_by_streams_as_much_as_waits(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 31))
    add(client, "t", *range(1, 11))
    reader = reader_of(subscribe="s,t")
    start, end = first_batch(reader, rows=8)
    assert {s: claim["entries"] for s, claim in end["claims"].items()} == {"s": 6, "t": 2}
    assert reader.reportLatestOffset()["lag"] == {"s": 24, "t": 8}
    assert sorted(values(reader, start, end)) == [1, 1, 2, 2, 3, 4, 5, 6]


def test_without_a_limit_all_is_claimed(client: redis.Redis, reader: SharedStreamReader) -> None:
    add(client, "s", *range(1, 8))
    start = reader.initialOffset()
    assert len(values(reader, start, reader.latestOffset(start, ReadAllAvailable()))) == 7


def test_the_default_limit_leaves_something_to_others(reader: SharedStreamReader) -> None:
    assert reader.getDefaultReadLimit() == ReadMaxRows(100_000)


def test_available_now_ends_where_the_streams_were(
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


def test_deleted_entries_leave_the_group_at_the_end_all_the_same(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """The server does not know then how many entries the group has read."""
    add(client, "s", *range(1, 8))
    client.xgroup_create("s", GROUP, "0-0")
    rival_reads(client, 2)
    client.xdel("s", "4-0", "6-0")
    start, end = first_batch(reader)
    assert values(reader, start, end) == [3, 5, 7]
    assert advance(reader, end) == end


def test_a_connection_that_is_lost_on_the_way_loses_no_claim(
    client: redis.Redis, reader: SharedStreamReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "PAGE_SIZE", 2)
    add(client, "s", *range(1, 10))
    answer, fail = Wire.answer, [False, True, False, True]

    def answer_or_not(self: Wire) -> bytes:
        found = answer(self)
        if fail and fail.pop(0):
            raise ConnectionError("gone")
        return found

    monkeypatch.setattr(Wire, "answer", answer_or_not)
    start, end = first_batch(reader, rows=8)
    assert values(reader, start, end) == list(range(1, 9))
    assert not fail


# ---------------------------------------------------------------------- acknowledging


def test_a_batch_is_acknowledged_when_the_next_is_asked_for(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """Spark asks when the batch is in its log of commits; its own word comes later, if at all."""
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
    """As by a request of a driver that was killed, which the server runs late."""
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
    """A clock that is set."""

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


# ---------------------------------------------------------------------- what is gone


def test_deleted_entries_are_no_rows_and_are_acknowledged_and_warned_of(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 6))
    start, end = first_batch(reader)
    client.xdel("s", "2-0", "5-0")
    assert values(reader, start, end) == [1, 3, 4]
    assert "2 of 5 entries that were claimed had been deleted" in caplog.text
    reader.commit(end)
    assert pending(client) == []


def test_entries_that_were_trimmed_before_anybody_got_them_are_warned_of_once(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 8))
    start, first = first_batch(reader, rows=2)
    assert values(reader, start, first) == [1, 2]
    client.xtrim("s", maxlen=2, approximate=False)
    second = advance(reader, first, 1)
    assert values(reader, first, second) == [6]
    assert values(reader, second, advance(reader, second)) == [7]
    assert caplog.text.count("3 entries were trimmed or deleted before group 'g' gave them") == 1


def test_a_stream_that_was_trimmed_to_nothing_is_warned_of_once(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    start = reader.initialOffset()
    client.xtrim("s", maxlen=0, approximate=False)
    assert advance(reader, start) == advance(reader, start) == start
    assert [record.getMessage() for record in caplog.records] == [
        "stream 's': 3 entries were trimmed or deleted before group 'g' gave them to anybody"
    ]


def test_entries_that_were_deleted_one_by_one_are_no_news_when_they_are_passed(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    """Redis 7.0 counts them neither as read nor as lost."""
    add(client, "s", *range(1, 8))
    start, first = first_batch(reader, rows=2)
    client.xdel("s", "3-0", "4-0")
    assert values(reader, start, first) == [1, 2]
    second = advance(reader, first)
    assert values(reader, first, second) == [5, 6, 7]
    client.xtrim("s", maxlen=0, approximate=False)
    assert advance(reader, second) == second
    assert not caplog.records


def test_entries_that_were_read_may_be_trimmed(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    start, first = first_batch(reader)
    assert values(reader, start, first) == [1, 2, 3]
    client.xtrim("s", maxlen=0, approximate=False)
    add(client, "s", 4)
    assert values(reader, first, advance(reader, first)) == [4]
    assert not caplog.records


def take_over(client: redis.Redis) -> None:
    leave(client, 2, 3, name="thief")


def acknowledge(client: redis.Redis) -> None:
    client.xack("s", GROUP, "2-0", "3-0")


@pytest.mark.parametrize("take", [take_over, acknowledge])
def test_a_batch_of_which_others_took_entries_fails_with_the_count_or_warns(
    client: redis.Redis,
    reader_of: MakeReader,
    caplog: pytest.LogCaptureFixture,
    take: Callable[[redis.Redis], None],
) -> None:
    add(client, "s", 1, 2, 3, 4)
    start, end = first_batch(reader_of())
    take(client)
    with pytest.raises(DataLossError, match=r"2 of 4 entries .* are not pending"):
        reader_of().partitions(start, end)
    lenient = reader_of(failOnDataLoss="false")
    assert values(lenient, start, end) == [1, 4]
    assert "2 of 4 entries" in caplog.text


def test_a_task_notices_too_what_was_taken_from_it(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1, 2, 3, 4)
    (task,) = reader.partitions(*first_batch(reader))
    take_over(client)
    with pytest.raises(DataLossError, match=r"2 of 4 entries .* are not pending"):
        list(reader.read(task))


def test_a_batch_whose_group_is_gone_is_lost_as_a_whole(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1, 2)
    start, end = first_batch(reader)
    client.xgroup_destroy("s", GROUP)
    with pytest.raises(DataLossError, match="2 of 2 entries"):
        reader.partitions(start, end)


def test_a_group_that_was_deleted_is_not_made_again(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """Made at its beginning it would give everything out again."""
    add(client, "s", 1, 2)
    _, end = first_batch(reader)
    client.xgroup_destroy("s", GROUP)
    with pytest.raises(CheckpointError, match="stream 's' has no group 'g' any more"):
        advance(reader, end)
    client.delete("s")
    assert advance(reader, end) == end
    client.xadd("s", {"i": 1})
    with pytest.raises(CheckpointError, match="XGROUP CREATE"):
        advance(reader, end)


def test_a_checkpoint_of_something_else_is_refused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    start = reader_of(group="other").initialOffset()
    with pytest.raises(CheckpointError, match=r"'group': 'other'.* this one reads .*'group': 'g'"):
        advance(reader_of(), start)
    with pytest.raises(CheckpointError, match="groupMode=shared"):
        advance(reader_of(), {"source": {"subscribe": ["s"]}, "streams": {}})


def test_a_key_that_is_no_stream_is_named(client: redis.Redis, reader: SharedStreamReader) -> None:
    client.set("s", "text")
    with pytest.raises(ServerError, match="stream 's': WRONGTYPE"):
        reader.initialOffset()
