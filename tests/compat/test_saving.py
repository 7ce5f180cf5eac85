"""SAVE, BGSAVE, save points and SHUTDOWN: both servers answer and count alike, errors included."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.compat.processes import (
    FOR_REDIS_7_0,
    ServerProcess,
    bulk,
    penstock_command,
    redis_tool,
)
from tests.compat.resp import CLOSED, Reply

TIMEOUT_S = 20.0
SAVE_POINTS = ("--save", "3600", "1000000")  # never reached

FIGURES = (
    "loading",
    "async_loading",
    "current_cow_peak",
    "current_cow_size",
    "current_cow_size_age",
    "current_fork_perc",
    "current_save_keys_processed",
    "current_save_keys_total",
    "rdb_changes_since_last_save",
    "rdb_bgsave_in_progress",
    "rdb_last_bgsave_status",
    "rdb_current_bgsave_time_sec",
    "rdb_saves",
    "rdb_last_load_keys_expired",
    "rdb_last_load_keys_loaded",
)


class Pair:
    """Penstock and redis-server, each in a folder of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._options = options
        self._commands = [[*penstock_command(), *FOR_REDIS_7_0], [redis_tool("redis-server")]]
        self.folders = [folder / "penstock", folder / "redis"]
        for each in self.folders:
            each.mkdir()
        self.servers: list[ServerProcess] = []
        self.start()

    def start(self) -> None:
        for command, folder in zip(self._commands, self.folders, strict=True):
            self.servers.append(ServerProcess(command, folder, *self._options))

    def stop(self) -> None:
        while self.servers:
            self.servers.pop().stop()

    def call(self, *words: str) -> Reply:
        """The answer of both servers, which must be the same."""
        ours, theirs = (
            server.control.call(*(word.encode() for word in words)) for server in self.servers
        )
        assert ours == theirs, words
        return ours

    def figures(self) -> dict[str, str]:
        """INFO's figures about snapshots, which must be the same on both servers."""
        ours, theirs = (persistence(server) for server in self.servers)
        assert {name: ours[name] for name in FIGURES} == {name: theirs[name] for name in FIGURES}
        return ours

    def await_end_of_save(self) -> None:
        for server in self.servers:
            wait_for(lambda: persistence(server)["rdb_bgsave_in_progress"] == "0")  # noqa: B023

    def shut_down(self, *how: str) -> None:
        """Send SHUTDOWN to both servers, and wait until they have ended."""
        assert self.call("SHUTDOWN", *how) == CLOSED
        for server in self.servers:
            server.control.close()
            assert server.process.wait(TIMEOUT_S) == 0
        self.servers.clear()

    def make_saving_fail(self) -> None:
        """Put a folder where the snapshot belongs, so that it cannot be renamed into place."""
        for folder in self.folders:
            (folder / "dump.rdb").mkdir()
            (folder / "dump.rdb" / "full").touch()

    def make_saving_work(self) -> None:
        for folder in self.folders:
            (folder / "dump.rdb" / "full").unlink()
            (folder / "dump.rdb").rmdir()


def persistence(server: ServerProcess) -> dict[str, str]:
    text = bulk(server.control.call(b"INFO", b"persistence")).decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_misconf(reply: Reply) -> bool:
    kind, value = reply
    return kind == "-" and isinstance(value, bytes) and value.startswith(b"MISCONF ")


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(tmp_path, *SAVE_POINTS)
    yield pair
    pair.stop()


def test_saves_and_changes_are_counted_alike(pair: Pair) -> None:
    pair.figures()
    pair.call("SET", "a", "b")
    pair.call("XADD", "s", "1-1", "f", "v")
    pair.call("RPUSH", "l", "1", "2")
    assert pair.figures()["rdb_changes_since_last_save"] == "4"
    assert pair.call("SAVE") == ("+", b"OK")
    assert pair.figures()["rdb_changes_since_last_save"] == "0"
    pair.call("SET", "a", "c")
    assert pair.call("BGSAVE") == ("+", b"Background saving started")
    pair.await_end_of_save()
    assert pair.figures()["rdb_saves"] == "2"
    pair.call("MULTI")
    pair.call("BGSAVE")
    assert pair.call("EXEC") == ("*", [("+", b"Background saving scheduled")])
    for server in pair.servers:
        wait_for(lambda: persistence(server)["rdb_saves"] == "3")  # noqa: B023
    pair.await_end_of_save()
    pair.figures()
    pair.call("FLUSHALL")
    pair.figures()


