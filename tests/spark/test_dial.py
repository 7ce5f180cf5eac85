"""Dialing: which of several addresses is taken, by whom, and what is said if none is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from pyspark_penstock.client import Client
from pyspark_penstock.connection import Server
from pyspark_penstock.dial import dial
from pyspark_penstock.errors import ServerError
from pyspark_penstock.link import Link
from tests.compat.processes import ServerProcess, free_port, redis_tool
from tests.spark.clock import Clock
from tests.spark.troubled import Troubled

LOADING = b"LOADING Redis is loading the dataset in memory"


@pytest.fixture(scope="module")
def replica(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a replica, whose primary is nobody."""
    folder = tmp_path_factory.mktemp("replica")
    process = ServerProcess([redis_tool("redis-server")], folder, "--replicaof", "127.0.0.1 1")
    yield process.port
    process.stop()


@pytest.fixture
def loading(server: ServerProcess) -> Iterator[int]:
    """The port of a server that loads its data, for ever."""
    way = Troubled(server.port, lambda *_: LOADING)
    yield way.port
    way.close()


def listed(*ports: int, **options: str) -> Server:
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
    return Server.from_environment({"bootstrap.servers": addresses} | options)


def port_of(server: Server, *, primary: bool) -> int:
    with dial(server, primary=primary) as wire:
        return wire.address[1]


def test_a_reader_takes_the_first_that_serves(
    client: redis.Redis, server: ServerProcess, replica: int, loading: int
) -> None:
    servers = listed(free_port(), loading, replica, server.port)
    assert port_of(servers, primary=False) == replica


def test_a_writer_takes_the_first_that_is_no_replica(
    client: redis.Redis, server: ServerProcess, replica: int, loading: int
) -> None:
    servers = listed(free_port(), loading, replica, server.port)
    assert port_of(servers, primary=True) == server.port
    link = Link(servers, "writing")
    link.persist(lambda wire: wire.call("SET", "k", "v"))
    link.drop()
    with Client(servers, primary=True) as driver:
        driver.execute_command("APPEND", "k", "w")
    assert client.get("k") == b"vw"


def test_where_there_are_replicas_only_one_has_to_do(replica: int) -> None:
    """It may be one that takes writes. Its READONLY is waited for, as a failover may be near."""
    assert port_of(listed(free_port(), replica), primary=True) == replica


def test_a_replica_that_becomes_the_primary_is_found(
    client: redis.Redis, server: ServerProcess, replica: int, clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The driver's client, too, which asked the other one before."""
    at_replica = redis.Redis(port=replica)
    servers = listed(free_port(), replica)

    def take_over(_: float) -> None:
        at_replica.execute_command("REPLICAOF", "NO", "ONE")

    monkeypatch.setattr("pyspark_penstock.retry.Retry.sleep", staticmethod(take_over))
    try:
        with Client(servers, primary=True) as driver:
            driver.execute_command("SET", "k", "v")
        assert at_replica.getdel("k") == b"v"
    finally:
        at_replica.execute_command("REPLICAOF", "127.0.0.1", "1")
        at_replica.close()


def test_where_nobody_serves_each_says_why(loading: int, clock: Clock) -> None:
    away = free_port()
    with pytest.raises(ServerError) as caught:
        Client(listed(away, loading, retryTimeout="1s")).ping()
    assert str(caught.value) == (
        f"PING at 127.0.0.1:{away}, 127.0.0.1:{loading} failed 6 times in 1 s, the last time with: "
        f"127.0.0.1:{away}: [Errno 111] Connection refused; 127.0.0.1:{loading}: {LOADING.decode()}"
    )


def test_keys_are_scanned_from_the_first_again_where_that_was_broken_off(
    client: redis.Redis, server: ServerProcess, clock: Clock
) -> None:
    """A cursor means nothing to a server that was started anew."""
    for i in range(50):
        client.set(f"k{i}", "v")
    scans = []

    def trouble(_: int, name: bytes) -> bytes | None:
        if name != b"SCAN":
            return None
        scans.append(name)
        return LOADING if len(scans) == 3 else None

    way = Troubled(server.port, trouble)
    with Client(Server.from_environment(way.at)) as driver:
        found = list(driver.scan_iter(count=10))
    way.close()
    assert sorted(set(found)) == sorted(client.keys())
    assert len(scans) >= 3 + 5
