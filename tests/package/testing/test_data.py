"""Tests begin with the data of another server, which is never changed."""

from __future__ import annotations

import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from penstock.testing import PenstockServer, ServerError, Snapshot
from penstock.testing.data import data_at
from penstock.testing.snapshots import Snapshots

LONG_AGO = datetime(2021, 6, 1, 12, tzinfo=UTC)


def fill(server: PenstockServer) -> None:
    """Something of each kind; "session" expires a minute later."""
    server.call("SET", "name", "shop")
    server.call("SET", "session", "x", "EX", 60)
    server.call("SELECT", 3)
    server.call("XGROUP", "CREATE", "orders", "shipping", "$", "MKSTREAM")
    server.call("XADD", "orders", "1-1", "item", "kettle")
    server.call("XREADGROUP", "GROUP", "shipping", "ann", "STREAMS", "orders", ">")
    server.call("SELECT", 0)


def check(server: PenstockServer) -> None:
    assert server.call("GET", "name") == b"shop"
    server.call("SELECT", 3)
    assert server.call("XPENDING", "orders", "shipping")[0] == 1
    server.call("SELECT", 0)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A snapshot of long ago."""
    path = tmp_path / "shop.rdb"
    with PenstockServer(clock=LONG_AGO) as server:
        fill(server)
        shutil.copy(server.snapshot().file, path)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An append-only file of long ago: a base with the first half, and an AOF with the rest."""
    with PenstockServer(clock=LONG_AGO, options=["appendonly yes"]) as server:
        fill(server)
        server.call("BGREWRITEAOF")
        while b"aof_rewrite_in_progress:1" in server.call("INFO", "persistence"):
            pass
        server.call("SET", "later", "1", "EX", 60)
        server.call("CONFIG", "SET", "appendfsync", "always")
        server.call("SET", "name", "shop")
        path = tmp_path / "appendonlydir"
        shutil.copytree(server.path.parent / "appendonlydir", path)
    return path


def octets(path: Path) -> dict[str, bytes]:
    files = path.iterdir() if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.parametrize("kind", ["dump", "log"])
def test_it_begins_with_the_data_each_time(kind: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(kind)
    before = octets(path)
    with PenstockServer(data=path) as server:
        for _ in range(2):
            check(server)
            assert server.call("GET", "session") is None
            server.call("SET", "name", "another")
            server.call("FLUSHALL")
            server.reset()
        server.call("SAVE")
    assert octets(path) == before


@pytest.mark.parametrize("kind", ["dump", "log"])
def test_with_the_clock_of_the_data_nothing_has_expired(
    kind: str, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(kind)
    clock: datetime | Literal["data"] = LONG_AGO if kind == "log" else "data"
    with PenstockServer(data=path, clock=clock) as server:
        for _ in range(2):
            check(server)
            assert server.call("TTL", "session") > 50
            assert server.now() - LONG_AGO < timedelta(minutes=1)
            server.travel(minutes=2)
            assert server.call("GET", "session") is None
            server.reset()
        if kind == "log":
            assert server.call("TTL", "later") > 50


def test_a_new_server_has_the_data_too(dump: Path) -> None:
    with PenstockServer(data=dump) as server, server.client() as client:
        client.shutdown(nosave=True)
        server.reset()
        check(server)


def test_data_that_was_only_read_is_not_loaded_again(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PenstockServer(data=dump) as server:
        loaded: list[Snapshot] = []
        monkeypatch.setattr(Snapshots, "restore", lambda _self, snapshot: loaded.append(snapshot))
        check(server)
        server.reset()
        assert not loaded
        server.call("DEL", "name")
        server.reset()
        assert loaded


def test_changes_that_were_saved_are_taken_back(dump: Path) -> None:
    with PenstockServer(data=dump) as server:
        server.call("SET", "name", "another")
        server.call("SAVE")
        server.reset()
        check(server)


def test_an_append_only_file_of_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "old.aof"
    path.write_bytes(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n")
    for clock in (None, LONG_AGO):
        with PenstockServer(data=path, clock=clock) as server:
            assert server.call("GET", "a") == b"b"


# ---------------------------------------------------------------------- finding it


def test_a_folder_has_a_log_or_a_snapshot(tmp_path: Path, dump: Path, log: Path) -> None:
    home = tmp_path / "data"
    home.mkdir()
    with pytest.raises(ServerError, match="neither"):
        data_at(home)
    shutil.copy(dump, home / "dump.rdb")
    assert data_at(home).path == home / "dump.rdb"
    shutil.copytree(log, home / "appendonlydir")
    assert data_at(home).path == home / "appendonlydir"
    assert data_at(log).log == "appendonly.aof"


def test_a_snapshot_knows_when_it_was_saved(dump: Path) -> None:
    assert data_at(dump).saved_at() - LONG_AGO < timedelta(minutes=1)


@pytest.mark.parametrize(
    "octets",
    [b"", b"REDIS0011", b"REDIS0011\xfa\x05ctime", b"REDIS0011\xfa\xff\xff", b"REDIS0011\xfa"],
)
def test_a_snapshot_without_a_time_has_that_of_its_file(tmp_path: Path, octets: bytes) -> None:
    path = tmp_path / "dump.rdb"
    path.write_bytes(octets)
    assert abs(data_at(path).saved_at().timestamp() - time.time()) < 3600
