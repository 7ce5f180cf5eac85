"""The sums of a sink: in the messages of its tasks, told at the commit, kept for ``status``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.cli.main import main
from pyspark_penstock.collector import Batch
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.figures import (
    BYTES_WRITTEN,
    OTHERS,
    ROWS_REPEATED,
    ROWS_WRITTEN,
    WRITE_MS,
    WRITE_RETRIES,
    Sums,
)
from pyspark_penstock.write import batch_sums
from pyspark_penstock.write.batch_sums import FILE, SinkSums
from pyspark_penstock.write.deliveries import Deliveries
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import AT_LEAST_ONCE, DELIVERIES, SinkOptions, sink_options
from pyspark_penstock.write.writer import (
    EntriesWritten,
    PenstockStreamWriter,
    PenstockWriter,
    write_rows,
)
from tests.spark.jobs.test_checkpoint import checkpoint
from tests.spark.marks import ONE_SERVER

pytestmark = ONE_SERVER  # what is counted is counted here, not by the server
SCHEMA = StructType().add("i", "long").add("_stream", "string")
Row = tuple[int, str]


def write(options: SinkOptions, *rows: Row, batch: int = 5, partition: int = 0) -> EntriesWritten:
    """Write the rows, as a task does."""
    columns = {"i": [i for i, _ in rows], "_stream": [stream for _, stream in rows]}
    made = pa.RecordBatch.from_pydict(columns)
    return write_rows(
        iter([made]), RowEncoder(SCHEMA, options), options, Task("q", batch, partition)
    )


class Told:
    """A collector that keeps what it is told."""

    def __init__(self) -> None:
        self.told: dict[Batch, Sums] = {}

    def add(self, told: Any) -> None:
        self.told |= told


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_a_message_has_rows_and_bytes_by_stream(
    client: redis.Redis, at: dict[str, str], delivery: str
) -> None:
    message = write(sink_options(at | {"delivery": delivery}), (1, "a"), (2, "b"), (3, "a"))
    sums = message.sums
    assert (sums.of(("", "a"), ROWS_WRITTEN), sums.of(("", "b"), ROWS_WRITTEN)) == (2, 1)
    assert sums.of(("", "a"), BYTES_WRITTEN) > 2 * len(b"*5\r\n$4\r\nXADD\r\n$1\r\na\r\n$1\r\n*")
    assert sums.of(("", OTHERS), WRITE_MS) > 0
    assert sums.total(ROWS_REPEATED) == sums.total(WRITE_RETRIES) == 0


def test_rows_of_an_attempt_before_are_repeated(client: redis.Redis, at: dict[str, str]) -> None:
    options = sink_options(at)
    write(options, (1, "a"), (2, "b"))
    again = write(options, (1, "a"), (2, "b")).sums
    assert again.of(("", "a"), ROWS_REPEATED) == 1
    assert again.total(ROWS_WRITTEN) == again.total(ROWS_REPEATED) == 2
    assert client.xlen("a") == 1


def test_rows_that_an_attempt_had_written_in_part_are_repeated(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = sink_options(at | {"maxTransactionRows": "2"})
    rows = [(i, "a") for i in range(5)]
    monkeypatch.setattr(Deliveries, "finish", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(options, *rows)
    monkeypatch.undo()
    assert client.xlen("a") == 4
    assert write(options, *rows).sums.of(("", "a"), ROWS_REPEATED) == 4
    assert client.xlen("a") == 5


def test_lost_connections_are_counted(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: Callable[[Connection], bytes] = Connection.answers
    left = [2]

    def lost_twice(self: Connection) -> bytes:
        if left[0]:
            left[0] -= 1
            raise ConnectionResetError("lost")
        return answers(self)

    monkeypatch.setattr(Connection, "answers", lost_twice)
    sums = write(sink_options(at | {"stream": "s", "delivery": AT_LEAST_ONCE}), (1, "a")).sums
    assert sums.of(("", "s"), WRITE_RETRIES) == 2
    left[0] = 1  # the marker tells that the transaction was executed
    sums = write(sink_options(at | {"stream": "t"}), (1, "a")).sums
    assert (sums.of(("", "t"), WRITE_RETRIES), sums.total(ROWS_REPEATED)) == (1, 0)
    assert (client.xlen("s"), client.xlen("t")) == (3, 1)


def test_a_commit_tells_the_sums_of_the_query_and_keeps_them_for_status(
    client: redis.Redis, at: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkpoint(tmp_path, planned=5, committed=5)
    options = sink_options(at | {"checkpointLocation": f"file://{folder}"})
    told = Told()
    sink = PenstockStreamWriter(options, SCHEMA, told)
    for batch in (4, 5, 5):  # the last one is committed again after a crash
        messages: list[Any] = [
            write(options, (1, "a"), (2, "b"), batch=batch), None,
            write(options, (3, "b"), batch=batch, partition=1),
        ]  # fmt: skip
        for message in messages[::2]:
            message.query = "id"
        sink.commit(messages, batch)
    assert {batch: sums.total(ROWS_WRITTEN) for batch, sums in told.told.items()} == {
        ("id", 4): 3, ("id", 5): 3,
    }  # fmt: skip
    assert told.told["id", 5].total(ROWS_REPEATED) == 3
    kept = SinkSums.parse((tmp_path / FILE).read_text())
    assert (kept.batch, kept.streams) == (5, 2)
    assert (kept.last[ROWS_WRITTEN], kept.all[ROWS_WRITTEN]) == (3, 6)
    assert [path.name for path in tmp_path.iterdir() if "sink" in path.name] == [FILE]
    assert main(["status", folder, "--server", "127.0.0.1:1"]) == 0
    printed = capsys.readouterr().out
    assert "batch 5 has written 3 rows, " in printed
    assert "all batches have written 6 rows, " in printed
    assert " to 2 streams\n" in printed
    assert main(["status", folder, "--json", "--server", "127.0.0.1:1"]) == 0
    assert json.loads(capsys.readouterr().out)["sink"]["all"]["rows_written"] == 6


@pytest.mark.parametrize("place", ["", "hdfs://host/checkpoint"])
def test_without_a_folder_of_this_machine_nothing_is_kept(
    at: dict[str, str], client: redis.Redis, place: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    batch_sums.keep(place, 5, [write(sink_options(at), (1, "a"))])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["", "[]", '{"batch": 1}', '{"batch": 1, "streams": 1, "last": 3}']
)
def test_a_damaged_file_is_warned_of_and_does_not_fail_the_batch(
    client: redis.Redis, at: dict[str, str], tmp_path: Path, text: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    (tmp_path / FILE).write_text(text)
    batch_sums.keep(str(tmp_path), 5, [write(sink_options(at), (1, "a"))])
    assert "status will not know what batch 5 has written" in caplog.text
    with pytest.raises(CheckpointError, match=f"{FILE} is damaged"):
        SinkSums.parse(text)


def test_a_folder_that_cannot_be_written_does_not_fail_the_batch(
    client: redis.Redis, at: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    batch_sums.keep(str(tmp_path / "missing"), 5, [write(sink_options(at), (1, "a"))])
    assert "status will not know what batch 5 has written" in caplog.text


def test_a_batch_write_logs_what_was_written(
    client: redis.Redis, at: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Once for all tasks; a lost task has no message."""
    options = sink_options(at)
    messages = [write(options, (1, "a"), (2, "b")), write(options, (3, "a"), partition=1), None]
    again = write(options, (3, "a"), partition=1)
    caplog.set_level("INFO", "pyspark_penstock")
    writer = PenstockWriter(options, SCHEMA)
    writer.commit([*messages, again])
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("written: 4 rows, ")
    assert line.endswith("bytes, 2 streams; 1 of the rows were there already; 0 retries")
