"""A server for the tests of this folder, whose clock they move; each test finds it empty."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from penstock.queues import asyncio as async_queues
from penstock.queues import threads, worker_words
from tests.package.testing.conftest import module_server, server

__all__ = ["module_server", "server"]


class WorkerClock:
    """What workers see of the module time: they measure by it how long a job has taken."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@pytest.fixture
def worker_clock(monkeypatch: pytest.MonkeyPatch) -> WorkerClock:
    """The clock of workers, which a test moves on as server.travel() moves that of the server."""
    clock = WorkerClock()
    for module in (async_queues, threads, worker_words):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def away() -> int:
    """The port of a server that is away: nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])
