"""The sink in a cluster: exactly once, whatever slots and primaries do at any step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect import retry
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.retry import Retry
from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.errors import SinkError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import SinkOptions, sink_options
from pyspark_penstock.write.writer import EntriesWritten, publish, write_rows
from tests.spark.clustered import Cluster, Node
from tests.spark.steps import ALL, chosen
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long").add("_stream", "string")
SLOT = key_slot(b"out")
ROWS = 9

Step = Callable[[str], None]


def rows(streams: list[str]) -> Iterator[Any]:
    for i in range(0, ROWS, 3):
        yield pa.RecordBatch.from_pydict(
            {"i": list(range(i, i + 3)), "_stream": [streams[n % len(streams)] for n in range(3)]}
        )


def write(options: SinkOptions, streams: list[str], batch: int = 0) -> EntriesWritten:
    encoder = RowEncoder(SCHEMA, options)
    return write_rows(rows(streams), encoder, options, Task("q", batch, 0))


def one_of_each(cluster: Cluster) -> list[str]:
    """The name of a stream for each of the three primaries."""
    names = (f"s{n}" for n in count())
    found = {cluster.owner(key_slot(name.encode())).port: name for name in islice(names, 50)}
    assert len(found) == 3
    return list(found.values())


def stored(cluster: Cluster, stream: str) -> list[int]:
    owner = cluster.owner(key_slot(stream.encode()))
    with redis.Redis(port=owner.port) as client:
        return [int(fields[b"i"]) for _, fields in xrange(client, stream)]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """What is called at each step: before something is sent, and after a reply has come."""
    monkeypatch.setattr(retry, "LONGEST_PAUSE_S", 0.05)
    hooks: list[Step] = []
    post, answers, call = Connection.post, Connection.answers, Connection.call

    def step(name: str) -> None:
        for hook in hooks:
            hook(name)

    def posting(self: Connection, request: bytes | memoryview) -> None:
        step("exec" if b"EXEC" in bytes(request[:20]) else "send")
        post(self, request)

    def answering(self: Connection) -> bytes:
        found = answers(self)
        step("answer")
        return found

    def calling(self: Connection, *words: Any) -> Any:
        if words[0] in {"WATCH", "GET"}:
            step(str(words[0]).lower())
        return call(self, *words)

    monkeypatch.setattr(Connection, "post", posting)
    monkeypatch.setattr(Connection, "answers", answering)
    monkeypatch.setattr(Connection, "call", calling)
    return hooks


class Moving:
    """Moves the stream's slot when step number *at* comes: at once, or in three steps."""

    def __init__(self, cluster: Cluster, at: int, gradually: bool) -> None:
        target = cluster.other(cluster.owner(SLOT))
        parts = [
            lambda: cluster.open_slot(SLOT, target),
            lambda: cluster.move_keys(SLOT, target),
            lambda: cluster.close_slot(SLOT, target),
        ]
        self.parts = [[each] for each in parts] if gradually else [parts]
        self.left = at

    def __call__(self, _: str) -> None:
        self.left -= 1
        if self.left <= 0 and self.parts:
            for part in self.parts.pop(0):
                part()

    def end(self) -> None:
        """Do what is left of the move."""
        while self.parts:
            self("")


@pytest.mark.parametrize(
    ("delivery", "gradually"),
    [("exactly-once", True), ("atomic", True)]
    + ([("exactly-once", False), ("ordered", True), ("atomic", False)] if ALL else []),
)
def test_a_slot_moves_at_any_step(
    cluster: Cluster, steps: list[Step], delivery: str, gradually: bool
) -> None:
    given = {"stream": "out", "delivery": delivery}
    options = sink_options(
        cluster.at | given | ({} if delivery == "atomic" else {"maxTransactionRows": "4"})
    )
    names: list[str] = []
    steps[:] = [names.append]
    publish([write(options, ["out"])], options)
    assert len(names) > 8
    for at in chosen(names):
        cluster.empty()
        moving = Moving(cluster, at, gradually)
        steps[:] = [moving]
        publish([write(options, ["out"])], options)
        steps.clear()
        moving.end()
        assert stored(cluster, "out") == list(range(ROWS)), f"moved at step {at}"
        publish([write(options, ["out"])], options)
        assert stored(cluster, "out") == list(range(ROWS)), f"again, moved at step {at}"


@pytest.mark.parametrize("phase", ["watch", "send", "exec", "answer"])
def test_a_primary_dies_in_each_phase(
    cluster: Cluster, steps: list[Step], monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    """Its replica takes over when the task has tried again twice.

    At ``answer`` the reply to EXEC is lost, and the rows were written.
    """
    options = sink_options(cluster.at | {"stream": "out", "maxTransactionRows": "4"})
    seen: list[str] = []
    replicas: list[Node] = []
    pauses: list[float] = []

    def die(name: str) -> None:
        seen.append(name)
        if name == phase and seen.count("exec") == (phase != "watch") and not replicas:
            replicas.append(cluster.die(cluster.owner(SLOT)))
            if phase == "answer":
                raise ConnectionError("lost")

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            cluster.take_over(replicas[0])

    monkeypatch.setattr(Retry, "sleep", staticmethod(pause))
    steps[:] = [die]
    write(options, ["out"])
    steps.clear()
    assert len(pauses) >= 2
    assert stored(cluster, "out") == list(range(ROWS))


def test_many_streams_of_all_nodes(cluster: Cluster) -> None:
    options = sink_options(cluster.at)
    streams = one_of_each(cluster)  # whatever slots other tests have moved
    for _ in range(2):
        write(options, streams)
    assert [stored(cluster, s) for s in streams] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


def test_atomic_delivery_needs_one_slot(cluster: Cluster) -> None:
    options = sink_options(cluster.at | {"delivery": "atomic"})
    with pytest.raises(SinkError, match=r"'a' and 'b' are in different slots.*\{orders\}:new"):
        publish([write(options, ["a", "b"])], options)
    tagged = ["{x}a", "{x}b", "{x}c"]
    for _ in range(2):
        publish([write(options, tagged)], options)
    assert [stored(cluster, s) for s in tagged] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


@pytest.mark.parametrize("delivery", ["exactly-once", "ordered", "atomic"])
def test_a_stream_with_any_braces_in_its_name_has_its_marker_beside_it(
    cluster: Cluster, delivery: str
) -> None:
    for stream in ("a}b", "{}c", "{}}d"):
        options = sink_options(cluster.at | {"delivery": delivery})
        publish([write(options, [stream])], options)
        assert stored(cluster, stream) == list(range(ROWS))
