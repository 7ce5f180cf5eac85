"""The pytest plugin: fixtures for a real server, emptied between tests. See docs/testing.md.

It is loaded by every run of pytest where Penstock is installed. So what it needs is imported when
somebody uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import redis
    import redis.asyncio

    from penstock.testing import PenstockServer
    from penstock.testing.pool import ServerPool

MARKER = (
    "penstock(options=[...], data=path, clock=time, socket='unix'|'tcp'): what the test's server"
    " differs in from the others; data is relative to the test's file"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("penstock_options", "Lines of redis.conf for the server", "linelist", [])
    parser.addini("penstock_data", "What the server begins with: dump.rdb, or a folder", default="")
    parser.addini(
        "penstock_clock", "The time at which it begins: ISO 8601 with a zone, or data", default=""
    )
    parser.addini("penstock_socket", "What penstock_url leads to: unix, or tcp", default="unix")
    group = parser.getgroup("penstock", "a Penstock server for tests")
    group.addoption("--penstock-option", action="append", default=[], metavar="LINE",
                    help="One more line of redis.conf for the server; may be repeated")  # fmt: skip
    group.addoption("--penstock-data", metavar="PATH", help="Overrides penstock_data")
    group.addoption("--penstock-clock", metavar="TIME", help="Overrides penstock_clock")
    group.addoption("--penstock-socket", choices=["unix", "tcp"],
                    help="Overrides penstock_socket")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


# ---------------------------------------------------------------------- servers


@pytest.fixture(scope="session")
def _penstock_pool(pytestconfig: pytest.Config) -> Iterator[ServerPool]:
    from penstock.testing.pool import ServerPool  # noqa: PLC0415

    pool = ServerPool(_settings(pytestconfig))
    yield pool
    pool.stop()


@pytest.fixture(scope="session")
def penstock_server(_penstock_pool: ServerPool) -> PenstockServer:
    """The server of the session, or of this worker of pytest-xdist. Nothing empties it.

    For fixtures of the session that need its address; tests use ``penstock``.
    """
    return _penstock_pool.default()


@pytest.fixture
def penstock(
    request: pytest.FixtureRequest, _penstock_pool: ServerPool
) -> Iterator[PenstockServer]:
    """The server, as it began: what a test changes in it is taken back when the test is over."""
    marker = request.node.get_closest_marker("penstock")
    if marker is None:
        server = _penstock_pool.default()
    else:
        server = _penstock_pool.with_changes(marker.kwargs, request.path.parent)
    server.begin_test()
    yield server
    server.reset()


@pytest.fixture
def penstock_url(penstock: PenstockServer) -> str:
    """Where a client finds the server: ``unix:///...`` or ``redis://127.0.0.1:port``."""
    return penstock.url


# ---------------------------------------------------------------------- clients


@pytest.fixture(scope="session")
def penstock_client_options() -> dict[str, Any]:
    """The arguments of both clients, for redis-py; override it: ``{"decode_responses": True}``."""
    return {}


@pytest.fixture
def penstock_client(
    penstock: PenstockServer, penstock_client_options: dict[str, Any]
) -> Iterator[redis.Redis]:
    """A client of redis-py, with an empty server."""
    with penstock.client(**penstock_client_options) as client:
        yield client
        client.connection_pool.disconnect()


@pytest.fixture
def penstock_async_client(
    penstock: PenstockServer, penstock_client_options: dict[str, Any]
) -> Iterator[redis.asyncio.Redis]:
    """An asyncio client of redis-py, with an empty server. It works in whatever loop a test has."""
    from penstock.testing.loops import ClientOfLoops  # noqa: PLC0415

    clients = ClientOfLoops(penstock, penstock_client_options)
    yield clients.client
    clients.close()


# ---------------------------------------------------------------------- settings


def _settings(config: pytest.Config) -> dict[str, Any]:
    """What the configuration file and the command line say, as arguments of PenstockServer."""
    where = config.inipath.parent if config.inipath else config.rootpath
    return {
        "options": [*config.getini("penstock_options"), *config.getoption("penstock_option")],
        "data": _path(config, where),
        "clock": config.getoption("penstock_clock") or config.getini("penstock_clock") or None,
        "socket": config.getoption("penstock_socket") or config.getini("penstock_socket"),
    }


def _path(config: pytest.Config, where: Path) -> Path | None:
    """The data: relative to the command's folder if the command names it, else to the file."""
    if given := config.getoption("penstock_data"):
        return Path(config.invocation_params.dir, given)
    return where / config.getini("penstock_data") if config.getini("penstock_data") else None
