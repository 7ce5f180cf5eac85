"""``badRows``: entries that do not fit the schema are dropped, or go to a stream exactly once."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.errors import SinkError, ValueMismatchError
from pyspark_penstock.read import bad_rows
from pyspark_penstock.read.bad_rows import DeadLetters
from pyspark_penstock.read.batch_reader import PenstockReader
from pyspark_penstock.read.columns import BadRow, Origin
from pyspark_penstock.read.source_options import batch_options, stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from pyspark_penstock.write.sink_options import sink_options
from tests.spark.engine import Checkpoint, Crash, Engine, Killed
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long", nullable=False).add("_id", "string")
NUMBER = StructType().add("i", "long", nullable=False)
TO_STREAM = {"badRows": "stream:bad", "startingOffsets": "earliest"}


Letters = Callable[[], DeadLetters]


def fill(client: redis.Redis, stream: str = "s") -> None:
    """Entries 1 to 6, of which 2 and 5 are bad: one is no number, one has no field."""
    for n in range(1, 7):
        fields = {2: {"x": "a", "i": "many"}, 5: {"j": "1"}}.get(n, {"i": n})
        client.xadd(stream, fields, id=f"{n}-0")  # type: ignore[arg-type]


def dead(client: redis.Redis) -> list[dict[bytes, bytes]]:
    return [fields for _, fields in xrange(client, "bad")]


def test_bad_rows_go_to_a_stream_with_error_and_origin(
    client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    reader = PenstockReader(batch_options(at | TO_STREAM | {"subscribe": "s"}), SCHEMA)
    (task,) = reader.partitions()
    rows = [row for batch in reader.read(task) for row in batch.to_pylist()]
    assert [row["i"] for row in rows] == [1, 3, 4, 6]
    assert dead(client) == [
        {
            b"x": b"a", b"i": b"many", b"_error": b"i=b'many' is not int64",
            b"_server": b"", b"_stream": b"s", b"_id": b"2-0",
        },
        {
            b"j": b"1", b"_error": b"i is NOT NULL, and there is no int64 for it",
            b"_server": b"", b"_stream": b"s", b"_id": b"5-0",
        },
    ]  # fmt: skip
    list(reader.read(task))  # as a task that is tried again
    assert len(dead(client)) == 2


@pytest.mark.parametrize("wanted", ["drop", "fail", "column"])
def test_what_else_bad_rows_can_become(
    client: redis.Redis, at: dict[str, str], wanted: str
) -> None:
    fill(client)
    client.xdel("s", "5-0")
    schema = StructType().add("i", "long").add("_corrupt_record", "string")
    options = batch_options(at | {"subscribe": "s", "badRows": wanted})
    reader = PenstockReader(options, schema if wanted == "column" else SCHEMA)
    (task,) = reader.partitions()
    if wanted == "fail":
        with pytest.raises(ValueMismatchError, match="entry 2-0"):
            list(reader.read(task))
        return
    rows = [row for batch in reader.read(task) for row in batch.to_pylist()]
    values = [row["i"] for row in rows]
    assert values == ([1, None, 3, 4, 6] if wanted == "column" else [1, 3, 4, 6])
    if wanted == "column":
        assert rows[1]["_corrupt_record"] == '{"x": "a", "i": "many"}'


def test_each_bad_row_is_written_once_whenever_the_query_is_killed(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after the transaction of the bad rows, and before that of the good ones."""
    source = stream_options(at | TO_STREAM | {"subscribe": "s,t", "maxOffsetsPerTrigger": "5"})
    sink = sink_options(at | {"stream": "out"})
    crash = Crash()
    original = DeadLetters.write

    def write(self: DeadLetters, rows: Any) -> None:
        crash("before the bad rows")
        original(self, rows)
        crash("after the bad rows")

    monkeypatch.setattr(DeadLetters, "write", write)
    while True:
        client.flushall()
        fill(client)
        fill(client, "t")
        checkpoint = Checkpoint()
        crash.steps = []
        try:
            Engine(checkpoint, source, NUMBER, sink, crash).run()
        except Killed:
            kill_at, crash.at = crash.at or 0, None
            Engine(checkpoint, source, NUMBER, sink, crash).run()
            crash.at = kill_at
        else:
            if crash.at is not None:
                break
            crash.at = 0
        found = sorted((fields[b"_stream"], fields[b"_id"]) for fields in dead(client))
        assert found == [(b"s", b"2-0"), (b"s", b"5-0"), (b"t", b"2-0"), (b"t", b"5-0")]
        assert client.xlen("out") == 8
        crash.at += 1


@pytest.fixture
def letters(at: dict[str, str]) -> Iterator[Letters]:
    """Makes writers of bad rows."""
    made: list[Links] = []
    options = batch_options(at | {"subscribe": "s"})

    def make() -> DeadLetters:
        made.append(Links(options.server, Preference.PRIMARY, "writing bad rows"))
        return DeadLetters(made[-1], "bad", "", "reader")

    yield make
    for links in made:
        links.close()


def bad(n: int, stream: str = "s", part: int = 0) -> BadRow:
    return BadRow(Origin(stream, 1, part), b"%d-0" % n, [b"i", b"x"], "bad")


def test_two_attempts_of_a_task_at_the_same_time_write_each_row_once(
    client: redis.Redis, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As speculative tasks: the second one writes between the look of the first and its EXEC."""
    first, second = letters(), letters()
    add = DeadLetters._add

    def interrupted(self: DeadLetters, row: BadRow) -> Any:
        if self is first and not client.exists("bad"):
            second.write([bad(1), bad(2)])
        return add(self, row)

    monkeypatch.setattr(DeadLetters, "_add", interrupted)
    first.write([bad(1), bad(2), bad(3)])
    assert [fields[b"_id"] for fields in dead(client)] == [b"1-0", b"2-0", b"3-0"]


def test_parts_and_streams_have_markers_of_their_own(client: redis.Redis, letters: Letters) -> None:
    writer = letters()
    writer.write([bad(9, part=1), bad(1), bad(5, "t")])
    writer.write([bad(1), bad(2), bad(5, "t"), bad(9, part=1)])
    found = [(fields[b"_stream"], fields[b"_id"]) for fields in dead(client)]
    assert found == [(b"s", b"9-0"), (b"s", b"1-0"), (b"t", b"5-0"), (b"s", b"2-0")]
    assert all(client.ttl(name) > 0 for name in client.scan_iter(match="{bad}:spark-bad:*"))


def test_many_bad_rows_are_written_in_portions(
    client: redis.Redis, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bad_rows, "MOST_ROWS", 3)
    client.config_resetstat()
    letters().write([bad(n) for n in range(1, 9)])
    assert len(dead(client)) == 8
    assert client.info("commandstats")["cmdstat_exec"]["calls"] == 3


def test_a_key_of_another_type_is_refused_before_anything_is_written(
    client: redis.Redis, letters: Letters
) -> None:
    client.set("bad", 1)
    with pytest.raises(SinkError, match="this key is no stream"):
        letters().write([bad(1)])
    assert client.keys() == [b"bad"]


def test_a_reader_with_dead_letters_can_be_sent_to_a_task(
    client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client)
    reader = PenstockStreamReader(stream_options(at | TO_STREAM | {"subscribe": "s"}), SCHEMA)
    start = reader.initialOffset()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    (task,) = pickle.loads(pickle.dumps(reader.partitions(start, end)))
    assert sum(b.num_rows for b in pickle.loads(pickle.dumps(reader)).read(task)) == 4
    reader.stop()
