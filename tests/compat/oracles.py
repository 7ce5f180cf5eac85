"""The servers whose answers are right, each started when it is first asked.

Redis 7.0 is the redis-server that is installed. Redis 8.0 and Valkey 9.1 are those of `make peers`,
or of the folders in PENSTOCK_PEERS; without them the tests that ask them are skipped.
"""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path

import pytest

from bench.peers import find_peers, known_folders
from tests.compat.processes import ServerProcess, redis_tool

REDIS_7 = "Redis 7.0"
REDIS_8 = "Redis 8.0"
VALKEY_9 = "Valkey 9.1"


class Oracles:
    """Those that run, by name. Their files are below *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, ServerProcess] = {}

    def start(self, name: str) -> ServerProcess:
        """The oracle of that name; the test is skipped if it is not there."""
        if name not in self._running:
            command = command_of(name)
            folder = self._folder / name.replace(" ", "-")
            folder.mkdir()
            self._running[name] = ServerProcess(command, folder)
        return self._running[name]

    def stop(self) -> None:
        """End all of them."""
        for server in self._running.values():
            server.stop()


def command_of(name: str) -> list[str]:
    """What starts the oracle of that name; the test is skipped if it is not there."""
    if name == REDIS_7:
        return [redis_tool("redis-server")]
    if name not in _newer():
        pytest.skip(f"{name} is not there (make peers)")
    return _newer()[name]


@cache
def _newer() -> dict[str, list[str]]:
    """The newer servers that are there, as ``Redis 8.0``, without the last number."""
    found = find_peers(known_folders())
    return {peer.name.rpartition(".")[0]: shlex.split(peer.command) for peer in found}
