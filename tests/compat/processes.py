"""Server processes for the tests: each starts on a free port and is stopped at the end.

PENSTOCK_COMMAND replaces ``python -m server``, for instance by ``redis-server``: then the suite
compares Redis with Redis, which tests the suite itself.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.compat.connection import Connection
from tests.compat.resp import Reply
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
START_S = 30.0
# Where nothing is waited for in time: 500 ticks a second, as below, take a tenth of a processor.
AT_REST = ("--hz", "10")
FOR_REDIS_7_0 = ("--rdb-oldest-reader", "7.0")  # files and payloads that it can read, too


_started: list[ServerProcess] = []


def rest_after(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Let the servers rest when the next test is of another folder, to which they are unknown."""
    if nextitem is None or item.path.parent not in nextitem.path.parents:
        for server in _started:
            if server.process.poll() is None:
                server.rest()


class ServerProcess:
    """A running server; ``version`` is the version that HELLO gives, as numbers."""

    def __init__(self, command: list[str], folder: Path, *options: str) -> None:
        self.port = free_port()
        self.log = folder / f"server-{self.port}.log"
        ours = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        ours += ["--hz", "500"]  # so often does Redis 7.0 check time-outs
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *ours, "--enable-debug-command", "yes", *options],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.control = self._connect()
        self.version = self._version()
        _started.append(self)

    def rest(self) -> None:
        """Nobody asks it any more, but it stays until the session ends: let its cron run rarely."""
        with contextlib.suppress(OSError):
            self.renew_control()
            self.control.call(b"CONFIG", b"SET", b"hz", b"1")

    def renew_control(self) -> None:
        """Connect again if the server has closed *control*: with *timeout*, it drops the idle."""
        if self.control.is_closed():
            self.control.close()
            self.control = self._connect()

    def _connect(self) -> Connection:
        """A connection, after PING is answered: a server listens before it has loaded its data."""
        deadline = time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(ConnectionError, TimeoutError):
                connection = Connection(self.port)
                if connection.call(b"PING") == ("+", b"PONG"):
                    return connection
                connection.close()
            time.sleep(0.02)
        self.process.kill()
        self.process.wait()
        pytest.fail(
            f"{self.process.args!r} does not answer PING: {self._last_words()}", pytrace=False
        )

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    def _version(self) -> tuple[int, ...]:
        kind, value = self.control.call(b"HELLO", b"2")
        if not isinstance(value, list):
            pytest.fail(f"HELLO 2 was answered by {kind}{value!r}")
        at = value.index(("$", b"version"))
        return tuple(int(part) for part in bulk(value[at + 1]).split(b"."))

    @property
    def is_7_0(self) -> bool:
        """Whether this is a Redis 7.0, which lacks features of 7.2 and 7.4 that Penstock has."""
        return self.version < (7, 2)

    def stop(self) -> None:
        """Stop the server. Fails the test if it had ended by itself before."""
        self.control.close()
        died = self.process.poll() is not None
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if died:
            pytest.fail(
                f"{self.process.args!r} ended too soon: {self._last_words()}", pytrace=False
            )


def bulk(reply: Reply) -> bytes:
    value = reply[1]
    assert isinstance(value, bytes), reply
    return value


def penstock_command() -> list[str]:
    return shlex.split(os.environ.get("PENSTOCK_COMMAND", "")) or [sys.executable, "-m", "server"]


def redis_tool(name: str) -> str:
    """The path of *name*, a program of Redis. Without it the test is skipped, or fails in CI."""
    path = shutil.which(name)
    if path is None:
        missing = f"{name} is not installed (apt-get install redis-server redis-tools)"
        if os.environ.get("CI"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    return path
