"""A snapshot brings all data back, and the clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.testing import PenstockServer, ServerError

LIBRARY = "#!lua name=lib\nredis.register_function('f', function() return 1 end)"


def test_all_databases_groups_and_functions_are_in_it(server: PenstockServer) -> None:
    with server.client(db=5) as client:
        client.xgroup_create("orders", "shipping", mkstream=True)
        entry = client.xadd("orders", {"item": "kettle"})
        client.xreadgroup("shipping", "ann", {"orders": ">"})
        client.function_load(LIBRARY)
        digest = server.call("DEBUG", "DIGEST")
        snapshot = server.snapshot()
        for _ in range(2):
            client.xack("orders", "shipping", entry)
            client.flushall()
            client.function_flush()
            server.restore(snapshot)
            assert server.call("DEBUG", "DIGEST") == digest
            assert client.xpending("orders", "shipping")["pending"] == 1
            assert client.fcall("f", 0) == 1


def test_several_may_be_kept(server: PenstockServer) -> None:
    snapshots = []
    for number in range(3):
        server.call("SET", "n", number)
        snapshots.append(server.snapshot())
    for number in (1, 0, 2):
        server.restore(snapshots[number])
        assert server.call("GET", "n") == str(number).encode()


def test_what_has_expired_since_is_there_again(server: PenstockServer) -> None:
    server.call("SET", "session", "x", "EX", 60)
    snapshot = server.snapshot()
    server.travel(hours=1)
    assert server.call("GET", "session") is None
    server.restore(snapshot)
    assert server.call("TTL", "session") > 50


def test_a_clock_that_stood_still_stands_there_again(server: PenstockServer) -> None:
    noon = server.freeze(datetime(2030, 1, 1, 12, tzinfo=UTC))
    snapshot = server.snapshot()
    server.travel(hours=1)
    server.thaw()
    server.restore(snapshot)
    assert server.now() == server.now() == noon


def test_users_parameters_and_scripts_stay(server: PenstockServer) -> None:
    snapshot = server.snapshot()
    server.call("CONFIG", "SET", "hz", 77)
    server.call("ACL", "SETUSER", "ann")
    sha = server.call("SCRIPT", "LOAD", "return 1")
    server.restore(snapshot)
    assert server.call("CONFIG", "GET", "hz") == [b"hz", b"77"]
    assert server.call("ACL", "USERS") == [b"ann", b"default"]
    assert server.call("SCRIPT", "EXISTS", sha) == [1]


def test_none_can_be_taken_while_another_is_saved(server: PenstockServer) -> None:
    server.call("SET", "a", "b")
    server.call("CONFIG", "SET", "rdb-key-save-delay", 10_000_000)
    server.call("BGSAVE")
    with pytest.raises(ServerError, match="save already in progress"):
        server.snapshot()


@pytest.mark.parametrize("other", ["x", None, ()])
def test_only_a_snapshot_is_restored(server: PenstockServer, other: Any) -> None:
    server.call("SET", "k", "v")
    with pytest.raises(TypeError, match="what snapshot\\(\\) has returned"):
        server.restore(other)
    assert server.call("GET", "k") == b"v"


def test_a_snapshot_goes_with_its_server() -> None:
    with PenstockServer() as server:
        snapshot = server.snapshot()
        server.stop()
        server.start()
        with pytest.raises(ServerError, match="its server was stopped"):
            server.restore(snapshot)
        assert server.call("PING") == b"PONG"
