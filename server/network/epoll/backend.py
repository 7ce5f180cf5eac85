"""The epoll backend: a listener for each address, one selector for all clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from socket import socket

from server.dispatch.turn import Turn
from server.network.acceptor import Acceptor
from server.network.backend import Backend
from server.network.epoll.listener import Listener
from server.network.epoll.selector import Selector
from server.network.epoll.transport import EpollTransport
from server.network.sockets import address, keep_alive, send_at_once


class EpollBackend(Backend):
    """Serves TCP and unix sockets on Linux."""

    def __init__(self) -> None:
        self._selector = Selector()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._selector.start(loop)

    def listen(self, sock: socket, backlog: int, acceptor: Acceptor) -> Listener:
        return Listener(sock, backlog, self._selector, acceptor, self._loop)

    async def adopt(self, sock: socket, acceptor: Acceptor) -> None:
        send_at_once(sock)
        keep_alive(sock, acceptor.keep_alive_s)
        peer, local = sock.getpeername(), sock.getsockname()
        transport = EpollTransport(
            sock.fileno(), address(sock.family, peer), address(sock.family, local), self._selector
        )
        endpoint = acceptor.connect(transport)
        sock.detach()
        transport.open(endpoint)

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        self._selector.add_reader(fd, call)

    def remove_reader(self, fd: int) -> None:
        self._selector.remove_reader(fd)

    def tell_turns(self, turn: Turn) -> None:
        self._selector.tell_turns(turn)

    def call_soon(self, call: Callable[[], None]) -> None:
        self._selector.call_soon(call)

    def stay_until(self, loop_due_s: float) -> None:
        self._selector.stay_until(loop_due_s)

    def ring(self) -> None:
        self._selector.ring()

    def stop(self) -> None:
        self._selector.stop()
