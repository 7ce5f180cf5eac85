"""A server that a test can kill, and that comes back with its data."""

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
    """A server that has on disk whatever it has acknowledged."""

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
        """Kill it, as a power failure would."""
        self._process.kill()
        self._process.wait()

    def away(self, connections: int) -> None:
        """Listen on its port while it is away, until that many connections were refused."""
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            for _ in range(connections):
                listener.accept()[0].close()


@pytest.fixture(params=["penstock", "redis"])
def restarted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restarted]:
    """A server that the test may kill."""
    ours = request.param == "penstock"
    server = Restarted(penstock_command() if ours else [redis_tool("redis-server")], tmp_path)
    yield server
    server.kill()
    server.client.close()
