"""Sentinels say where the server is; a failover is followed while rows are written and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference, dial
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.retry import Retry
from pyspark_penstock.errors import ServerError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.writer import write_rows
from tests.compat.processes import penstock_command, redis_tool
from tests.ports import free_port
from tests.replication.deployment import NAME, NEVER_MS, Deployment, Node
from tests.spark.clustered import PATIENT, caught_up
from tests.spark.stored import xrange

BOTH = pytest.mark.parametrize("pair", ["penstock", "redis"], indirect=True)


class Watched:
    """A primary and its replica, watched by two Sentinels."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.sentinels = [f"127.0.0.1:{each.port}" for each in deployment.sentinels]
        self.at = {"sentinels": ",".join(self.sentinels), "masterName": NAME} | PATIENT

    @property
    def primary(self) -> Node:
        """The primary, as the first Sentinel names it."""
        return self.deployment.primary()

    @property
    def replica(self) -> Node:
        """The other one."""
        return next(node for node in self.deployment.nodes if node is not self.primary)

    def die(self) -> Node:
        """Kill the primary once its replica has everything; the dead one."""
        primary = self.primary
        caught_up(primary.client, self.replica.client)
        primary.kill()
        return primary

    def mend(self) -> None:
        """Start the dead one again, and wait until all is well."""
        for node in self.deployment.nodes:
            if not node.lives:
                new = self.deployment.await_promotion(node)
                node.start("--replicaof", f"127.0.0.1 {new.port}")
        self.deployment.await_replicas(self.primary)
        self.deployment.await_watchers()


class Death:
    """See ``death``."""

    def __init__(self, watched: Watched, patch: pytest.MonkeyPatch) -> None:
        self._watched = watched
        self._dead: Node | None = None
        self.pauses = 0
        patch.setattr(Retry, "sleep", self._pause)

    def __bool__(self) -> bool:
        """Whether it has come."""
        return self._dead is not None

    def __call__(self) -> None:
        self._dead = self._watched.die()

    def _pause(self, _: float) -> None:
        self.pauses += 1
        if self.pauses == 2 and self._dead is not None:
            self._watched.deployment.fail_over(self._dead)


@pytest.fixture(scope="module", params=["redis"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    command = [redis_tool("redis-server")]
    if request.param == "penstock":
        command = penstock_command()
    folder = tmp_path_factory.mktemp("sentinel")
    with Deployment(folder, [command] * 2, sentinels=2, down_after_ms=NEVER_MS) as deployment:
        yield Watched(deployment)


@pytest.fixture
def watched(pair: Watched) -> Watched:
    pair.mend()
    pair.primary.client.flushall()
    return pair


@pytest.fixture
def death(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> Death:
    """The primary dies when it is called; its replica takes over when two retries have failed."""
    return Death(watched, monkeypatch)


def test_the_primary_is_found_or_a_replica_on_wish(watched: Watched) -> None:
    def found(preference: Preference, **more: str) -> int:
        with dial(Server.from_environment(watched.at | more), preference) as connection:
            return connection.address[1]

    primary, replica = watched.primary.port, watched.replica.port
    assert found(Preference.ANY) == found(Preference.PRIMARY) == primary
    assert found(Preference.ANY, readFrom="replica") == replica
    assert found(Preference.PRIMARY, readFrom="replica") == primary
    away = f"127.0.0.1:{free_port()},{watched.at['sentinels']}"
    assert found(Preference.PRIMARY, sentinels=away) == primary


def test_a_name_that_no_sentinel_knows(watched: Watched) -> None:
    server = Server.from_environment(watched.at | {"masterName": "other"})
    with pytest.raises(ServerError, match=r"127.0.0.1:\d+ does not know 'other'"):
        dial(server)


def test_who_is_found_must_be_a_primary(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Sentinel may be late: then the next one is asked."""
    call = Connection.call
    late: list[int] = []
    replica = watched.replica.port

    def stale(self: Connection, *words: Any) -> Any:
        reply = call(self, *words)
        if words[:2] == ("SENTINEL", "GET-MASTER-ADDR-BY-NAME") and not late:
            late.append(1)
            return [b"127.0.0.1", str(replica).encode()]
        return reply

    monkeypatch.setattr(Connection, "call", stale)
    with dial(Server.from_environment(watched.at), Preference.PRIMARY) as connection:
        assert connection.address[1] == watched.primary.port
    assert late


@pytest.mark.parametrize(
    ("pair", "phase"),
    [("penstock", "exec"), ("redis", "before"), ("redis", "exec"), ("redis", "lost reply")],
    indirect=["pair"],
)
def test_a_failover_while_rows_are_written(
    watched: Watched, death: Death, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    options = sink_options(watched.at | {"stream": "out", "maxTransactionRows": "4"})
    post, answers = Connection.post, Connection.answers

    def posting(self: Connection, request: bytes | memoryview) -> None:
        if phase == "exec" and b"EXEC" in bytes(request[:20]) and not death:
            death()
        post(self, request)

    def answering(self: Connection) -> bytes:
        reply = answers(self)
        if phase == "lost reply" and b"\r\n*5\r\n" in reply and not death:
            death()
            raise ConnectionError("lost")
        return reply

    def rows() -> Iterator[Any]:
        for i in range(0, 9, 3):
            if phase == "before" and i == 3:
                death()
            yield pa.RecordBatch.from_pydict({"i": list(range(i, i + 3))})

    monkeypatch.setattr(Connection, "post", posting)
    monkeypatch.setattr(Connection, "answers", answering)
    encoder = RowEncoder(StructType().add("i", "long"), options)
    write_rows(rows(), encoder, options, Task("q", 0, 0))
    assert death.pauses >= 2
    found = xrange(watched.primary.client, "out")
    assert [int(fields[b"i"]) for _, fields in found] == list(range(9))


@BOTH
def test_a_failover_while_entries_are_read(watched: Watched, death: Death) -> None:
    server = Server.from_environment(watched.at)
    links = Links(server, Preference.ANY, "a test")
    links.one("s", "XADD", "s", "1-1", "f", "v")
    asks: list[Callable[[], Any]] = [lambda: links.one("s", "XLEN", "s")]
    with Client(server) as driver:
        asks.append(lambda: driver.execute_command("XLEN", "s"))
        assert [ask() for ask in asks] == [1, 1]
        death()
        assert [ask() for ask in asks] == [1, 1]
    assert death.pauses >= 2
    links.close()
