"""A replica that a test plays by hand: it follows a server, and says how far it is when told to."""

from __future__ import annotations

from typing import Any

import hiredis

from tests.server.running import Running, Streams


class Peer:
    """A connection that sends commands and reads replies, one at a time or many."""

    def __init__(self, streams: Streams) -> None:
        self.reader, self.writer = streams
        self._replies = hiredis.Reader()

    @classmethod
    async def connect(cls, server: Running, *first: str) -> Peer:
        """Connect, and send the commands *first*, each of which must be answered by OK."""
        peer = cls(await server.connect())
        for line in first:
            assert await peer.ask(line) == b"OK"
        return peer

    def send(self, *lines: str) -> None:
        """Send one or more commands at once, as lines."""
        self.writer.write("".join(f"{line}\r\n" for line in lines).encode())

    async def read(self) -> Any:
        """The next reply; an error is its text with a "-" before it."""
        while (reply := self._replies.gets()) is False:
            data = await self.reader.read(1 << 16)
            if not data:
                raise EOFError
            self._replies.feed(data)
        return f"-{reply}" if isinstance(reply, hiredis.ReplyError) else reply

    async def read_all(self, count: int) -> list[Any]:
        return [await self.read() for _ in range(count)]

    async def ask(self, line: str) -> Any:
        self.send(line)
        return await self.read()

    def has_nothing(self) -> bool:
        """Whether nothing has come that was not read."""
        return not self._replies.has_data() and not self.reader._buffer  # type: ignore[attr-defined]


class HandReplica(Peer):
    """Follows from where the history ends now, without a copy."""

    @classmethod
    async def follow(cls, server: Running, port: int = 0) -> HandReplica:
        """Begin. It says that it listens at *port*, unless that is 0."""
        replica = cls(await server.connect())
        if port:
            await replica.ask(f"REPLCONF listening-port {port}")
        # What is in the memory of other tests' servers would have it refused as an older Redis.
        await replica.ask("CONFIG SET repl-oldest-replica 8.8")
        name, offset = await replica.ask("CLIENT OFFSET")
        await replica.ask("REPLCONF capa psync2 capa penstock")
        replica.send(f"PSYNC {name.decode()} {offset + 1}")
        line = await replica.reader.readline()
        assert line.startswith(b"+CONTINUE"), line
        return replica

    def ack(self, offset: int, fsynced: int | None = None) -> None:
        """Say that all up to *offset* was run, and all up to *fsynced* is on disk."""
        self.send(f"REPLCONF ACK {offset}" + (f" FACK {fsynced}" if fsynced is not None else ""))


def offset_of(server: Running) -> int:
    """Where the server's history ends."""
    return server.server.state.replication.feed.offset()


async def until_held(server: Running, clients: int = 1) -> None:
    """Wait until replies of so many clients are held."""
    confirmations = server.server.state.replication.confirmations
    await server.until(lambda: confirmations.held_clients == clients)
