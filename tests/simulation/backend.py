"""A server's sockets in a simulated network: the transports are those of the asyncio backend."""

from __future__ import annotations

import asyncio
from typing import Any

from server.network.acceptor import Acceptor
from server.network.asyncio_backend import AsyncioBackend, AsyncioTransport
from tests.simulation.network import Door, End, Network


class Unbound:
    """Where a server is to listen."""

    def __init__(self, port: int) -> None:
        self.port = port

    def close(self) -> None:
        """Nothing is open yet."""


class SimulatedBackend(AsyncioBackend):
    """Serves the host *host* of *network*."""

    def __init__(self, network: Network, host: str) -> None:
        super().__init__()
        self._network = network
        self._host = host
        self.transports: Any = Ordered()

    def bound(self, _host: str, port: int) -> list[Any]:
        return [Unbound(port)]

    def listen(self, sock: Any, _backlog: int, acceptor: Acceptor) -> Any:
        def accept(end: End) -> None:
            end.attach(AsyncioTransport(self, acceptor))

        return Door(self._network, (self._host, sock.port), accept)

    async def connected(self, host: str, port: int, _source: str) -> Any:
        return await self._network.connect(self._host, host, port)

    async def adopt(self, sock: Any, acceptor: Acceptor) -> None:
        sock.attach(AsyncioTransport(self, acceptor))

    def add_reader(self, _fd: int, _call: Any) -> None:
        raise NotImplementedError("copies without a file are not simulated")

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop


class Ordered(dict[Any, None]):
    """A set in the order in which things were added, so that a world can be repeated."""

    def add(self, thing: Any) -> None:
        self[thing] = None

    def discard(self, thing: Any) -> None:
        self.pop(thing, None)
