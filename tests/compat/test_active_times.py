"""When consumers were last active goes to other servers and comes back, where these know of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compat.oracles import REDIS_8, REDIS_8_6, VALKEY_9, Oracles
from tests.compat.processes import ServerProcess, bulk, penstock_command, redis_tool

LEAST_MS = 30  # between what a consumer got and when it came last
TIMEOUT_S = 20.0


@pytest.fixture
def penstock(tmp_path: Path) -> Iterator[ServerProcess]:
    server = ServerProcess(penstock_command(), tmp_path, "--repl-diskless-sync-delay", "0")
    yield server
    server.stop()


def call(server: ServerProcess, *words: object) -> Any:
    line = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    kind, value = server.control.call(*line)
    assert kind != "-", (line, value)
    return value


def make_stream(server: ServerProcess) -> None:
    """A stream with a consumer that has come again later, in vain, and one that has got nothing."""
    call(server, "DEL", "s")
    call(server, "XADD", "s", "1-1", "f", "v")
    call(server, "XGROUP", "CREATE", "s", "g", "0")
    call(server, "XREADGROUP", "GROUP", "g", "busy", "STREAMS", "s", ">")
    while times(server)["busy"][1] - times(server)["busy"][0] < LEAST_MS:
        call(server, "XREADGROUP", "GROUP", "g", "busy", "STREAMS", "s", ">")
    call(server, "XGROUP", "CREATECONSUMER", "s", "g", "never")


def times(server: ServerProcess) -> dict[str, tuple[int, int]]:
    """Since when each consumer is idle, and inactive, in ms."""
    found = {}
    for _, row in call(server, "XINFO", "CONSUMERS", "s", "g"):
        words = [value for _, value in row]
        fields = dict(zip(map(bytes, words[::2]), words[1::2], strict=True))
        found[fields[b"name"].decode()] = (int(fields[b"idle"]), int(fields[b"inactive"]))
    return found


def assert_kept(server: ServerProcess) -> None:
    idle, inactive = times(server)["busy"]
    assert inactive - idle >= LEAST_MS
    assert times(server)["never"][1] == -1


@pytest.mark.parametrize("name", [REDIS_8, REDIS_8_6, VALKEY_9])
def test_payloads_have_the_active_times_both_ways(
    name: str, penstock: ServerProcess, oracles: Oracles
) -> None:
    oracle = oracles.start(name)
    for one, other in ((penstock, oracle), (oracle, penstock)):
        make_stream(one)
        call(other, "RESTORE", "s", 0, bulk(("$", call(one, "DUMP", "s"))), "REPLACE")
        assert_kept(other)
        call(other, "DEL", "s")


def test_a_reload_and_a_restart_keep_the_active_times(tmp_path: Path) -> None:
    server = ServerProcess(penstock_command(), tmp_path, "--enable-debug-command", "yes")
    try:
        make_stream(server)
        call(server, "DEBUG", "RELOAD")
        assert_kept(server)
        call(server, "SAVE")
    finally:
        server.stop()
    server = ServerProcess(penstock_command(), tmp_path)
    try:
        assert_kept(server)
    finally:
        server.stop()


@pytest.mark.parametrize("name", [REDIS_8, REDIS_8_6, VALKEY_9])
def test_a_replica_that_knows_of_active_times_gets_them(
    name: str, penstock: ServerProcess, oracles: Oracles
) -> None:
    make_stream(penstock)
    replica = oracles.start(name)
    try:
        follow(replica, penstock)
        assert_kept(replica)
    finally:
        call(replica, "REPLICAOF", "NO", "ONE")
        call(replica, "FLUSHALL")


def test_a_penstock_that_replicates_gets_the_active_times(
    penstock: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    make_stream(penstock)
    replica = ServerProcess(penstock_command(), tmp_path_factory.mktemp("replica"))
    try:
        follow(replica, penstock)
        assert_kept(replica)
    finally:
        replica.stop()


def test_a_replica_of_redis_7_0_gets_streams_in_the_form_that_it_knows(
    penstock: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    make_stream(penstock)
    folder = tmp_path_factory.mktemp("replica")
    replica = ServerProcess([redis_tool("redis-server")], folder)
    try:
        follow(replica, penstock)
        assert call(replica, "XLEN", "s") == b"1"
    finally:
        replica.stop()


def test_a_file_for_redis_7_0_is_read_by_it(tmp_path: Path) -> None:
    server = ServerProcess(penstock_command(), tmp_path, "--rdb-oldest-reader", "7.0")
    try:
        make_stream(server)
        call(server, "SAVE")
    finally:
        server.stop()
    server = ServerProcess([redis_tool("redis-server")], tmp_path)
    try:
        assert call(server, "XLEN", "s") == b"1"
    finally:
        server.stop()


def test_a_replica_that_is_too_old_for_fields_that_expire_is_refused_by_name(
    penstock: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Once, it was sent the copy again and again."""
    folder = tmp_path_factory.mktemp("replica")
    log = folder / "replica.log"
    replica = ServerProcess([redis_tool("redis-server")], folder, "--logfile", str(log))
    try:
        follow(replica, penstock)
        call(penstock, "HSET", "h", "f", "v")
        call(penstock, "HEXPIRE", "h", 1000, "FIELDS", 1, "f")
        until(lambda: "there are hashes with fields that expire" in log.read_text())
        assert info(penstock)["connected_slaves"] == "0"
        assert int(info(penstock)["sync_full"]) == 1
        call(penstock, "DEL", "h")
        until(lambda: info(replica)["master_link_status"] == "up")
    finally:
        replica.stop()


def follow(replica: ServerProcess, primary: ServerProcess) -> None:
    call(replica, "REPLICAOF", "127.0.0.1", primary.port)
    until(lambda: info(replica)["master_link_status"] == "up")


def info(server: ServerProcess) -> dict[str, str]:
    text = b"".join(bytes(call(server, "INFO", part)) for part in ("replication", "stats"))
    return dict(line.split(":", 1) for line in text.decode().splitlines() if ":" in line)


def until(fact: Any) -> None:
    stop_s = time.monotonic() + TIMEOUT_S
    while not fact():
        assert time.monotonic() < stop_s
        time.sleep(0.01)
