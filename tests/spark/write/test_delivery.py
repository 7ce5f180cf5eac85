"""Delivery: lost connections, concurrent attempts, and rows with ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection, command
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.line import Line
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.entry_id import LARGEST_PART
from pyspark_penstock.errors import SinkError
from pyspark_penstock.write import deliveries, writer
from pyspark_penstock.write import exactly_once as exactly_once_module
from pyspark_penstock.write.delivery import AtLeastOnce, Task
from pyspark_penstock.write.exactly_once import ExactlyOnce
from pyspark_penstock.write.marker import DONE, FAILED, PART, Marker, MarkerKey, marker_name
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.transaction import PartialSinkError, Transaction
from pyspark_penstock.write.xadd_commands import Commands
from tests.spark.stored import xrange

TASK = Task("q", 5, 0)
MARKER = "{s}:spark:q:0"


def line_to(at: dict[str, str]) -> Line:
    return Line(Links(Server.from_environment(at), Preference.PRIMARY, "a test"))


@pytest.fixture
def line(at: dict[str, str]) -> Iterable[Line]:
    line = line_to(at)
    yield line
    line.drop()


@pytest.fixture(params=[False, True], ids=["late", "early"])
def early(request: pytest.FixtureRequest) -> bool:
    """Whether rows are sent before there are enough for a transaction."""
    return bool(request.param)


def rows(*values: int, ids: list[str | None] | None = None) -> Commands:
    commands = [
        command("XADD", "s", "*" if ids is None or ids[i] is None else str(ids[i]), "i", value)
        for i, value in enumerate(values)
    ]
    given = None if ids is None else pa.array(ids, pa.string())
    return Commands("s", pa.array(commands, pa.binary()), given)


def exactly_once(
    line: Line, task: Task = TASK, most_rows: int = 100, early: bool = False
) -> ExactlyOnce:
    marker_key = MarkerKey(marker_name("s", task.query, task.partition), task)
    return ExactlyOnce(line, "s", marker_key, most_rows, early)


def deliver(
    line: Line,
    *commands: Commands,
    task: Task = TASK,
    most_rows: int = 100,
    early: bool = False,
) -> None:
    delivery = exactly_once(line, task, most_rows, early)
    for each in commands:
        delivery.send(each)
    delivery.finish()


def value_of(client: redis.Redis) -> bytes | None:
    """The value of the marker's key."""
    value: Any = client.get(MARKER)
    return None if value is None else bytes(value)


def written(client: redis.Redis) -> list[int]:
    return [int(fields[b"i"]) for _, fields in xrange(client, "s")]


def break_once(monkeypatch: pytest.MonkeyPatch, sent: bool) -> None:
    """Lose the connection once: before the request is sent, or after its reply has come."""
    name = "answers" if sent else "post"
    original = getattr(Connection, name)
    broken: list[Connection] = []

    def cut(self: Connection, *request: bytes) -> object:
        if broken:
            return original(self, *request)
        broken.append(self)
        if sent:
            original(self)
        raise ConnectionResetError("cut")

    monkeypatch.setattr(Connection, name, cut)


@pytest.mark.parametrize("sent", [False, True], ids=["before", "after"])
def test_a_lost_connection_duplicates_no_row(
    client: redis.Redis, line: Line, monkeypatch: pytest.MonkeyPatch, sent: bool, early: bool
) -> None:
    break_once(monkeypatch, sent)
    deliver(line, rows(1, 2, 3), rows(4, 5), most_rows=2, early=early)
    assert written(client) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("sent", "expected"), [(False, [1, 2]), (True, [1, 2, 1, 2])])
def test_at_least_once_resends_unanswered_rows(
    client: redis.Redis,
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    sent: bool,
    expected: list[int],
) -> None:
    break_once(monkeypatch, sent)
    AtLeastOnce(line).send(rows(1, 2))
    assert written(client) == expected


