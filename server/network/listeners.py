"""Where the server listens, and which backend serves those who connect there."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from pathlib import Path
from typing import Any

from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.backend import Backend
from server.process import build

NOT_FOR_US = (errno.EADDRINUSE, errno.EACCES)  # an address that is there, but cannot be had
EVERYWHERE = {"*": "0.0.0.0", "::*": "::"}  # noqa: S104  (where the configuration says so)


def backend(acceptor: Acceptor) -> Backend:
    """The backend for this machine: epoll where the system has it, else asyncio."""
    if build.uses_epoll():
        from server.network.epoll.backend import EpollBackend  # noqa: PLC0415  (on Linux alone)

        return EpollBackend(acceptor)
    from server.network.asyncio_backend import AsyncioBackend  # noqa: PLC0415  (one is enough)

    return AsyncioBackend(acceptor)


class Listeners:
    """All of them, as the configuration wants them."""

    def __init__(self, config: Config, serving: Backend) -> None:
        self._config = config
        self._backend = serving
        self.descriptions: list[str] = []  # INFO server's lines
        self.kinds: list[str] = []  # tcp and unix, as the log has them

    async def open(self) -> None:
        """Listen wherever the configuration says. Raises OSError when that cannot be had."""
        if self._config.port:
            for address in self._config.bind:
                await self._listen_at(address)
            if self.descriptions:
                self.kinds.append("tcp")
        if self._config.unixsocket:
            await self._listen_on_path(Path(self._config.unixsocket))
            self.kinds.append("unix")
        if not self.kinds:
            raise OSError("No address to listen on: see 'bind', 'port' and 'unixsocket'")

    def close(self) -> None:
        """Listen no more."""
        self._backend.stop_listening()
        if self._config.unixsocket:
            Path(self._config.unixsocket).unlink(missing_ok=True)

    async def _listen_at(self, address: str) -> None:
        """Listen on one address; with a dash before it, only if the machine has it."""
        host, port = address.removeprefix("-"), self._config.port
        try:
            for sock in await bound_sockets(host, port):
                await self._backend.listen(sock, self._config.tcp_backlog)
        except OSError as error:
            if address.startswith("-") and error.errno not in NOT_FOR_US:
                return
            step = "" if isinstance(error, socket.gaierror) else "bind: "
            raise OSError(
                f"Could not create server TCP listening socket {host}:{port}: {step}"
                f"{error.strerror or error}. Failed listening on port {port} (tcp), aborting."
            ) from error
        self.descriptions.append(f"name=tcp,bind={host},port={port}")

    async def _listen_on_path(self, path: Path) -> None:
        try:
            sock = _bound_to_path(path, self._config.unixsocketperm)
            await self._backend.listen(sock, self._config.tcp_backlog)
        except OSError as error:
            raise OSError(
                f"Failed opening Unix socket '{Path.cwd() / path}': bind: {error.strerror or error}"
            ) from error
        self.descriptions.append(f"name=unix,bind={path}")


def _bound_to_path(path: Path, mode: int) -> socket.socket:
    """A socket bound to *path*, with *mode* unless that is 0. Raises OSError."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError):
            if path.is_socket():
                path.unlink()  # left behind by a server that was killed
        sock.bind(str(path))
        if mode:
            path.chmod(mode)
    except OSError:
        sock.close()
        raise
    return sock


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
