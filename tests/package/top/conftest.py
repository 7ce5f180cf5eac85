"""A Penstock for the tests of this folder, other servers, and a screen. All begin empty."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import redis
from textual.pilot import Pilot

from penstock.testing import PenstockServer
from penstock.top.feed import Feed
from penstock.top.screens.app import Top
from penstock.top.server import Address
from tests.compat.oracles import REDIS_7, REDIS_8_6, VALKEY_9, Oracles
from tests.compat.processes import ROOT
from tests.package.testing.conftest import module_server, server
from tests.polling import until

__all__ = ["module_server", "server"]

PENSTOCK = "Penstock"
OTHERS = (REDIS_7, REDIS_8_6, VALKEY_9)


@pytest.fixture(scope="session")
def oracles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracles]:
    running = Oracles(tmp_path_factory.mktemp("peers"))
    yield running
    running.stop()


@pytest.fixture
def redis_port(oracles: Oracles) -> int:
    """That of an empty Redis 7.0."""
    return _emptied(oracles, REDIS_7)


@pytest.fixture(params=(PENSTOCK, *OTHERS))
def any_port(request: pytest.FixtureRequest, oracles: Oracles) -> int:
    """That of an empty server of each kind."""
    return _port_of(request, oracles)


@pytest.fixture(params=(PENSTOCK, REDIS_7))
def either_port(request: pytest.FixtureRequest, oracles: Oracles) -> int:
    """That of an empty Penstock, and of an empty Redis 7.0."""
    return _port_of(request, oracles)


def _port_of(request: pytest.FixtureRequest, oracles: Oracles) -> int:
    if request.param == PENSTOCK:
        server: PenstockServer = request.getfixturevalue("server")
        return server.port
    return _emptied(oracles, request.param)


def _emptied(oracles: Oracles, name: str) -> int:
    port = oracles.start(name).port
    with redis.Redis(port=port) as client:
        client.flushall()
    return port


@contextmanager
def running(port: int, folder: Path, *options: str) -> Iterator[redis.Redis]:
    """A Penstock at that port, as long as the block lasts, and a client of it."""
    command = [sys.executable, "-m", "server", "--port", str(port), "--bind", "127.0.0.1"]
    with (
        subprocess.Popen(
            [*command, "--save", "", "--dir", str(folder), *options],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        ) as process,
        redis.Redis(port=port, decode_responses=True) as client,
    ):
        try:
            until(client.ping, "a server that answers")
            yield client
        finally:
            process.terminate()
            process.wait()


def address(port: int, **options: str) -> Address:
    return Address(f"redis://127.0.0.1:{port}", **options)  # type: ignore[arg-type]


@asynccontextmanager
async def feeding(port: int, db: int = 0, **options: str) -> AsyncIterator[Feed]:
    """A feed that has looked once at everything."""
    feed = Feed(address(port, **options), db)
    try:
        while not feed.has_all:
            await feed.look()
        yield feed
    finally:
        await feed.close()


class Screen:
    """What a user sees and presses."""

    def __init__(self, app: Top, pilot: Pilot[None]) -> None:
        self.app = app
        self._pilot = pilot

    @property
    def text(self) -> str:
        """All that is to be read."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def type(self, line: str) -> None:
        """Fill in the line that is asked for."""
        await self.shows("▁▁▁▁▁▁▁▁")
        await self._pilot.press("ctrl+u", *line, "enter")

    async def looks_after(self, looks: int) -> None:
        """Wait for figures that are newer than those of so many looks."""
        figures = self.app.watch_feed.feed.figures
        await self.until(lambda: figures.looks > looks, "another look")

    async def click(self, widget: str, offset: tuple[int, int], times: int = 1) -> None:
        await self._pilot.click(widget, offset=offset, times=times)

    async def shows(self, *words: str) -> None:
        """Wait until the screen has all *words*."""
        await self.until(lambda: all(each in self.text for each in words), repr(words))

    async def shows_not(self, words: str) -> None:
        await self.until(lambda: words not in self.text, f"without {words!r}")

    async def until(self, fact: Callable[[], bool], what: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + 30
        while not fact():
            assert loop.time() < deadline, f"never came: {what}\n{self.text}"
            await self._pilot.pause(0.02)


@asynccontextmanager
async def screen_of(
    port: int,
    *,
    size: tuple[int, int] = (140, 30),
    waits: bool = True,
    read_only: bool = False,
    **options: str,
) -> AsyncIterator[Screen]:
    """The program on a screen of that size, after its first look."""
    app = Top(address(port, **options), 0, interval_s=0.25, read_only=read_only)
    async with app.run_test(size=size) as pilot:
        screen = Screen(app, pilot)
        if waits:
            await screen.until(lambda: app.is_ready, "the first look")
        yield screen
