"""A wall around each server, with a gate: all others reach it through the gate, until it is shut.

While a gate is shut, what is sent either way stays where it is, as on a network that drops packets:
nobody is told anything. When it is opened again, the links of before are broken, and new ones may
be made.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading

PIECE = 1 << 16


class Gate:
    """Leads from *port* to the server at *to_port*, while it is open."""

    def __init__(self, to_port: int) -> None:
        self.port = 0
        self._to_port = to_port
        self._open = asyncio.Event()
        self._open.set()
        self._links: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End all links, and listen no more."""
        self._server.close()
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    def shut(self) -> None:
        self._open.clear()

    def open(self) -> None:
        if not self._open.is_set():
            for link in self._links:
                link.cancel()
            self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        others: asyncio.StreamWriter | None = None
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._open.wait()
            other_reader, others = await asyncio.open_connection("127.0.0.1", self._to_port)
            ways = [self._pass(reader, others), self._pass(other_reader, writer)]
            await asyncio.gather(*ways)
        self._links.discard(task)
        for end in (writer, others):
            if end is not None:
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(PIECE):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionError  # the other way ends, too


class Walls:
    """Gates to servers, served by a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._gates: dict[int, Gate] = {}

    def build(self, to_port: int) -> int:
        """A gate to *to_port*; where it is."""

        async def make() -> Gate:
            gate = Gate(to_port)
            await gate.listen()
            return gate

        gate = asyncio.run_coroutine_threadsafe(make(), self._loop).result()
        self._gates[to_port] = gate
        return gate.port

    def shut(self, to_port: int) -> None:
        """Nobody reaches the server at *to_port* any more, nor does it answer."""
        self._loop.call_soon_threadsafe(self._gates[to_port].shut)

    def open(self, to_port: int) -> None:
        """They can, by new connections."""
        self._loop.call_soon_threadsafe(self._gates[to_port].open)

    def open_all(self) -> None:
        for port in self._gates:
            self.open(port)

    def close(self) -> None:
        """End the thread, when all servers have gone."""
        asyncio.run_coroutine_threadsafe(self._close_gates(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close_gates(self) -> None:
        for gate in self._gates.values():
            await gate.close()
        await asyncio.sleep(0)  # the transports of the links end
