"""The servers that are compared, and the versions of RESP."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.compat.oracles import REDIS_7, Oracles
from tests.compat.processes import FOR_REDIS_7_0, ServerProcess, penstock_command, rest_after


@pytest.fixture(scope="session")
def penstock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The server under test."""
    folder = tmp_path_factory.mktemp("penstock")
    options = () if os.environ.get("PENSTOCK_COMMAND") else FOR_REDIS_7_0
    server = ServerProcess(penstock_command(), folder, *options)
    yield server
    server.stop()


@pytest.fixture(
    scope="session", params=[("uvloop", 2), ("asyncio", 3)], ids=["uvloop-resp2", "asyncio-resp3"]
)
def penstock_on_loop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServerProcess, int]]:
    """The server under test on each event loop, which serves the sockets too; and a protocol.

    One protocol for each loop is enough: what is asked here is of the sockets.
    """
    loop, protocol = request.param
    if os.environ.get("PENSTOCK_COMMAND"):
        pytest.skip("PENSTOCK_COMMAND says what is compared")
    command = ["env", "PENSTOCK_SOCKETS=asyncio", *penstock_command()]
    folder = tmp_path_factory.mktemp(f"penstock-{loop}")
    server = ServerProcess(command, folder, "--event-loop", loop, *FOR_REDIS_7_0)
    yield server, protocol
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


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    rest_after(item, nextitem)
