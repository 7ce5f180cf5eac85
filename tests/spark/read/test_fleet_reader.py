"""Reading a fleet: several servers as one source, some of them absent; offsets by server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.errors import CheckpointError, ServerError
from pyspark_penstock.read import fleet_look, server_part
from pyspark_penstock.read.batch_reader import PenstockReader
from pyspark_penstock.read.offsets import FleetOffset
from pyspark_penstock.read.source_options import batch_options, stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from tests.compat.processes import ServerProcess, redis_tool
from tests.polling import until
from tests.ports import free_port

SCHEMA = StructType().add("i", "long").add("_stream", "string").add("_server", "string")
Json = dict[str, Any]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A second server."""
    process = ServerProcess([redis_tool("redis-server")], tmp_path_factory.mktemp("other"))
    yield process
    process.stop()


@pytest.fixture
def second(other: ServerProcess) -> Iterator[redis.Redis]:
    """A client of it; it is empty."""
    with redis.Redis(port=other.port) as client:
        client.flushall()
        yield client


@pytest.fixture
def places(at: dict[str, str], other: ServerProcess) -> tuple[str, str]:
    """The names of both."""
    return f"127.0.0.1:{at['port']}", f"127.0.0.1:{other.port}"


def reader_of(servers: str, **options: str) -> PenstockStreamReader:
    given = {"servers": servers, "subscribe": "s", "startingOffsets": "earliest"} | options
    return PenstockStreamReader(stream_options(given), SCHEMA)


def add(client: redis.Redis, *values: int, stream: str = "s") -> None:
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def advance(reader: PenstockStreamReader, start: Json, rows: int = 1_000_000) -> Json:
    """The next offset, as it comes back from a checkpoint."""
    end: Json = json.loads(json.dumps(reader.latestOffset(start, ReadMaxRows(rows))))
    return end


def rows(reader: PenstockStreamReader, start: Json, end: Json) -> list[tuple[str, str, int]]:
    """Server, stream and value of all rows of a batch."""
    return sorted(
        (row["_server"], row["_stream"], row["i"])
        for partition in reader.partitions(start, end)
        for batch in reader.read(partition)
        for row in batch.to_pylist()
    )


def test_servers_are_one_source_with_offsets_of_each(
    client: redis.Redis, second: redis.Redis, places: tuple[str, str]
) -> None:
    a, b = places
    add(client, 1, 2, 3)
    add(second, 7, 8)
    reader = reader_of(f"{a},{b},{a}")  # the same one twice is one
    start = reader.initialOffset()
    end = advance(reader, start)
    assert {s: p["streams"]["s"]["n"] for s, p in end["servers"].items()} == {a: 3, b: 2}
    wanted = [(a, "s", 1), (a, "s", 2), (a, "s", 3), (b, "s", 7), (b, "s", 8)]
    assert rows(reader, start, end) == sorted(wanted)
    assert advance(reader, end) == end
    reader.stop()


def test_a_limit_is_shared_among_the_streams_of_all_servers(
    client: redis.Redis, second: redis.Redis, places: tuple[str, str]
) -> None:
    a, b = places
    add(client, *range(1, 31))
    add(second, *range(1, 11))
    reader = reader_of(f"{a},{b}")
    end = advance(reader, reader.initialOffset(), 8)
    assert {s: p["streams"]["s"]["n"] for s, p in end["servers"].items()} == {a: 6, b: 2}
    reader.stop()


