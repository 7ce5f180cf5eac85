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


class EpollBackend(Backend):
    """Serves TCP and unix sockets on Linux."""

    def __init__(self) -> None:
        self._selector = Selector()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._selector.start(loop)

    def listen(self, sock: socket, backlog: int, acceptor: Acceptor) -> Listener:
        return Listener(sock, backlog, self._selector, acceptor, self._loop)

    def tell_turns(self, turn: Turn) -> None:
        self._selector.tell_turns(turn)

    def call_soon(self, call: Callable[[], None]) -> None:
        self._loop.call_soon(call)
        self._selector.ring()

    def stay_until(self, loop_due_s: float) -> None:
        self._selector.stay_until(loop_due_s)

    def ring(self) -> None:
        self._selector.ring()

    def stop(self) -> None:
        self._selector.stop()
