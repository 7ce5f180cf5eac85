"""The server that the clients connect to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.processes import ServerProcess, penstock_command, rest_after


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Penstock, or the server that PENSTOCK_COMMAND names."""
    process = ServerProcess(penstock_command(), tmp_path_factory.mktemp("server"))
    yield process
    process.stop()


@pytest.fixture
def port(server: ServerProcess) -> Iterator[int]:
    """The port of an empty server, which is emptied again afterwards."""
    server.control.call(b"FLUSHALL")
    yield server.port
    server.control.call(b"CLIENT", b"UNPAUSE")
    server.control.call(b"FLUSHALL")


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def protocol(request: pytest.FixtureRequest) -> int:
    """The version of RESP that the clients speak."""
    version: int = request.param
    return version


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    rest_after(item, nextitem)
