"""dial: which of several addresses is used, and the error if none can be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from pyspark_penstock.connect import links
from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference, dial
from pyspark_penstock.connect.line import Line
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.stream_info import ask
from pyspark_penstock.errors import ServerError
from tests.compat.processes import ServerProcess
from tests.ports import free_port
from tests.spark.clock import Clock
from tests.spark.troubled import Troubled

ANY, PRIMARY_PREFERRED, PRIMARY = Preference
LOADING = b"LOADING Redis is loading the dataset in memory"
MISCONF = b"MISCONF Errors writing to the AOF file: No space left on device"
ANSWERED_WHILE_LOADING = {b"AUTH", b"ECHO", b"HELLO", b"INFO", b"SELECT"}


@pytest.fixture
def loading(server: ServerProcess) -> Iterator[int]:
    """The port of a server that never finishes loading its data. It still answers some commands."""
    way = Troubled(server.port, lambda _, name: None if name in ANSWERED_WHILE_LOADING else LOADING)
    yield way.port
    way.close()


def server_at(*ports: int, **options: str) -> Server:
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
    return Server.from_environment({"bootstrap.servers": addresses} | options)


def port_of(server: Server, preference: Preference) -> int:
    with dial(server, preference) as connection:
        return connection.address[1]


def test_a_reader_uses_the_first_server_that_is_ready(
    client: redis.Redis, server: ServerProcess, replica: int, loading: int
) -> None:
    servers = server_at(free_port(), loading, replica, server.port)
    assert port_of(servers, ANY) == replica


@pytest.mark.parametrize("preference", Preference)
def test_a_replica_that_refuses_stale_reads_is_skipped(
    client: redis.Redis, server: ServerProcess, replica: int, preference: Preference
) -> None:
    """Having lost its primary, it answers ECHO but refuses reads with MASTERDOWN."""
    with redis.Redis(port=replica) as at_replica:
        at_replica.config_set("replica-serve-stale-data", "no")
        try:
            assert port_of(server_at(replica, server.port), preference) == server.port
        finally:
            at_replica.config_set("replica-serve-stale-data", "yes")


def test_a_server_whose_disk_is_full_serves_readers(server: ServerProcess) -> None:
    way = Troubled(server.port, lambda _, name: MISCONF if name == b"PING" else None)
    assert port_of(server_at(way.port), ANY) == way.port
    way.close()


def test_a_writer_uses_the_first_server_that_is_not_a_replica(
    client: redis.Redis, server: ServerProcess, replica: int, loading: int
) -> None:
    servers = server_at(free_port(), loading, replica, server.port)
    assert port_of(servers, PRIMARY) == server.port
    bulk = Line(Links(servers, Preference.PRIMARY, "writing"))
    bulk.retry(lambda connection: connection.call("SET", "k", "v"))
    bulk.drop()
    with Client(servers, PRIMARY) as driver:
        driver.execute_command("APPEND", "k", "w")
    assert client.get("k") == b"vw"


def test_a_replica_serves_driver_queries_if_there_is_no_primary_but_no_writes(
    replica: int,
) -> None:
    """A failover may be under way, so writers wait for the primary."""
    servers = server_at(free_port(), replica)
    assert port_of(servers, PRIMARY_PREFERRED) == replica
    with pytest.raises(OSError, match=f"127.0.0.1:{replica}: it is a replica, which takes no wri"):
        port_of(servers, PRIMARY)


def test_a_writable_replica_counts_as_a_primary(replica: int) -> None:
    with redis.Redis(port=replica) as at_replica:
        at_replica.config_set("replica-read-only", "no")
        try:
            assert port_of(server_at(replica), PRIMARY) == replica
        finally:
            at_replica.config_set("replica-read-only", "yes")


def test_a_replica_that_is_promoted_is_found(
    client: redis.Redis, server: ServerProcess, replica: int, clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The client waits for the promotion, and then writes there."""
    at_replica = redis.Redis(port=replica)
    servers = server_at(free_port(), replica)

    def take_over(_: float) -> None:
        ask(at_replica, "REPLICAOF", "NO", "ONE")

    monkeypatch.setattr("pyspark_penstock.connect.retry.Retry.sleep", staticmethod(take_over))
    try:
        with Client(servers, PRIMARY) as driver:
            driver.execute_command("SET", "k", "v")
        assert at_replica.getdel("k") == b"v"
    finally:
        ask(at_replica, "REPLICAOF", "127.0.0.1", "1")
        at_replica.close()


def test_if_no_server_is_ready_the_error_has_each_one_s_reason(loading: int, clock: Clock) -> None:
    away = free_port()
    with pytest.raises(ServerError) as caught:
        Client(server_at(away, loading, retryTimeout="1s")).ping()
    assert str(caught.value) == (
        f"PING at 127.0.0.1:{away}, 127.0.0.1:{loading} failed 6 times in 1 s, the last time with: "
        f"127.0.0.1:{away}: [Errno 111] Connection refused; 127.0.0.1:{loading}: {LOADING.decode()}"
    )


def test_an_interrupted_key_scan_starts_again(
    client: redis.Redis,
    server: ServerProcess,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cursor is not valid on a server that has restarted."""
    monkeypatch.setattr(links, "SCAN_COUNT", 10)
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
        found = list(driver.scan_iter())
    way.close()
    assert sorted(set(found)) == sorted(client.keys())
    assert len(scans) >= 3 + 5
