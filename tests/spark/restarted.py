"""A server of a test's own, which can be ended and comes back with what it had."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import ConstantBackoff, NoBackoff
from redis.retry import Retry

from tests.compat.processes import ROOT, free_port, penstock_command, redis_tool

SAFE = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")


class Restarted:
    """Keeps what it has acknowledged on disk, whatever ends it."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.port = free_port()
        self.at = {"host": "127.0.0.1", "port": str(self.port)}
        self.client = redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0))
        self._words = [*command, "--port", str(self.port), "--dir", str(folder), *SAFE]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._words, cwd=ROOT, stdout=subprocess.DEVNULL)
        with redis.Redis(port=self.port, retry=Retry(ConstantBackoff(0.02), 1_000)) as patient:
            patient.ping()

    def kill(self) -> None:
        """End it as a power failure would."""
        self._process.kill()
        self._process.wait()

    def away(self, connections: int) -> None:
        """Stand in its place while it is away, until so many connections were turned down."""
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            for _ in range(connections):
                listener.accept()[0].close()


@pytest.fixture(params=["penstock", "redis"])
def restarted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restarted]:
    """A server that a test may end."""
    ours = request.param == "penstock"
    server = Restarted(penstock_command() if ours else [redis_tool("redis-server")], tmp_path)
    yield server
    server.kill()
    server.client.close()
