"""A listening socket, which accepts clients."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from server.network.acceptor import Acceptor
from server.network.epoll import socket_calls
from server.network.epoll.selector import Selector
from server.network.epoll.transport import EpollTransport
from server.network.listening_socket import ListeningSocket
from server.network.sockets import address, is_wildcard, keep_alive, send_at_once
from server.process import faults

ACCEPTED_AT_ONCE = 100  # before other sockets get their turn


class Listener:
    """Listens at *sock*, and hands the transport of each client to *acceptor*.

    On Linux, a connection has the options of the socket that it came through. They are set there
    once, and again when tcp-keepalive has changed; clients that were waiting before that get them
    one by one.
    """

    __slots__ = (
        "_acceptor",
        "_address",
        "_are_late",
        "_is_unix",
        "_listening",
        "_own_keep_alive_s",
        "_selector",
        "_sock",
    )

    def __init__(
        self,
        sock: socket.socket,
        backlog: int,
        selector: Selector,
        acceptor: Acceptor,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._sock = sock
        self._selector = selector
        self._acceptor = acceptor
        self._own_keep_alive_s = 0  # what *sock* has
        self._are_late = False  # clients that wait connected before that was set
        self._is_unix = sock.family == socket.AF_UNIX
        name = sock.getsockname()
        # of its clients' sockets at this end; "" if these have to be asked
        self._address = "" if is_wildcard(sock.family, name) else address(sock.family, name)
        if not self._is_unix:
            send_at_once(sock)
            self._follow_config()
            self._are_late = False
        self._listening = ListeningSocket(sock, backlog, loop, selector, self.accept)

    def _follow_config(self) -> None:
        self._own_keep_alive_s = self._acceptor.keep_alive_s
        keep_alive(self._sock, self._own_keep_alive_s)
        self._are_late = True

    def accept(self) -> None:
        """Accept waiting clients, while descriptors last."""
        if not self._is_unix and self._acceptor.keep_alive_s != self._own_keep_alive_s:
            self._follow_config()
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                accepted = socket_calls.accept(self._sock.fileno())
            except ConnectionAbortedError:
                continue
            except (OSError, MemoryError) as error:
                self._listening.rest(error)
                return
            if accepted is None:
                self._are_late = False
                return
            fd, peer = accepted
            self._let_in(fd, peer)

    def _let_in(self, fd: int, peer: str) -> None:
        endpoint = None
        try:
            if self._are_late:
                with _borrowed(fd) as sock:
                    keep_alive(sock, self._own_keep_alive_s)
            local = self._address
            if not local:
                with _borrowed(fd) as sock:
                    local = address(sock.family, sock.getsockname())
            transport = EpollTransport(fd, peer or local, local, self._selector)
            endpoint = self._acceptor.connect(transport)
            transport.open(endpoint)
        except Exception as error:
            faults.report("letting a client in, who is turned away", error)
            os.close(fd)
            if endpoint is not None:
                endpoint.connection_lost()

    def close(self) -> None:
        """Stop listening."""
        self._listening.close()


@contextmanager
def _borrowed(fd: int) -> Iterator[socket.socket]:
    """The socket *fd*, which stays open."""
    sock = socket.socket(fileno=fd)
    try:
        yield sock
    finally:
        sock.detach()
