"""``waitReplicas``: what a failover would lose is written again, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.retry import Retry
from pyspark_penstock.errors import OptionError, ServerError, SinkError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import ATOMIC, EXACTLY_ONCE, ORDERED, sink_options
from pyspark_penstock.write.writer import publish, write_rows
from tests.compat.processes import penstock_command, redis_tool
from tests.replication.deployment import Node
from tests.spark.clock import Clock
from tests.spark.clustered import caught_up, until
from tests.spark.stored import xrange

Arrange = Callable[..., list[float]]

ROWS = 9
CUT_OFF = "cut off"
AT_ONCE = ("--repl-diskless-sync-delay", "0", "--save", "")
SCHEMA = StructType().add("i", "long")


class Pair:
    """A primary with a replica; after a failover the replica is the primary, and the other is dead.

    A query that names both addresses writes to the one that accepts writes.
    """

    def __init__(self, command: list[str], folder: Path) -> None:
        self.nodes = [Node(folder / name, command, *AT_ONCE) for name in "abc"]
        first = self.nodes[:2]
        for node in first:
            node.start()
        self.primary, self.replica = (node.client for node in first)
        places = ",".join(f"127.0.0.1:{node.port}" for node in first)
        self.at = {"bootstrap.servers": places}
        self.attach()

    def attach(self) -> None:
        """Let the replica follow, and wait until it has everything."""
        self.replica.replicaof("127.0.0.1", str(self.nodes[0].port))
        up = lambda: self.replica.info("replication")["master_link_status"] == "up"  # noqa: E731
        until(up, "the replica follows")
        caught_up(self.primary, self.replica)

    def detach(self) -> None:
        """From now on the replica gets nothing."""
        self.replica.replicaof("127.0.0.1", "1")

    def fail_over(self) -> None:
        """The primary dies, the replica is the primary, and has a replica of its own."""
        primary, replica, third = self.nodes
        primary.kill()
        self.replica.replicaof("NO", "ONE")
        third.start("--replicaof", f"127.0.0.1 {replica.port}")

    def close(self) -> None:
        """End both."""
        for node in self.nodes:
            node.kill()


@pytest.fixture(params=["redis", "penstock"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    ours = request.param == "penstock"
    made = Pair(penstock_command() if ours else [redis_tool("redis-server")], tmp_path)
    yield made
    made.close()


ONE_KIND = pytest.mark.parametrize("pair", ["redis"], indirect=True)


@pytest.fixture
def at_pause(monkeypatch: pytest.MonkeyPatch) -> Arrange:
    """Has something happen when the sink, in vain, has asked twice; what it pauses.

    With *names*, the commands, only pauses after the cut count: a busy replica may be late before.
    """

    def arrange(what: Callable[[], None], names: Sequence[str] = (CUT_OFF,)) -> list[float]:
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            if CUT_OFF in names:
                pauses.append(seconds)
                if len(pauses) == 2:
                    what()

        monkeypatch.setattr(Retry, "sleep", staticmethod(pause))
        return pauses

    return arrange


def write(pair: Pair, **more: str) -> None:
    """A batch of one task, in transactions of four rows."""
    few = {} if more.get("delivery") == ATOMIC else {"maxTransactionRows": "4"}
    wait = {"waitReplicasTimeout": "50ms"} if "waitReplicas" in more else {}
    options = sink_options(pair.at | {"stream": "out"} | wait | few | more)
    encoder = RowEncoder(SCHEMA, options)
    message = write_rows(batches(), encoder, options, Task("q", 0, 0))
    publish([message], options)


def batches() -> Iterator[Any]:
    for i in range(0, ROWS, 3):
        yield pa.RecordBatch.from_pydict({"i": list(range(i, i + 3))})


def written(client: redis.Redis) -> list[int]:
    return [int(fields[b"i"]) for _, fields in xrange(client, "out")]


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch, pair: Pair) -> list[str]:
    """From the transaction after the first WAIT on, the replica gets nothing. All commands."""
    call = Connection.call
    names: list[str] = []

    def calling(self: Connection, *words: Any) -> Any:
        if words[0] == "WATCH" and "WAIT" in names and CUT_OFF not in names:
            pair.detach()
            names.append(CUT_OFF)
        names.append(str(words[0]))
        return call(self, *words)

    monkeypatch.setattr(Connection, "call", calling)
    return names


@pytest.mark.parametrize(
    ("pair", "delivery"),
    [
        ("penstock", EXACTLY_ONCE), ("redis", EXACTLY_ONCE), ("redis", ORDERED), ("redis", ATOMIC),
    ],
    indirect=["pair"],
)  # fmt: skip
def test_what_a_failover_loses_is_written_again(
    pair: Pair, cut_off: list[str], at_pause: Arrange, delivery: str
) -> None:
    """The first transaction is confirmed, the second is not passed on before the primary dies."""
    pauses = at_pause(pair.fail_over, cut_off)
    write(pair, waitReplicas="1", delivery=delivery)
    assert len(pauses) >= 2
    assert cut_off.count("WAIT") > 3
    assert written(pair.replica) == list(range(ROWS))


@ONE_KIND
def test_without_it_that_is_lost_and_nobody_learns_of_it(pair: Pair) -> None:
    pair.detach()
    write(pair)
    pair.fail_over()
    assert written(pair.replica) == []


@pytest.mark.parametrize("delivery", [EXACTLY_ONCE, ATOMIC])
@ONE_KIND
def test_a_late_confirmation_writes_nothing_twice(
    pair: Pair, cut_off: list[str], at_pause: Arrange, delivery: str
) -> None:
    pauses = at_pause(pair.attach, cut_off)
    write(pair, waitReplicas="1", delivery=delivery)
    assert len(pauses) >= 2
    assert written(pair.primary) == written(pair.replica) == list(range(ROWS))


@pytest.mark.parametrize("delivery", [EXACTLY_ONCE, ATOMIC])
@ONE_KIND
def test_a_replay_of_what_is_written_waits_for_its_confirmation(
    pair: Pair, clock: Clock, delivery: str
) -> None:
    """An earlier attempt may have died while it waited."""
    pair.detach()
    write(pair, delivery=delivery)
    with pytest.raises(ServerError, match=r"0 of 1 replicas confirmed it within 50 ms"):
        write(pair, waitReplicas="1", delivery=delivery)
    assert clock.now() >= 30
    pair.attach()
    write(pair, waitReplicas="1", delivery=delivery)
    assert written(pair.primary) == written(pair.replica) == list(range(ROWS))


@ONE_KIND
def test_a_replay_that_learns_of_the_loss_too_late_fails(pair: Pair, at_pause: Arrange) -> None:
    """Its rows were left out, since the marker was there. The next attempt writes them."""
    pair.detach()
    write(pair)
    at_pause(pair.fail_over)
    with pytest.raises(SinkError, match="a failover has lost it"):
        write(pair, waitReplicas="1")
    pair.primary, pair.replica = pair.replica, pair.primary
    write(pair)
    assert written(pair.primary) == list(range(ROWS))


def test_options_that_make_no_sense_are_refused() -> None:
    for given, told in (
        ({"waitReplicas": "1", "delivery": "at-least-once"}, "could only be written again"),
        ({"waitReplicasTimeout": "1s"}, "give that too"),
        ({"waitReplicas": "1", "waitReplicasTimeout": "31s"}, "from 1ms to 30s"),
        ({"waitReplicas": "1", "waitReplicasTimeout": "0"}, "from 1ms to 30s"),
        ({"waitReplicas": "-1"}, "at least 0"),
    ):
        with pytest.raises(OptionError, match=told):
            sink_options({"stream": "out"} | given)
