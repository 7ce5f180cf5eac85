"""A server that a test can kill and start again with its data."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import ConstantBackoff, NoBackoff
from redis.retry import Retry

from tests.compat.processes import ROOT, penstock_command, redis_tool
from tests.ports import free_port

SAFE = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")


class RestartableServer:
    """A server that has all acknowledged writes on disk."""

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

    def refuse(self, connections: int) -> None:
        """While the server is killed, close *connections* connections to its port at once."""
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            for _ in range(connections):
                listener.accept()[0].close()


@pytest.fixture(params=["penstock", "redis"])
def restarted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RestartableServer]:
    """A server that the test may kill."""
    ours = request.param == "penstock"
    server = RestartableServer(
        penstock_command() if ours else [redis_tool("redis-server")], tmp_path
    )
    yield server
    server.kill()
    server.client.close()
