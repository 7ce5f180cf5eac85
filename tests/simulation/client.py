"""A client in a world: RESP over the simulated network."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import hiredis

from tests.simulation.host import PORT
from tests.simulation.network import End, Network


class Wire(asyncio.Protocol):
    """A connection to a server; commands may be sent before the replies to others have come."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader()
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self.end: End
        self.is_lost = False

    @staticmethod
    async def open(network: Network, name: str, host: str) -> Wire:
        """A connection from the host *name* to that server. Raises OSError."""
        wire = Wire()
        wire.end = await network.connect(name, host, PORT)
        wire.end.attach(wire)
        return wire

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(reply)

    def connection_lost(self, _error: Exception | None) -> None:
        self.is_lost = True
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(ConnectionResetError("the connection is lost"))

    def send(self, *words: bytes | str | int) -> asyncio.Future[Any]:
        """Send a command; its reply comes as the future's result, an error reply included."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self.is_lost:
            future.set_exception(ConnectionResetError("the connection is lost"))
            return future
        pack: Any = hiredis.pack_command  # its type hint allows one word only
        self._waiting.append(future)
        self.end.write(pack(words))
        return future

    async def call(self, *words: bytes | str | int, timeout_s: float = 5.0) -> Any:
        """The reply; an error reply is returned. Raises OSError: it has executed it, or not."""
        return await asyncio.wait_for(self.send(*words), timeout_s)

    def close(self) -> None:
        if not self.is_lost:
            self.end.abort()


def is_error(reply: Any) -> bool:
    """Whether *reply* is an error."""
    return isinstance(reply, Exception)
