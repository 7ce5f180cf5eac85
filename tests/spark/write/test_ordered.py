"""Ordered delivery: ids are computed from batch and row, and a stream has one writer."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.marker import DONE, Marker
from pyspark_penstock.write.ordered import RowIds, WriterMarkerKey
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.writer import publish, write_rows
from tests.spark.stored import xrange

SCHEMA = StructType().add("_stream", "string").add("i", "long")
WRITER = "{s}:spark:writer"
Row = tuple[str, int]


def batches(*rows: Row) -> Iterator[pa.RecordBatch]:
    """The rows in two Arrow batches."""
    for part in (rows[:2], rows[2:]):
        columns = {"_stream": [row[0] for row in part], "i": [row[1] for row in part]}
        yield pa.RecordBatch.from_pydict(
            columns, pa.schema([("_stream", pa.string()), ("i", pa.int64())])
        )


def write(at: dict[str, str], task: Task, *rows: Row, **more: str) -> None:
    options = sink_options(at | {"delivery": "ordered"} | more)
    write_rows(batches(*rows), RowEncoder(SCHEMA, options), options, task)


def entries(client: redis.Redis, stream: str = "s") -> list[tuple[bytes, int]]:
    return [(entry, int(fields[b"i"])) for entry, fields in xrange(client, stream)]


def test_an_id_is_the_batch_and_the_row_number_in_its_stream(
    client: redis.Redis, at: dict[str, str]
) -> None:
    write(at, Task("q", 0, 0), ("s", 1), ("t", 2), ("s", 3), ("s", 4))
    write(at, Task("q", 1, 3), ("s", 5))
    assert entries(client) == [(b"1-0", 1), (b"1-1", 3), (b"1-2", 4), (b"2-0", 5)]
    assert entries(client, "t") == [(b"1-0", 2)]


def test_a_replay_writes_nothing_even_if_the_entries_were_trimmed(
    client: redis.Redis, at: dict[str, str]
) -> None:
    rows = [("s", 1), ("s", 2), ("s", 3)]
    write(at, Task("q", 0, 0), *rows)
    client.xtrim("s", maxlen=0)
    write(at, Task("q", 0, 0), *rows)
    assert entries(client) == []
    assert client.ttl(WRITER) == -1


def test_two_tasks_of_a_batch_that_write_one_stream_are_refused(
    client: redis.Redis, at: dict[str, str]
) -> None:
    write(at, Task("q", 7, 0), ("s", 1))
    with pytest.raises(SinkError, match=r"two partitions of batch 7 .* one is 2; .* repartition"):
        write(at, Task("q", 7, 2), ("s", 2))
    assert entries(client) == [(b"8-0", 1)]


def test_a_replay_can_have_another_partition_number(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """Spark can number the partitions of a replay differently."""
    write(at, Task("q", 7, 0), ("s", 1))
    write(at, Task("q", 7, 2), ("s", 1))
    assert entries(client) == [(b"8-0", 1)]


def test_other_rows_on_replay_are_left_out_with_a_warning(
    client: redis.Redis, at: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """As in a query with rand(). The batch is written once, and the query continues."""
    write(at, Task("q", 7, 0), ("s", 1))
    write(at, Task("q", 7, 0), ("s", 2))
    assert entries(client) == [(b"8-0", 1)]
    assert "1 rows of batch 7, partition 0 were left out" in caplog.messages[0]


def test_two_tasks_with_equal_rows_are_refused_when_the_batch_ends(
    client: redis.Redis, at: dict[str, str]
) -> None:
    options = sink_options(at | {"delivery": "ordered"})
    encoder = RowEncoder(SCHEMA, options)
    written = [
        write_rows(batches(("s", 1)), encoder, options, Task("q", 7, partition))
        for partition in range(2)
    ]
    with pytest.raises(SinkError, match="two partitions of batch 7 have rows"):
        publish([*written], options)


def test_another_query_is_refused(client: redis.Redis, at: dict[str, str]) -> None:
    write(at, Task("q", 7, 0), ("s", 1))
    with pytest.raises(SinkError, match="'q' writes this stream"):
        write(at, Task("r", 0, 0), ("s", 2))
    assert entries(client) == [(b"8-0", 1)]


def test_a_stream_with_entries_of_others_is_refused(
    client: redis.Redis, at: dict[str, str]
) -> None:
    client.xadd("s", {"i": 0})
    with pytest.raises(SinkError, match=r"a row's id 1-0 is not after .* begins empty and has no"):
        write(at, Task("q", 0, 0), ("s", 1))
    assert len(entries(client)) == 1


def test_an_entry_added_by_another_between_two_batches_is_noticed(
    client: redis.Redis, at: dict[str, str]
) -> None:
    write(at, Task("q", 0, 0), ("s", 1))
    client.xadd("s", {"i": 0})
    with pytest.raises(SinkError, match="a row's id 2-0 is not after"):
        write(at, Task("q", 1, 0), ("s", 2))


def test_rows_with_ids_of_their_own_are_refused(at: dict[str, str]) -> None:
    options = sink_options(at | {"delivery": "ordered", "stream": "s"})
    with pytest.raises(OptionError, match="drop the column _id"):
        RowEncoder(StructType().add("_id", "string").add("i", "long"), options)


def test_rows_are_counted_for_each_stream() -> None:
    ids = RowIds(4)
    assert ids.take("", "s", 2).to_pylist() == ["5-0", "5-1"]
    assert ids.take("", "t", 1).to_pylist() == ["5-0"]
    assert ids.take("", "s", 1).to_pylist() == ["5-2"]


def test_a_marker_with_a_writer_is_decoded_from_its_encoding() -> None:
    marker_key = WriterMarkerKey("s", Task("a query", 7, 3))
    marker = Marker(7, 100, 0xDEADBEEF, DONE)
    assert marker_key.decode(marker_key.encode(marker)) == marker


@pytest.mark.parametrize("text", [b"", b"7 1 0 done", b"7 1 0 lost 0 q", b"7 1 0 done x q"])
def test_a_key_that_is_not_a_marker_is_named(text: bytes) -> None:
    with pytest.raises(SinkError, match=r"'\{s\}:spark:writer' holds .*, not a marker"):
        WriterMarkerKey("s", Task("q", 7, 0)).decode(text)
