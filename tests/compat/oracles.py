"""The servers ("oracles") whose answers Penstock's must equal. Each starts when first needed.

Redis 7.0 is the installed redis-server. Redis 8.0 and 8.6, and Valkey 9.1, come from ``make peers``
or from the folders in PENSTOCK_PEERS; where one is missing, the tests that need it are skipped.
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
REDIS_8_6 = "Redis 8.6"
VALKEY_9 = "Valkey 9.1"


class Oracles:
    """The running oracles. Their files are in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, ServerProcess] = {}

    def start(self, name: str) -> ServerProcess:
        """The oracle called *name*, started if needed. Skips the test if it is not installed."""
        if name not in self._running:
            command = command_of(name)
            folder = self._folder / name.replace(" ", "-")
            folder.mkdir()
            self._running[name] = ServerProcess(command, folder)
        return self._running[name]

    def stop(self) -> None:
        """Stop all of them."""
        for server in self._running.values():
            server.stop()


def command_of(name: str) -> list[str]:
    """The command that starts the oracle *name*. Skips the test if it is not installed."""
    if name == REDIS_7:
        return [redis_tool("redis-server")]
    if name not in _newer():
        pytest.skip(f"{name} is not there (make peers)")
    return _newer()[name]


@cache
def _newer() -> dict[str, list[str]]:
    """The commands of the newer servers, by names such as ``Redis 8.0``."""
    found = find_peers(known_folders())
    return {peer.name.rpartition(".")[0]: shlex.split(peer.command) for peer in found}
