"""One browser and one server for all tests of the console."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.browsing import Chromium, Console, chromium_path, shown_in
from tests.console.serving import ConsoleServer

HERE = str(Path(__file__).parent)


class Shared:
    """What is started once. It ends before tests of other folders: they have loops of their own."""

    def __init__(self) -> None:
        self.chromium = Chromium()
        self._server: ConsoleServer | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def server(self) -> ConsoleServer:
        if self._server is None:
            self._folder = tempfile.TemporaryDirectory()
            self._server = ConsoleServer(Path(self._folder.name))
        return self._server

    def close(self) -> None:
        self.chromium.close()
        if self._server is not None:
            self._server.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._server = self._folder = None


shared = Shared()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or not str(nextitem.path).startswith(HERE):
        shared.close()


@pytest.fixture
def chromium() -> Chromium:
    return shared.chromium


@pytest.fixture
def server() -> ConsoleServer:
    """The server, without any data."""
    chromium_path()  # without it the test is skipped before anything is started
    server = shared.server
    server.redis.flushall()
    return server


@pytest.fixture
def console(chromium: Chromium, server: ConsoleServer) -> Iterator[Console]:
    """A page that shows the server."""
    with shown_in(chromium.page, server) as page:
        yield page
