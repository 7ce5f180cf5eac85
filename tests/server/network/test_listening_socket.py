"""What keeps a client from being accepted ends nothing, with each of the backends on each loop."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from server.network.listeners import backend
from tests.server.network.faces import StubAcceptor
from tests.server.running import on_each_loop


class Door:
    """A backend that listens at *sock*. *failures* are what would have ended the server."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.failures: list[dict[str, Any]] = []
        self._acceptor = StubAcceptor()
        self.came = self._acceptor.accepted
        self.backend = backend()

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: self.failures.append(context))
        self.backend.start(loop)
        self._door = self.backend.listen(self.sock, 16, self._acceptor)

    async def close(self) -> None:
        self._door.close()
        self.backend.stop()
        for _ in range(3):  # the loop closes what is its own when it turns
            await asyncio.sleep(0)
        assert self.failures == []

    def knock(self) -> socket.socket:
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(self.sock.getsockname())
        return client


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, sockets: str) -> Door:
    monkeypatch.setattr("server.network.listening_socket.RETRY_S", 0)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    return Door(sock)


async def until(fact: Callable[[], object]) -> None:
    """Let the loop turn until *fact* holds; a test that waits in vain is ended by its limit."""
    while not fact():
        await asyncio.sleep(0)


@contextmanager
def no_files_beyond(fd: int) -> Iterator[None]:
    """The process can open no file whose descriptor would be greater than *fd*."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (fd + 1, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@on_each_loop
async def test_the_listener_pauses_while_no_file_descriptor_is_free(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    """Else it would be told of that client again and again, and nobody else would be served."""
    await door.open()
    with door.knock() as client:
        with no_files_beyond(client.fileno()):
            await until(lambda: "cannot accept" in caplog.text)
        assert "cannot accept a client for now: Too many open files" in caplog.text
        await until(lambda: len(door.came) == 1)
    await door.close()


@on_each_loop
async def test_a_failed_accept_neither_ends_the_server_nor_locks_clients_out(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    """The loops' own servers did that. A network that goes down makes it fail too.

    CVE-2025-48367: in Redis, too, errors of accept kept clients out.
    """
    await door.open()
    door.sock.shutdown(socket.SHUT_RDWR)  # accept() says EINVAL from now on
    await until(lambda: "cannot accept a client for now: Invalid argument" in caplog.text)
    door.sock.listen()
    with door.knock():
        await until(lambda: len(door.came) == 1)
    await door.close()


@on_each_loop
async def test_a_listener_that_is_closed_while_it_pauses_stays_closed(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    await door.open()
    door.sock.shutdown(socket.SHUT_RDWR)
    await until(lambda: "cannot accept" in caplog.text)
    await door.close()
    for _ in range(3):
        await asyncio.sleep(0)
    assert door.failures == []