def test_rows_are_written_in_transactions_of_the_given_size(
    client: redis.Redis, line: Line
) -> None:
    delivery = exactly_once(line, most_rows=3)
    delivery.send(rows(1, 2))
    assert written(client) == []
    delivery.send(rows(3, 4, 5, 6, 7))
    assert written(client) == [1, 2, 3, 4, 5, 6]
    marker = Marker.decode(MARKER, value_of(client))
    assert (marker.batch, marker.rows, marker.state) == (5, 6, PART)
    delivery.finish()
    assert written(client) == [1, 2, 3, 4, 5, 6, 7]
    assert Marker.decode(MARKER, value_of(client))[1] == 7
    assert 600_000 < int(client.ttl(MARKER)) <= 604_800


def test_a_done_batch_and_older_ones_are_not_written_again(client: redis.Redis, line: Line) -> None:
    deliver(line, rows(1))
    deliver(line, rows(1))
    deliver(line, rows(2), task=Task("q", 4, 0))
    assert written(client) == [1]
    deliver(line, rows(3), task=Task("q", 6, 0))
    deliver(line, rows(4), task=Task("q", 5, 1))
    deliver(line, rows(5), task=Task("r", 5, 0))
    assert written(client) == [1, 3, 4, 5]


def test_a_replay_with_other_rows_gives_a_warning(
    client: redis.Redis, line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    deliver(line, rows(1, 2))
    deliver(line, rows(1), rows(2))
    assert caplog.messages == []
    deliver(line, rows(3, 4))
    assert "2 rows of batch 5, partition 0 were left out" in caplog.messages[0]
    assert written(client) == [1, 2]


def test_a_transaction_ends_early_if_it_has_many_bytes(
    client: redis.Redis, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exactly_once_module, "MOST_BYTES", 2 * len(rows(1).data))
    delivery = exactly_once(line)
    delivery.send(rows(1, 2, 3, 4, 5))
    assert written(client) == [1, 2, 3, 4]
    delivery.finish()
    assert written(client) == [1, 2, 3, 4, 5]


def test_many_streams_buffer_no_more_bytes_than_one(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_BYTES", 100)  # two rows have less, three have more
    sink = sink_options(at)
    encoder = RowEncoder(StructType().add("i", "long").add("_stream", "string"), sink)
    seen: list[int] = []

    def batches() -> Iterator[Any]:
        for i in range(8):
            yield pa.RecordBatch.from_pydict({"i": [i], "_stream": [f"s{i % 4}"]})
            seen.append(sum(client.xlen(f"s{n}") for n in range(4)))

    writer.write_rows(batches(), encoder, sink, TASK)
    assert max(i + 1 - done for i, done in enumerate(seen)) == 2  # rows that were buffered
    written = {n: [int(f[b"i"]) for _, f in xrange(client, f"s{n}")] for n in range(4)}
    assert written == {n: [n, n + 4] for n in range(4)}
    states = [client.get(f"{{s{n}}}:spark:q:0").split()[1::2] for n in range(4)]  # type: ignore[union-attr]
    assert states == [[b"2", b"done"]] * 4


def test_constant_changes_by_others_are_an_error(
    client: redis.Redis, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream is watched while rows with ids are written."""
    end = Transaction.end

    def disturbed(self: Transaction) -> bool:
        client.xadd("s", {"i": 0}, id="1-*")
        return end(self)

    monkeypatch.setattr(Transaction, "end", disturbed)
    with pytest.raises(SinkError, match="others changed it during every try"):
        deliver(line, rows(1, ids=["5-1"]))
    assert set(written(client)) == {0}


def test_an_expired_marker_is_not_taken_for_another_attempt(
    client: redis.Redis, line: Line
) -> None:
    deliver(line, rows(1), task=Task("q", 4, 0))
    delivery = exactly_once(line)
    client.delete(MARKER)
    delivery.send(rows(2))
    delivery.finish()
    assert written(client) == [1, 2]


def test_two_concurrent_attempts_write_once(
    client: redis.Redis, line: Line, at: dict[str, str], early: bool
) -> None:
    """Speculative execution starts two attempts, of which one is faster."""
    slow = exactly_once(line, early=early)
    slow.send(rows(1, 2))
    other = line_to(at)
    deliver(other, rows(1, 2))
    other.drop()
    slow.finish()
    assert written(client) == [1, 2]


def test_an_attempt_overtaken_by_another_fails(
    client: redis.Redis, line: Line, at: dict[str, str], early: bool
) -> None:
    slow = exactly_once(line, most_rows=2, early=early)
    slow.send(rows(1))
    other = line_to(at)
    faster = exactly_once(other, most_rows=2)
    faster.send(rows(1, 2, 3, 4))
    with pytest.raises(SinkError, match="another attempt of batch 5, partition 0"):
        slow.send(rows(2, 3, 4))
    faster.finish()
    other.drop()
    assert written(client) == [1, 2, 3, 4]


def test_rows_with_ids_keep_them(client: redis.Redis, line: Line, early: bool) -> None:
    first, second = rows(1, 2, ids=["5-1", "5-2"]), rows(3, 4, ids=["7-0", "9-1"])
    deliver(line, first, second, most_rows=3, early=early)
    assert [entry for entry, _ in xrange(client, "s")] == [b"5-1", b"5-2", b"7-0", b"9-1"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["5-2", "5-1"], r"stream 's': ids must ascend: 5-1 comes after 5-2; .*coalesce\(1\)"),
        (["5-1", "5-1"], "ids must ascend"),
        (["5-1", None], "stream 's': either all rows have an id or none"),
        (["3-9", "5-1"], "a row's id 3-9 is not after 4-0"),
        (["7", "8-1"], "stream 's': '7' is no id; an id column must hold ids"),
        (["x-1", "8-1"], "'x-1' is no id"),
        (["5-1", "0x10-1"], "'0x10-1' is no id"),
        (["5-1", "99999999999999999999-1"], "'99999999999999999999-1' is no id"),
    ],
    ids=str,
)
def test_ids_that_the_stream_would_refuse_are_refused_before_any_write(
    client: redis.Redis, line: Line, ids: list[str | None], message: str, early: bool
) -> None:
    client.xadd("s", {"i": 0}, id="4-0")
    with pytest.raises(SinkError, match=message):
        deliver(line, rows(1, 2, ids=ids), early=early)
    assert written(client) == [0]
    assert client.get(MARKER) is None


@pytest.mark.parametrize("given", [0, 1])
def test_all_rows_of_a_transaction_have_ids_or_none(
    client: redis.Redis, line: Line, early: bool, given: int
) -> None:
    parts = [rows(1), rows(2)]
    parts[given] = rows(3, ids=["5-1"])
    with pytest.raises(SinkError, match="either all rows have an id or none"):
        deliver(line, *parts, early=early)
    assert written(client) == []


def test_rows_sent_early_are_executed_only_at_the_end_and_once(
    client: redis.Redis, line: Line
) -> None:
    delivery = exactly_once(line, early=True)
    delivery.send(rows(1, 2))
    delivery.send(rows(3))
    assert (written(client), client.get(MARKER)) == ([], None)
    client.client_kill_filter(_type="normal", skipme=True)
    delivery.send(rows(4))
    delivery.finish()
    assert written(client) == [1, 2, 3, 4]


def test_a_refused_transaction_writes_nothing(client: redis.Redis, line: Line, early: bool) -> None:
    """A command that the server does not queue aborts the whole transaction."""
    words = [command("XADD", "s", "*", "i", 1), command("XADD", "s")]
    bad = Commands("s", pa.array(words, pa.binary()))
    with pytest.raises(SinkError, match="wrong number of arguments"):
        deliver(line, bad, early=early)
    assert written(client) == []
    assert client.get(MARKER) is None


def test_a_key_of_another_type_is_refused_before_any_write(
    client: redis.Redis, line: Line, early: bool
) -> None:
    client.rpush("s", "x")
    with pytest.raises(SinkError, match="'s' is no stream but of the type list"):
        deliver(line, rows(1), early=early)
    assert client.get(MARKER) is None


def test_a_failure_inside_exec_is_remembered(client: redis.Redis, line: Line) -> None:
    client.xadd("s", {"i": 0}, id=f"{LARGEST_PART}-{LARGEST_PART}")
    for _ in range(2):
        with pytest.raises(SinkError, match=r"exhausted|the server refused some rows of batch 5"):
            deliver(line, rows(1))
    client.delete("s")
    with pytest.raises(SinkError, match="the server refused some rows of batch 5, partition 0"):
        deliver(line, rows(1))
    client.delete(MARKER)
    deliver(line, rows(1))
    assert written(client) == [1]


def test_a_failure_inside_exec_is_remembered_even_if_the_connection_is_lost(
    client: redis.Redis, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At that moment the marker says ``done``, which a retry would believe."""
    client.xadd("s", {"i": 0}, id=f"{LARGEST_PART}-{LARGEST_PART}")
    original = Transaction.end

    def end_and_break(self: Transaction) -> bool:
        try:
            return original(self)
        except PartialSinkError:
            line.connection().close()
            monkeypatch.setattr(Transaction, "end", original)
            raise

    monkeypatch.setattr(Transaction, "end", end_and_break)
    with pytest.raises(PartialSinkError, match="exhausted"):
        deliver(line, rows(1, 2))
    with pytest.raises(SinkError, match="the server refused some rows of batch 5"):
        deliver(line, rows(1, 2))


def test_a_failure_does_not_overwrite_a_later_batch_s_marker(
    client: redis.Redis, line: Line
) -> None:
    marker_key = MarkerKey(MARKER, TASK)
    for found, state in ((Marker(6), DONE), (Marker(5, 2), FAILED)):
        client.set(MARKER, found.encode())
        marker_key.fail(line, Marker(5, 2))
        assert client.get(MARKER) == found._replace(state=state).encode()


def test_an_exec_refused_completely_can_be_retried(
    client: redis.Redis, line: Line, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    """As when other clients take the last memory before EXEC."""
    original = Transaction.end

    def end_without_memory(self: Transaction) -> bool:
        wait_until(lambda: all_is_queued(client))
        client.config_set("maxmemory", 1)
        try:
            wait_until(lambda: refuses_writes(client))
            return original(self)
        finally:
            client.config_set("maxmemory", 0)
            wait_until(lambda: not refuses_writes(client))

    monkeypatch.setattr(Transaction, "end", end_without_memory)
    with pytest.raises(SinkError, match="OOM") as refused:
        deliver(line, rows(1, 2), early=early)
    assert not isinstance(refused.value, PartialSinkError)
    assert client.get(MARKER) is None
    monkeypatch.setattr(Transaction, "end", original)
    deliver(line, rows(1, 2), early=early)
    assert written(client) == [1, 2]


def all_is_queued(client: redis.Redis) -> bool:
    """Whether a client has two rows and a marker queued for EXEC."""
    return any(each["multi"] == "3" for each in client.client_list())


def refuses_writes(client: redis.Redis) -> bool:
    try:
        client.set("probe", 1)
    except redis.OutOfMemoryError:
        return True
    return False


def wait_until(fact: Callable[[], bool]) -> None:
    """Wait until *fact* is true; the server's cron makes it so."""
    while not fact():
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("stream", "name"),
    [
        ("s", "{s}:spark:q:0"),
        ("{user}:s", "{user}:s.:spark:q:0"),
        ("a{b", "{a{b}:spark:q:0"),
        ("{}s", "{63926}{}s!:spark:q:0"),
        ("a}b", "{20658}a}b!:spark:q:0"),
    ],
)
def test_a_marker_has_the_cluster_slot_of_its_stream(stream: str, name: str) -> None:
    """Its hash tag is that of the stream's name, or the whole name, or stands for its slot."""
    assert marker_name(stream, "q", 0) == name
    assert key_slot(name.encode()) == key_slot(stream.encode())


def test_no_two_streams_have_the_same_marker() -> None:
    streams = ["x", "{x}", "{x}.", "{{x}}", "x}", "{x", "{}x", "{x}y"]
    assert len({marker_name(stream, "q", 0) for stream in streams}) == len(streams)


def test_a_marker_is_decoded_from_its_encoding() -> None:
    marker = Marker(7, 100, 0xDEADBEEF, DONE)
    assert Marker.decode("m", marker.encode()) == marker
    assert Marker.decode("m", None).covers(0) is False


@pytest.mark.parametrize("text", [b"", b"7", b"7 1 0 lost", b"a b c done", b"7 1 0 done x"])
def test_a_key_that_is_not_a_marker_is_named(text: bytes) -> None:
    with pytest.raises(SinkError, match=r"'m' holds .*, not a marker"):
        Marker.decode("m", text)