def test_an_absent_server_stays_where_it_is_and_the_others_go_on(
    client: redis.Redis, places: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    add(client, 1, 2)
    a, nobody = places[0], f"127.0.0.1:{free_port()}"
    options = {"failOnUnreachable": "false", "retryTimeout": "0ms"}
    reader = reader_of(f"{a},{nobody}", **options)
    start = reader.initialOffset()
    end = advance(reader, start)
    assert rows(reader, start, end) == [(a, "s", 1), (a, "s", 2)]
    assert end["servers"][nobody] == {"streams": {}}
    add(client, 3)
    again = advance(reader, end)
    assert rows(reader, end, again) == [(a, "s", 3)]
    warnings = [text for text in caplog.messages if "left out" in text]
    assert len(warnings) == 1
    assert nobody in warnings[0]
    reader.stop()
    strict = reader_of(f"{a},{nobody}", retryTimeout="0ms")
    with pytest.raises(ServerError, match=nobody):
        strict.initialOffset()
    strict.stop()


def test_a_server_that_is_added_is_read_from_its_beginning_and_one_that_is_removed_is_refused(
    client: redis.Redis,
    second: redis.Redis,
    places: tuple[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    a, b = places
    add(client, 1)
    add(second, 7)
    one = reader_of(a)
    end = advance(one, one.initialOffset())
    both = reader_of(f"{a},{b}")
    added = advance(both, end)
    assert rows(both, end, added) == [(b, "s", 7)]
    with pytest.raises(CheckpointError, match=f"'servers' lacks {b}"):
        advance(one, added)
    lenient = reader_of(a, failOnDataLoss="false")
    add(client, 2)
    last = advance(lenient, added)
    assert rows(lenient, added, last) == [(a, "s", 2)]
    assert last["servers"][b] == added["servers"][b]  # it goes on there if it comes back
    assert len(caplog.messages) == 1
    for reader in (one, both, lenient):
        reader.stop()


def test_a_server_whose_batches_take_long_to_plan_is_read_all_the_same(
    client: redis.Redis,
    second: redis.Redis,
    places: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was too late once is waited for the next time, or it would be too late each time."""
    monkeypatch.setattr(fleet_look, "GRACE_S", 0.1)
    monkeypatch.setattr(fleet_look, "FIRST_REST_S", 0.01)
    a, b = places
    add(client, 1)
    add(second, 7)
    reader = reader_of(f"{a},{b}", failOnUnreachable="false")
    slow = reader._parts[b]
    plan = slow.advance

    def plan_slowly(*shares: Any) -> Any:
        time.sleep(0.3)
        return plan(*shares)

    def all_answered() -> bool:
        return all(answer.done() for answer in reader._look._slow.values())

    monkeypatch.setattr(slow, "advance", plan_slowly)
    end, found = reader.initialOffset(), list[Any]()
    for _ in range(4):
        start, end = end, advance(reader, end)
        found += rows(reader, start, end)
        until(all_answered, "the late answer")
    assert sorted(found) == sorted([(a, "s", 1), (b, "s", 7)])
    reader.stop()


def test_a_server_that_is_slow_at_the_start_of_a_query_is_not_read_from_its_beginning(
    client: redis.Redis,
    second: redis.Redis,
    places: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fleet_look, "GRACE_S", 0.1)
    monkeypatch.setattr(fleet_look, "FIRST_REST_S", 0.01)
    a, b = places
    add(client, 1)
    add(second, 7)
    reader = reader_of(f"{a},{b}", failOnUnreachable="false", startingOffsets="latest")
    slow = reader._parts[b]
    starts, answered = slow.starts, threading.Event()

    def start_slowly(query: str) -> Any:
        time.sleep(0.5)
        found = starts(query)
        answered.set()
        return found

    monkeypatch.setattr(slow, "starts", start_slowly)
    start = reader.initialOffset()
    assert answered.wait(60)
    add(second, 8)
    assert rows(reader, start, advance(reader, start)) == [(b, "s", 8)]
    reader.stop()


def test_a_batch_needs_no_server_that_it_does_not_read(
    client: redis.Redis, places: tuple[str, str], tmp_path: Path
) -> None:
    """A query with a group that starts again while a server is away goes on with the others."""
    a = places[0]
    process = ServerProcess([redis_tool("redis-server")], tmp_path)
    b = f"127.0.0.1:{process.port}"
    options = {"failOnUnreachable": "false", "retryTimeout": "0ms", "group": "g"}
    try:
        with redis.Redis(port=process.port) as second:
            add(client, 1)
            add(second, 7)
        before = reader_of(f"{a},{b}", **options)
        end = advance(before, before.initialOffset())
        before.stop()
    finally:
        process.stop()
    add(client, 2)
    reader = reader_of(f"{a},{b}", **options)
    assert rows(reader, end, advance(reader, end)) == [(a, "s", 2)]
    reader.stop()


def test_a_server_that_appears_during_a_run_to_the_end_is_read_to_where_it_ended_then(
    client: redis.Redis,
    second: redis.Redis,
    places: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fleet_look, "FIRST_REST_S", 0.0)
    a, b = places
    add(client, 1)
    add(second, 7)
    reader = reader_of(f"{a},{b}", failOnUnreachable="false")
    start = reader.initialOffset()
    away = reader._parts[b]
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(away, "aim", lambda: (_ for _ in ()).throw(ServerError("it is away")))
        reader.prepareForTriggerAvailableNow()
    end = advance(reader, start)
    assert rows(reader, start, end) == sorted([(a, "s", 1), (b, "s", 7)])
    add(second, 8)
    assert advance(reader, end) == end
    reader.stop()


def test_a_batch_read_reads_all_servers(
    client: redis.Redis, second: redis.Redis, places: tuple[str, str]
) -> None:
    a, b = places
    add(client, 1)
    add(second, 7, 8)
    options = batch_options({"servers": f"{a},{b}", "subscribePattern": "s*"})
    reader = PenstockReader(options, SCHEMA)
    found = [
        (row["_server"], row["i"])
        for partition in reader.partitions()
        for batch in reader.read(partition)
        for row in batch.to_pylist()
    ]
    assert sorted(found) == sorted([(a, 1), (b, 7), (b, 8)])


# ---------------------------------------------------------------------- many streams


def test_many_small_streams_share_tasks_and_no_stream_is_asked_for_alone(
    client: redis.Redis, at: dict[str, str]
) -> None:
    pipeline = client.pipeline(transaction=False)
    for stream in range(1_000):
        pipeline.xadd(f"m:{stream}", {"i": stream}, id="1-0")
    pipeline.execute()
    given = at | {"subscribePattern": "m:*", "startingOffsets": "earliest"}
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    start = reader.initialOffset()
    connected = client.info("stats")["total_connections_received"]
    end = advance(reader, start)
    tasks = reader.partitions(start, end)
    assert len(tasks) == 1
    batches = list(reader.read(tasks[0]))
    assert [batch.num_rows for batch in batches] == [1_000]
    values = batches[0].to_pylist()
    assert sorted(row["i"] for row in values) == list(range(1_000))
    assert all(row["_stream"] == f"m:{row['i']}" for row in values)
    assert client.info("stats")["total_connections_received"] - connected < 10
    reader.stop()


def test_an_idle_look_at_many_streams_asks_for_few_of_them(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was deleted or trimmed is found when its turn comes."""
    monkeypatch.setattr(server_part, "MANY", 10)
    names = [f"m{stream:03}" for stream in range(50)]
    for name in names:
        add(client, 1, stream=name)
    given = at | {"subscribe": ",".join(names), "startingOffsets": "earliest"}
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    end = advance(reader, reader.initialOffset())
    client.config_resetstat()
    assert advance(reader, end) == end
    assert client.info("commandstats")["cmdstat_xinfo|stream"]["calls"] == 10
    add(client, 2, stream="m044")
    after = advance(reader, end)
    assert rows(reader, end, after) == [("", "m044", 2)]
    client.delete("m033")
    looks = 0
    with suppress(CheckpointError):
        while (looks := looks + 1) <= 5:
            assert advance(reader, after) == after
    assert looks <= 5  # each looks at ten of fifty
    reader.stop()


def test_streams_take_turns_if_the_limit_is_below_their_number(
    client: redis.Redis, at: dict[str, str]
) -> None:
    names = [f"m{stream}" for stream in range(5)]
    for name in names:
        add(client, 1, 2, stream=name)
    given = at | {"subscribe": ",".join(names), "startingOffsets": "earliest"}
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    offset, found = reader.initialOffset(), []
    while (end := advance(reader, offset, 2)) != offset:
        found.append([stream for _, stream, _ in rows(reader, offset, end)])
        offset = end
    assert found == [["m0", "m1"], ["m2", "m3"], ["m0", "m4"], ["m1", "m2"], ["m3", "m4"]]
    reader.stop()


def test_the_fleet_offset_of_a_batch_says_how_its_tasks_are_filled(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """So that a replay has the same tasks, whatever the options are by then."""
    for name in ("x", "y"):
        add(client, 1, stream=name)
    given = at | {"subscribe": "x,y", "startingOffsets": "earliest"}
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    start = reader.initialOffset()
    end = advance(reader, start)
    assert FleetOffset.from_json(end).fill > 0
    other = PenstockStreamReader(stream_options(given | {"maxRecordsPerPartition": "1"}), SCHEMA)
    assert [t.value for t in other.partitions(start, end)] == [
        t.value for t in reader.partitions(start, end)
    ]
    reader.stop()
    other.stop()
