"""Dialing: which of several addresses is used, and the error if none can be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.bulk_client import BulkClient
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference, dial
from pyspark_penstock.connect.stream_info import ask
from pyspark_penstock.errors import ServerError
from tests.compat.processes import ServerProcess, free_port
from tests.spark.clock import Clock
from tests.spark.troubled import Troubled

ANY, PRIMARY_PREFERRED, PRIMARY = Preference
LOADING = b"LOADING Redis is loading the dataset in memory"
MISCONF = b"MISCONF Errors writing to the AOF file: No space left on device"
EVEN_THEN = {b"AUTH", b"ECHO", b"HELLO", b"INFO", b"SELECT"}


@pytest.fixture
def loading(server: ServerProcess) -> Iterator[int]:
    """The port of a server that loads its data for ever. It still answers some commands."""
    way = Troubled(server.port, lambda _, name: None if name in EVEN_THEN else LOADING)
    yield way.port
    way.close()


def listed(*ports: int, **options: str) -> Server:
    addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
    return Server.from_environment({"bootstrap.servers": addresses} | options)


def port_of(server: Server, preference: Preference) -> int:
    with dial(server, preference) as connection:
        return connection.address[1]


def test_a_reader_takes_the_first_that_serves(
    client: redis.Redis, server: ServerProcess, replica: int, loading: int
) -> None:
    servers = listed(free_port(), loading, replica, server.port)
    assert port_of(servers, ANY) == replica


@pytest.mark.parametrize("preference", Preference)
def test_a_replica_that_has_lost_its_primary_and_says_so_is_passed_by(
    client: redis.Redis, server: ServerProcess, replica: int, preference: Preference
) -> None:
    """It answers ECHO, and refuses reads with MASTERDOWN."""
    with redis.Redis(port=replica) as at_replica:
        at_replica.config_set("replica-serve-stale-data", "no")
        try:
            assert port_of(listed(replica, server.port), preference) == server.port
        finally:
            at_replica.config_set("replica-serve-stale-data", "yes")


def test_a_server_whose_disk_is_full_serves_readers(server: ServerProcess) -> None:
    way = Troubled(server.port, lambda _, name: MISCONF if name == b"PING" else None)
    assert port_of(listed(way.port), ANY) == way.port
    way.close()


def test_a_writer_takes_the_first_that_is_no_replica(
    client: redis.Redis, server: ServerProcess, replica: int, loading: int
) -> None:
    servers = listed(free_port(), loading, replica, server.port)
    assert port_of(servers, PRIMARY) == server.port
    bulk = BulkClient(servers, "writing")
    bulk.retry(lambda connection: connection.call("SET", "k", "v"))
    bulk.drop()
    with Client(servers, PRIMARY) as driver:
        driver.execute_command("APPEND", "k", "w")
    assert client.get("k") == b"vw"


def test_where_there_are_replicas_only_one_has_to_do_for_questions_and_not_for_writes(
    replica: int,
) -> None:
    """The replica may lag, and a failover may be under way. So writers wait for the primary."""
    servers = listed(free_port(), replica)
    assert port_of(servers, PRIMARY_PREFERRED) == replica
    with pytest.raises(OSError, match=f"127.0.0.1:{replica}: it is a replica, which takes no wri"):
        port_of(servers, PRIMARY)


def test_a_replica_that_takes_writes_is_as_good_as_a_primary(replica: int) -> None:
    with redis.Redis(port=replica) as at_replica:
        at_replica.config_set("replica-read-only", "no")
        try:
            assert port_of(listed(replica), PRIMARY) == replica
        finally:
            at_replica.config_set("replica-read-only", "yes")


def test_a_replica_that_becomes_the_primary_is_found(
    client: redis.Redis, server: ServerProcess, replica: int, clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The driver's client finds it too, after it has used the other server."""
    at_replica = redis.Redis(port=replica)
    servers = listed(free_port(), replica)

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
    """A cursor is not valid on a server that has restarted."""
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