def test_wrong_arguments_are_refused_alike(pair: Pair) -> None:
    pair.call("BGSAVE", "NOW")
    pair.call("BGSAVE", "SCHEDULE", "SCHEDULE")
    pair.call("SAVE", "x")
    pair.call("LASTSAVE", "x")
    pair.call("DEBUG", "RELOAD", "x")
    pair.call("MULTI")
    pair.call("SAVE")
    pair.call("EXEC")
    pair.figures()


def test_failed_saves_refuse_writes_alike(pair: Pair) -> None:
    pair.make_saving_fail()
    pair.call("SET", "a", "b")
    assert pair.call("SAVE") == ("-", b"ERR")
    pair.call("SET", "a", "c")
    pair.figures()
    pair.call("BGSAVE")
    pair.await_end_of_save()
    assert pair.figures()["rdb_last_bgsave_status"] == "err"
    for words in ("SET a d", "PING", "XADD s * f v", "FLUSHALL", "BLPOP none 0.01"):
        pair.call(*words.split())
    assert is_misconf(pair.call("SET", "a", "d"))
    for words in ("GET a", "ECHO x", "XREAD STREAMS s 0", "SELECT 1", "SELECT 0"):
        assert not is_misconf(pair.call(*words.split()))
    pair.call("MULTI")
    pair.call("SET", "a", "d")
    pair.call("EXEC")
    pair.call("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
    assert pair.call("SET", "a", "e") == ("+", b"OK")
    pair.call("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes")
    assert is_misconf(pair.call("SET", "a", "f"))
    pair.call("CONFIG", "SET", "save", "")
    assert pair.call("SET", "a", "f") == ("+", b"OK")
    pair.call("CONFIG", "SET", "save", "3600 1000000")
    assert pair.call("DEBUG", "RELOAD") == ("-", b"ERR")
    assert pair.call("GET", "a") == ("$", b"f")
    pair.make_saving_work()
    assert pair.call("SAVE") == ("+", b"OK")
    assert pair.call("SET", "a", "g") == ("+", b"OK")
    pair.figures()


def test_a_server_that_cannot_save_does_not_shut_down(pair: Pair) -> None:
    pair.make_saving_fail()
    pair.call("SET", "a", "b")
    assert pair.call("SHUTDOWN") == ("-", b"ERR Errors trying to SHUTDOWN. Check logs.")
    pair.call("SHUTDOWN", "SAVE")
    assert pair.call("GET", "a") == ("$", b"b")
    pair.shut_down("NOSAVE")


def test_each_server_starts_on_the_other_s_snapshot(pair: Pair) -> None:
    pair.call("SET", "a", "b")
    pair.call("XADD", "s", "1-1", "f", "v")
    pair.call("XGROUP", "CREATE", "s", "g", "0")
    pair.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    pair.call("SET", "later", "x", "EX", "1000")
    pair.call("DEBUG", "RELOAD")
    assert pair.figures()["rdb_last_load_keys_loaded"] == "3"
    pair.shut_down()
    pair.folders.reverse()  # each starts on the other's folder
    pair.start()
    pair.figures()
    pair.call("DEBUG", "DIGEST")
    for words in ("GET a", "XRANGE s - +", "XPENDING s g", "DBSIZE"):
        assert pair.call(*words.split())[1]


def test_a_save_point_saves(tmp_path: Path) -> None:
    pair = Pair(tmp_path, "--save", "1", "1")
    try:
        pair.call("SET", "a", "b")
        for folder in pair.folders:
            wait_for((folder / "dump.rdb").exists)
        pair.await_end_of_save()
        pair.figures()
    finally:
        pair.stop()
