"""Where the server listens, and how those who connect come in."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from select import EPOLLIN
from typing import Any, TypeAlias

from server.config.parameters import Config
from server.network.selector import Selector, Watcher
from server.process import faults

ACCEPTED_AT_ONCE = 100  # of one listener, before other sockets get their turn
RETRY_S = 1.0  # until the next try to accept, after the system had no file left for a client
NOT_FOR_US = (errno.EADDRINUSE, errno.EACCES)  # an address that is there, but cannot be had
NO_ROOM = 0  # what a listener expects meanwhile: nothing
EVERYWHERE = {"*": "0.0.0.0", "::*": "::"}  # noqa: S104  (where the configuration says so)

Connect: TypeAlias = Callable[[socket.socket], None]  # what to do with who has come

_log = logging.getLogger("penstock")


class Listener(Watcher):
    """A listening socket. *connect* is given the socket of each client."""

    def __init__(self, sock: socket.socket, selector: Selector, connect: Connect) -> None:
        self._sock = sock
        self._selector = selector
        self._connect = connect
        sock.setblocking(False)
        selector.watch(sock.fileno(), self, EPOLLIN)

    def ready(self, _events: int) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                sock, _ = self._sock.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except (OSError, MemoryError) as error:
                self._rest(error)
                return
            sock.setblocking(False)
            self._let_in(sock)

    def _let_in(self, sock: socket.socket) -> None:
        try:
            self._connect(sock)
        except Exception as error:
            faults.report("letting a client in, who is turned away", error)
            sock.close()

    def _rest(self, error: OSError | MemoryError) -> None:
        _log.error("cannot accept a client for now: %s", getattr(error, "strerror", "no memory"))
        self._selector.expect(self._sock.fileno(), NO_ROOM)
        asyncio.get_running_loop().call_later(RETRY_S, self._go_on)

    def _go_on(self) -> None:
        if self._sock.fileno() >= 0:
            self._selector.expect(self._sock.fileno(), EPOLLIN)

    def abort(self) -> None:
        """Stop listening."""
        if self._sock.fileno() >= 0:
            self._selector.forget(self._sock.fileno())
            self._sock.close()


class Listeners:
    """All of them, as the configuration wants them."""

    def __init__(self, config: Config, selector: Selector, connect: Connect) -> None:
        self._config = config
        self._selector = selector
        self._connect = connect
        self._listeners: list[Listener] = []
        self.descriptions: list[str] = []  # INFO server's lines
        self.kinds: list[str] = []  # tcp and unix, as the log has them

    async def open(self) -> None:
        """Listen wherever the configuration says. Raises OSError when that cannot be had."""
        if self._config.port:
            for address in self._config.bind:
                await self._listen_at(address)
            if self._listeners:
                self.kinds.append("tcp")
        if self._config.unixsocket:
            self._listen_on_path(Path(self._config.unixsocket))
            self.kinds.append("unix")
        if not self._listeners:
            raise OSError("No address to listen on: see 'bind', 'port' and 'unixsocket'")

    def close(self) -> None:
        """Listen no more."""
        for listener in self._listeners:
            listener.abort()
        if self._config.unixsocket:
            Path(self._config.unixsocket).unlink(missing_ok=True)

    async def _listen_at(self, address: str) -> None:
        """Listen on one address; with a dash before it, only if the machine has it."""
        host, port = address.removeprefix("-"), self._config.port
        try:
            for sock in await bound_sockets(host, port):
                self._add(sock)
        except OSError as error:
            if address.startswith("-") and error.errno not in NOT_FOR_US:
                return
            step = "" if isinstance(error, socket.gaierror) else "bind: "
            raise OSError(
                f"Could not create server TCP listening socket {host}:{port}: {step}"
                f"{error.strerror or error}. Failed listening on port {port} (tcp), aborting."
            ) from error
        self.descriptions.append(f"name=tcp,bind={host},port={port}")

    def _listen_on_path(self, path: Path) -> None:
        sock = socket.socket(socket.AF_UNIX)
        try:
            with contextlib.suppress(FileNotFoundError):
                if path.is_socket():
                    path.unlink()  # left behind by a server that was killed
            sock.bind(str(path))
            if self._config.unixsocketperm:
                path.chmod(self._config.unixsocketperm)
            self._add(sock)
        except OSError as error:
            sock.close()
            raise OSError(
                f"Failed opening Unix socket '{path.absolute()}': bind: {error.strerror or error}"
            ) from error
        self.descriptions.append(f"name=unix,bind={path}")

    def _add(self, sock: socket.socket) -> None:
        sock.listen(self._config.tcp_backlog)
        self._listeners.append(Listener(sock, self._selector, self._connect))


async def bound_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that *host* stands for. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(
        EVERYWHERE.get(host, host), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return [_bound(family, address) for family, _, _, _, address in dict.fromkeys(found)]


def _bound(family: int, address: Any) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # IPv4 has a socket of its own
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
    except OSError:
        sock.close()
        raise
    return sock
