"""Atomic delivery: tasks stage rows, and the driver writes all of them at once or none."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.entry_id import LARGEST_PART
from pyspark_penstock.errors import SinkError
from pyspark_penstock.write import atomic
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import SinkOptions, sink_options
from pyspark_penstock.write.writer import EntriesWritten, give_up, publish, write_rows
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long")
WITH_IDS = StructType().add("i", "long").add("_id", "string")


def options(at: dict[str, str], **more: str) -> SinkOptions:
    return sink_options(at | {"delivery": "atomic", "stream": "s"} | more)


def stage(sink: SinkOptions, partition: int, *values: int, batch: int = 5) -> EntriesWritten:
    rows = pa.RecordBatch.from_pydict({"i": values}, pa.schema([("i", pa.int64())]))
    return write_rows(iter([rows]), RowEncoder(SCHEMA, sink), sink, Task("q", batch, partition))


def stage_ids(sink: SinkOptions, partition: int, ids: dict[str, int]) -> EntriesWritten:
    rows = pa.RecordBatch.from_pydict({"i": list(ids.values()), "_id": list(ids)})
    return write_rows(iter([rows]), RowEncoder(WITH_IDS, sink), sink, Task("q", 5, partition))


def written(client: redis.Redis) -> list[int]:
    return [int(fields[b"i"]) for _, fields in xrange(client, "s")]


def staged(client: redis.Redis) -> list[bytes]:
    keys: Any = client.keys("{s}:spark:q:5:*")
    return list(keys)


def test_no_row_is_visible_before_all_are(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "PIECE_ROWS", 2)
    sink = options(at)
    messages: list[Any] = [stage(sink, 0, 1, 2, 3), stage(sink, 1, 4, 5)]
    assert (client.exists("s"), len(staged(client))) == (0, 3)
    assert all(0 < int(client.ttl(key)) <= 86_400 for key in staged(client))
    publish(messages, sink)
    assert written(client) == [1, 2, 3, 4, 5]
    assert staged(client) == []


def test_staged_pieces_are_limited_in_size_except_for_one_large_row(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "PIECE_BYTES", 100)
    long = pa.RecordBatch.from_pydict({"t": ["a", "b", "c" * 200, "d", "e"]})
    sink = options(at)
    encoder = RowEncoder(StructType().add("t", "string"), sink)
    messages: list[Any] = [write_rows(iter([long]), encoder, sink, Task("q", 5, 0))]
    sizes = sorted(client.strlen(key) for key in staged(client))
    assert sizes[:-1] == [84, 84]  # two rows each: three would be more than 100 bytes
    assert 200 < sizes[-1] < 300
    publish(messages, sink)
    assert [fields[b"t"] for _, fields in xrange(client, "s")] == [
        b"a",
        b"b",
        b"c" * 200,
        b"d",
        b"e",
    ]


def test_a_batch_is_published_once_and_its_staged_rows_are_deleted(
    client: redis.Redis, at: dict[str, str]
) -> None:
    sink = options(at)
    publish([stage(sink, 0, 1)], sink)
    publish([stage(sink, 0, 1)], sink)
    publish([stage(sink, 0, 0, batch=4)], sink)
    assert (written(client), staged(client)) == ([1], [])
    publish([stage(sink, 0, 2, batch=6)], sink)
    assert written(client) == [1, 2]


def test_a_new_checkpoint_with_a_used_name_gives_a_warning(
    client: redis.Redis, at: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    sink = options(at)
    publish([stage(sink, 0, 1, batch=7)], sink)
    publish([stage(sink, 0, 1, batch=7)], sink)
    assert not caplog.records
    publish([stage(sink, 0, 2, 3, batch=0)], sink)
    assert "2 rows of batch 0 were left out, for it says that batch 7 was written" in caplog.text


def test_a_lost_reply_duplicates_no_row(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = options(at)
    messages: list[Any] = [stage(sink, 0, 1, 2)]
    original = Connection.answers
    lost: list[bytes] = []

    def answers(self: Connection) -> bytes:
        answer = original(self)
        if not lost:
            lost.append(answer)
            raise ConnectionResetError("cut")
        return answer

    monkeypatch.setattr(Connection, "answers", answers)
    publish(messages, sink)
    assert lost
    assert written(client) == [1, 2]


def test_a_missing_staged_piece_is_an_error_and_nothing_is_written(
    client: redis.Redis, at: dict[str, str]
) -> None:
    sink = options(at)
    messages: list[Any] = [stage(sink, 0, 1), stage(sink, 1, 2)]
    client.delete(messages[1].staged[0].name)
    with pytest.raises(SinkError, match="is gone, which batch 5 had put there"):
        publish(messages, sink)
    assert client.exists("s") == 0


def test_rows_staged_by_a_failed_attempt_are_deleted(
    client: redis.Redis, at: dict[str, str]
) -> None:
    sink = options(at)
    give_up([stage(sink, 0, 1), None], sink)
    assert staged(client) == []
    assert client.exists("s") == 0


def test_a_failed_task_leaves_nothing_staged(client: redis.Redis, at: dict[str, str]) -> None:
    sink = options(at)
    good = pa.RecordBatch.from_pydict({"i": [1]}, pa.schema([("i", pa.int64())]))
    bad = pa.RecordBatch.from_pydict({"i": [None]}, pa.schema([("i", pa.int64())]))
    with pytest.raises(SinkError, match="no field that is not null"):
        write_rows(iter([good, bad]), RowEncoder(SCHEMA, sink), sink, Task("q", 5, 0))
    assert staged(client) == []


def test_giving_up_raises_nothing_if_the_server_is_gone(
    client: redis.Redis, at: dict[str, str]
) -> None:
    message = stage(options(at), 0, 1)
    give_up([message], options({"port": "1"}))


def test_more_rows_than_max_transaction_rows_are_refused(
    client: redis.Redis, at: dict[str, str]
) -> None:
    sink = options(at, maxTransactionRows="3")
    with pytest.raises(SinkError, match="batch 5, partition 0 has more rows than maxTransact"):
        stage(sink, 0, 1, 2, 3, 4)
    assert staged(client) == []
    messages: list[Any] = [stage(sink, 0, 1, 2), stage(sink, 1, 3, 4)]
    with pytest.raises(SinkError, match="batch 5 has more rows than maxTransactionRows"):
        publish(messages, sink)
    assert client.exists("s") == 0


def test_given_ids_are_kept_and_must_ascend_over_all_tasks(
    client: redis.Redis, at: dict[str, str]
) -> None:
    sink = options(at)
    first, second = stage_ids(sink, 0, {"1-1": 1, "2-0": 2}), stage_ids(sink, 1, {"3-7": 3})
    with pytest.raises(SinkError, match="a row's id 1-1 is not after 3-7"):
        publish([second, first], sink)
    assert client.exists("s") == 0
    publish([first, second], sink)
    assert [entry for entry, _ in xrange(client, "s")] == [b"1-1", b"2-0", b"3-7"]


def test_a_failure_inside_exec_is_remembered(client: redis.Redis, at: dict[str, str]) -> None:
    client.xadd("s", {"i": 0}, id=f"{LARGEST_PART}-{LARGEST_PART}")
    sink = options(at)
    for _ in range(2):
        with pytest.raises(SinkError, match=r"exhausted|the server refused some rows of batch 5"):
            publish([stage(sink, 0, 1)], sink)
    client.delete("s")
    with pytest.raises(SinkError, match=r"some rows of batch 5 .*'\{s\}:spark:q:all'"):
        publish([stage(sink, 0, 1)], sink)
