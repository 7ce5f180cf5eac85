"""The two servers that are compared, and the protocols in which they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.processes import ServerProcess, penstock_command, redis_tool


@pytest.fixture(scope="session")
def penstock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The server under test."""
    server = ServerProcess(penstock_command(), tmp_path_factory.mktemp("penstock"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The redis-server whose answers are right."""
    server = ServerProcess([redis_tool("redis-server")], tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def protocol(request: pytest.FixtureRequest) -> int:
    """The version of RESP that the clients speak."""
    version: int = request.param
    return version
