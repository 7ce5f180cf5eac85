"""A server with real sockets, in the event loop of the test."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, chdir, contextmanager, suppress
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pytest
import uvloop

from server.app import Server
from server.config.parameters import Config
from tests.ports import free_port
from tests.worth import SLOW

ROOT = Path(__file__).parents[2]
LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
LIMIT_S = 60  # a test that waits for ever ends; a busy machine is no fault
Test: TypeAlias = Callable[..., Coroutine[Any, Any, None]]


class Running:
    """A server that listens, and ways to reach it."""

    def __init__(self, server: Server, port: int) -> None:
        self.server = server
        self.port = port
        self._opened: list[asyncio.StreamWriter] = []

    async def connect(self) -> Streams:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._opened.append(writer)
        return reader, writer

    async def leave(self) -> None:
        for writer in self._opened:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def until(self, fact: Callable[[], bool]) -> None:
        """Let the loop turn until *fact* holds. The test's time limit ends a wait in vain."""
        while not fact():
            await asyncio.sleep(0.001)

    @property
    def waiting(self) -> int:
        return self.server.state.blocking.waiting


@asynccontextmanager
async def running(**parameters: Any) -> AsyncIterator[Running]:
    config = Config()
    port = free_port()
    for name, value in {"port": port, "bind": ["127.0.0.1"], "save": [], **parameters}.items():
        setattr(config, name, value)
    server = Server(config)
    asyncio.get_running_loop().set_exception_handler(server.loop_failed)
    with elsewhere():
        await server.start()
        instance = Running(server, port)
        try:
            yield instance
        finally:
            await instance.leave()
            await server.stop()


@contextmanager
def elsewhere() -> Iterator[None]:
    """Leave the repository's folder: the data of a server that was run there are no test's."""
    if Path.cwd() != ROOT:
        yield
        return
    with TemporaryDirectory() as folder, chdir(folder):
        yield


async def ask(streams: Streams, request: bytes, size: int) -> bytes:
    """Send *request*. Returns the first *size* bytes of the answer."""
    streams[1].write(request)
    return await streams[0].readexactly(size)


def logged() -> bytes:
    """The bytes of the append-only file in the working directory."""
    return Path("appendonlydir/appendonly.aof.1.incr.aof").read_bytes()


def snapshot() -> bytes:
    """The bytes of dump.rdb in the working directory; b"" if there is none."""
    path = Path("dump.rdb")
    return path.read_bytes() if path.exists() else b""


def on_each_loop(test: Test) -> Test:
    """Run an async test on each of LOOPS, with each backend of sockets, for LIMIT_S at most.

    Where the server is slow, on uvloop only; but other Pythons than 3.11 have another asyncio.
    """

    @wraps(test)
    async def limited(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(LIMIT_S):
            await test(*args, **kwargs)

    with_sockets = pytest.mark.usefixtures("sockets")(limited)
    is_main_python = sys.version_info[:2] == (3, 11)
    loops = ["uvloop"] if SLOW and is_main_python else sorted(LOOPS)
    return pytest.mark.asyncio(loop_factories=loops)(with_sockets)  # type: ignore[no-any-return]
