"""Sentinels say where the server is; a failover is followed while rows are written and read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType
from redis.backoff import NoBackoff
from redis.retry import Retry

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference, dial
from pyspark_penstock.connect.links import Links
from pyspark_penstock.errors import ServerError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.writer import write_rows
from tests.compat.processes import ROOT, penstock_command, redis_tool
from tests.ports import free_port
from tests.spark.clustered import until
from tests.spark.stored import xrange

QUORUM = """port {port}
bind 127.0.0.1
dir {folder}
sentinel monitor main 127.0.0.1 {primary} 2
sentinel down-after-milliseconds main 500
sentinel failover-timeout main 2000
"""


QUICK = ("INFO-PERIOD", "200", "PING-PERIOD", "100", "ASK-PERIOD", "100", "PUBLISH-PERIOD", "200")


class Watched:
    """A primary and its replica, watched by three Sentinels."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command, self.folder = command, folder
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.ports = [free_port(), free_port()]
        self.start(self.ports[0])
        self.start(self.ports[1], "--replicaof", f"127.0.0.1 {self.ports[0]}")
        self.sentinels = [self.start_sentinel() for _ in range(3)]
        places = ",".join(f"127.0.0.1:{port}" for port in self.sentinels)
        self.at = {"sentinels": places, "masterName": "main"}
        for port in self.sentinels:
            until(lambda port=port: self.knows_all(port), "a Sentinel knows all")  # type: ignore[misc]

    def start(self, port: int, *options: str) -> None:
        """Start a server, and wait until it answers."""
        folder = self.folder / str(port)
        folder.mkdir(exist_ok=True)
        words = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self.run(port, [*self.command, *words, *options])

    def start_sentinel(self) -> int:
        """Start a Sentinel; its port."""
        port = free_port()
        file = self.folder / f"sentinel-{port}.conf"
        file.write_text(QUORUM.format(port=port, folder=self.folder, primary=self.ports[0]))
        self.run(port, [redis_tool("redis-server"), str(file), "--sentinel"])
        with self.client(port) as client:
            client.execute_command("SENTINEL", "DEBUG", *QUICK)
        return port

    def run(self, port: int, words: list[str]) -> None:
        self.processes[port] = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL)
        until(lambda: bool(self.client(port).ping()), "a server answers")

    @staticmethod
    def client(port: int) -> redis.Redis:
        return redis.Redis(port=port, retry=Retry(NoBackoff(), 0))

    def knows_all(self, sentinel: int) -> bool:
        """Whether a Sentinel knows a replica that is connected, and the others."""
        with self.client(sentinel) as client:
            found = client.sentinel_master("main")
            replicas = client.sentinel_slaves("main")
        connected = [each for each in replicas if each["master-link-status"] == "ok"]
        return len(connected) == 1 and found["num-other-sentinels"] == 2

    def primary(self) -> int:
        """The port of the primary, as soon as the first Sentinel names one that serves as such."""
        until(self.has_primary, "there is a primary")
        return self.named()

    def named(self) -> int:
        """The port that the first Sentinel names."""
        with self.client(self.sentinels[0]) as client:
            return int(client.sentinel_master("main")["port"])

    def has_primary(self) -> bool:
        with self.client(self.named()) as client:
            return bool(client.info("replication")["role"] == "master")

    def replica(self) -> int:
        """The other port."""
        return next(port for port in self.ports if port != self.primary())

    def die(self) -> None:
        """Kill the primary once its replica has everything."""
        port = self.primary()
        with self.client(port) as client:
            client.wait(1, 5_000)
        self.processes[port].kill()
        self.processes[port].wait()

    def mend(self) -> None:
        """Start the dead one again, and wait until all is well."""
        for port in self.ports:
            if self.processes[port].poll() is not None:
                until(lambda port=port: self.named() != port, "it was replaced")  # type: ignore[misc]
                self.start(port, "--replicaof", f"127.0.0.1 {self.primary()}")
        for port in self.sentinels:
            until(lambda port=port: self.knows_all(port), "all is well again")  # type: ignore[misc]

    def stop(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture(scope="module", params=["penstock", "redis"])
def watched_pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    ours = request.param == "penstock"
    command = penstock_command() if ours else [redis_tool("redis-server")]
    found = Watched(command, tmp_path_factory.mktemp("sentinel"))
    yield found
    found.stop()


@pytest.fixture
def watched(watched_pair: Watched) -> Watched:
    watched_pair.mend()
    with watched_pair.client(watched_pair.primary()) as client:
        client.flushall()
    return watched_pair


def test_the_primary_is_found_or_a_replica_on_wish(watched: Watched) -> None:
    def found(preference: Preference, **more: str) -> int:
        with dial(Server.from_environment(watched.at | more), preference) as connection:
            return connection.address[1]

    assert found(Preference.ANY) == found(Preference.PRIMARY) == watched.primary()
    assert found(Preference.ANY, readFrom="replica") == watched.replica()
    assert found(Preference.PRIMARY, readFrom="replica") == watched.primary()
    away = f"127.0.0.1:{free_port()},{watched.at['sentinels']}"
    assert found(Preference.PRIMARY, sentinels=away) == watched.primary()


def test_a_name_that_no_sentinel_knows(watched: Watched) -> None:
    server = Server.from_environment(watched.at | {"masterName": "other"})
    with pytest.raises(ServerError, match=r"127.0.0.1:\d+ does not know 'other'"):
        dial(server)


def test_who_is_found_must_be_a_primary(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Sentinel may be late: then the next one is asked."""
    call = Connection.call
    late: list[int] = []

    def stale(self: Connection, *words: Any) -> Any:
        reply = call(self, *words)
        if words[:2] == ("SENTINEL", "GET-MASTER-ADDR-BY-NAME") and not late:
            late.append(1)
            return [b"127.0.0.1", str(watched.replica()).encode()]
        return reply

    monkeypatch.setattr(Connection, "call", stale)
    with dial(Server.from_environment(watched.at), Preference.PRIMARY) as connection:
        assert connection.address[1] == watched.primary()
    assert late


@pytest.mark.parametrize("phase", ["before", "exec", "lost reply"])
def test_a_failover_while_rows_are_written(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    options = sink_options(watched.at | {"stream": "out", "maxTransactionRows": "4"})
    post, answers = Connection.post, Connection.answers
    died: list[str] = []

    def die() -> None:
        died.append(phase)
        watched.die()

    def posting(self: Connection, request: bytes | memoryview) -> None:
        if phase == "exec" and b"EXEC" in bytes(request[:20]) and not died:
            die()
        post(self, request)

    def answering(self: Connection) -> bytes:
        reply = answers(self)
        if phase == "lost reply" and b"\r\n*5\r\n" in reply and not died:
            die()
            raise ConnectionError("lost")
        return reply

    def rows() -> Iterator[Any]:
        for i in range(0, 9, 3):
            if phase == "before" and i == 3:
                die()
            yield pa.RecordBatch.from_pydict({"i": list(range(i, i + 3))})

    monkeypatch.setattr(Connection, "post", posting)
    monkeypatch.setattr(Connection, "answers", answering)
    encoder = RowEncoder(StructType().add("i", "long"), options)
    write_rows(rows(), encoder, options, Task("q", 0, 0))
    assert died == [phase]
    with watched.client(watched.primary()) as client:
        assert [int(fields[b"i"]) for _, fields in xrange(client, "out")] == list(range(9))


def test_a_failover_while_entries_are_read(watched: Watched) -> None:
    server = Server.from_environment(watched.at)
    links = Links(server, Preference.ANY, "a test")
    links.one("s", "XADD", "s", "1-1", "f", "v")
    asks: list[Callable[[], Any]] = [lambda: links.one("s", "XLEN", "s")]
    with Client(server) as driver:
        asks.append(lambda: driver.execute_command("XLEN", "s"))
        assert [ask() for ask in asks] == [1, 1]
        watched.die()
        assert [ask() for ask in asks] == [1, 1]
    links.close()
