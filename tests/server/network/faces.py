"""Both backends of sockets over socket pairs, in turns that a test makes by hand."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.asyncio_backend import AsyncioBackend, AsyncioTransport
from server.network.transport import Transport
from tests.server.running import LOOPS


class StubAcceptor(Acceptor):
    """Gives each transport *endpoint*, and keeps them. Raises ZeroDivisionError if *is_broken*."""

    def __init__(self) -> None:
        Acceptor.__init__(self, Config())
        self.endpoint = Endpoint()
        self.accepted: list[Transport] = []
        self.is_broken = False

    def connect(self, transport: Transport) -> Endpoint:
        if self.is_broken:
            raise ZeroDivisionError
        self.accepted.append(transport)
        return self.endpoint


class EpollFace:
    """The selector of the epoll backend, on a loop that only does what it is called for."""

    def __init__(self) -> None:
        from server.network.epoll.selector import Selector  # noqa: PLC0415  (on Linux alone)

        self._selector = Selector()
        self._selector.start(self)  # type: ignore[arg-type]  # which needs no more of a loop
        self._soon: list[Callable[[], None]] = []
        self.tell_turns = self._selector.tell_turns

    def open(self, sock: socket.socket, endpoint: Endpoint) -> Transport:
        from server.network.epoll.transport import EpollTransport  # noqa: PLC0415

        transport = EpollTransport(sock.detach(), "", "", self._selector)
        transport.open(endpoint)
        return transport

    def turn(self) -> None:
        self._selector.turn()
        soon, self._soon = self._soon, []
        for call in soon:
            call()

    def call_soon(self, call: Callable[[], None]) -> None:
        self._soon.append(call)

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        """The test knows when the selector has something to do."""


class AsyncioFace:
    """The asyncio backend on *loop*. *failures* are what would have ended the server."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.failures: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: self.failures.append(context))
        self._acceptor = StubAcceptor()
        self._backend = AsyncioBackend()
        self._backend.start(loop)
        self.tell_turns = self._backend.tell_turns

    def open(self, sock: socket.socket, endpoint: Endpoint) -> Transport:
        self._acceptor.endpoint = endpoint
        transport = AsyncioTransport(self._backend, self._acceptor)
        self._loop.run_until_complete(self._loop.connect_accepted_socket(lambda: transport, sock))
        return transport

    def turn(self) -> None:
        """Let the loop look at its sockets, and make the calls that follow from what it finds."""
        for _ in range(3):
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()

    def end(self) -> None:
        """Close what is open. Nothing may have got as far as the loop."""
        self._backend.stop()
        self.turn()
        assert self.failures == []


Face = EpollFace | AsyncioFace


@contextmanager
def _asyncio_face(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> Iterator[AsyncioFace]:
    with closing(make_loop()) as loop:
        face = AsyncioFace(loop)
        yield face
        face.end()


@contextmanager
def opened_face(name: str) -> Iterator[Face]:
    """The epoll backend, or asyncio's on one of LOOPS."""
    if name == "epoll":
        yield EpollFace()
    else:
        with _asyncio_face(LOOPS[name.removeprefix("asyncio on ")]) as face:
            yield face


FACES = ["epoll", *(f"asyncio on {loop}" for loop in sorted(LOOPS))]
