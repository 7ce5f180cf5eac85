"""The servers that are compared, and the versions of RESP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.oracles import REDIS_7, Oracles
from tests.compat.processes import ServerProcess, penstock_command


@pytest.fixture(scope="session")
def penstock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The server under test."""
    server = ServerProcess(penstock_command(), tmp_path_factory.mktemp("penstock"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def oracles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracles]:
    """The servers whose answers Penstock's must equal."""
    started = Oracles(tmp_path_factory.mktemp("oracles"))
    yield started
    started.stop()


@pytest.fixture
def redis(oracles: Oracles) -> ServerProcess:
    """The installed redis-server, 7.0."""
    return oracles.start(REDIS_7)


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def protocol(request: pytest.FixtureRequest) -> int:
    """The version of RESP that the clients speak."""
    version: int = request.param
    return version
