"""A simulated network: hosts, links between them, and connections.

    link          from one host to another: how long a piece takes, and whether it is cut
    connection    two ends; what one writes comes in order, in pieces, to the other

A piece waits while the link is cut, as TCP sends it again until somebody gives up: then both ends
are reset. Each end holds WINDOW bytes that the other has not read; the rest stays with its writer.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from random import Random
from typing import Any, Protocol

from tests.simulation.loop import WorldLoop

WINDOW = 64 * 1024
GIVES_UP_S = 20.0  # a connection over a link that is cut for so long is reset
CONNECTS_WITHIN_S = 5.0

DATA, END, RESET = "data", "end", "reset"


class Watcher(Protocol):
    """Is told what comes."""

    def note(self, kind: str, *what: object) -> None:
        """Take note of it."""


class Link:
    """One direction between two hosts."""

    def __init__(self) -> None:
        self.fastest_s, self.slowest_s = 0.0002, 0.003
        self.is_cut = False


class NamedSocket:
    """As much of a socket as the server looks at."""

    family = socket.AF_INET

    def __init__(self, own: tuple[str, int], peer: tuple[str, int]) -> None:
        self._own, self._peer = own, peer

    def getsockname(self) -> tuple[str, int]:
        return self._own

    def getpeername(self) -> tuple[str, int]:
        return self._peer

    def fileno(self) -> int:
        return self._own[1]

    def setsockopt(self, *_option: object) -> None:
        """There are no options."""


class End(asyncio.Transport):
    """One end of a connection."""

    def __init__(
        self, network: Network, host: str, own: tuple[str, int], peer: tuple[str, int]
    ) -> None:
        super().__init__({"socket": NamedSocket(own, peer), "peername": peer, "sockname": own})
        self.host = host
        self.other: End
        self._network = network
        self._loop = network.loop
        self._context: Context = copy_context()
        self._protocol: Any = None
        self._unsent = bytearray()  # that the window has no room for
        self._on_the_way: deque[tuple[float, str, bytes]] = deque()  # to the other end
        self._travelling = 0  # bytes there, and those that the other has not read
        self._arrived: deque[tuple[str, bytes]] = deque()  # here, while nobody reads
        self._pump: asyncio.TimerHandle | None = None
        self._last_s = 0.0
        self._high = WINDOW
        self._is_full = self._is_paused = self._is_closing = self._has_ended = False
        self.is_closed = False
        self._stuck_since_s = -1.0

    # ------------------------------------------------------------------ what a protocol calls

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = WINDOW if high is None else high

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def is_closing(self) -> bool:
        return self._is_closing

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._loop.call_soon(self._read, context=self._context)

    def write(self, data: Any) -> None:
        if self._is_closing or not data:
            return
        self._unsent += data
        self._send()
        if len(self._unsent) > self._high and not self._is_full:
            self._is_full = True
            self._protocol.pause_writing()

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._send()
            self._loop.call_soon(self._lose, None, context=self._context)

    def abort(self) -> None:
        if not self.is_closed:
            self._is_closing = True
            self._unsent.clear()
            self._on_the_way.clear()
            self._put(RESET, b"")
            self._loop.call_soon(self._lose, None, context=self._context)

    # ------------------------------------------------------------------ on the way

    def attach(self, protocol: Any) -> None:
        """*protocol* serves this end, as the process that runs now."""
        self._context = copy_context()
        self._protocol = protocol
        protocol.connection_made(self)
        self._loop.call_soon(self._read, context=self._context)

    def _send(self) -> None:
        while self._unsent and self._travelling < WINDOW:
            room = WINDOW - self._travelling
            size = min(len(self._unsent), room)
            if size > 1 and self._network.random.random() < self._network.breaks:
                size = self._network.random.randrange(1, size)
            piece = bytes(self._unsent[:size])
            del self._unsent[:size]
            self._travelling += size
            self._put(DATA, piece)
        if self._is_closing and not self._unsent and not self._has_ended:
            self._has_ended = True
            self._put(END, b"")

    def _put(self, kind: str, piece: bytes) -> None:
        delay_s = self._network.delay_s(self.host, self.other.host)
        self._last_s = max(self._loop.time() + delay_s, self._last_s)
        self._on_the_way.append((self._last_s, kind, piece))
        if self._pump is None:
            self._set_pump(self._last_s)

    def _set_pump(self, when_s: float) -> None:
        self._pump = self._loop.call_at(when_s, self._deliver, context=self._network.context)

    def _deliver(self) -> None:
        """What has been on the way for long enough arrives, unless the link is cut."""
        self._pump = None
        now_s = self._loop.time()
        while self._on_the_way:
            when_s, kind, piece = self._on_the_way[0]
            if when_s > now_s:
                self._set_pump(when_s)
                return
            if self._network.link(self.host, self.other.host).is_cut:
                self._wait(now_s)
                return
            self._stuck_since_s = -1.0
            self._on_the_way.popleft()
            self._network.watcher.note(kind, self.host, self.other.host, piece)
            self.other.arrive(kind, piece)

    def _wait(self, now_s: float) -> None:
        if self._stuck_since_s < 0:
            self._stuck_since_s = now_s
        if now_s - self._stuck_since_s > GIVES_UP_S:
            self._on_the_way.clear()
            self.fail()
            self.other.fail()
        else:
            self._set_pump(now_s + 0.2)

    def fail(self) -> None:
        """The connection is given up, or reset by somebody on the way."""
        if not self.is_closed:
            error = ConnectionResetError(104, "Connection reset by peer")
            self._loop.call_soon(self._lose, error, context=self._context)

    # ------------------------------------------------------------------ what comes

    def arrive(self, kind: str, piece: bytes) -> None:
        """The kernel of this end's host has got it."""
        if self.is_closed:
            if kind == DATA and not self._network.is_off(self.host):
                self.other.fail()
            return
        self._arrived.append((kind, piece))
        self._loop.call_soon(self._read, context=self._context)

    def _read(self) -> None:
        while self._arrived and self._protocol is not None and not self.is_closed:
            kind, piece = self._arrived[0]
            if kind == RESET:
                self._lose(ConnectionResetError(104, "Connection reset by peer"))
                return
            if self._is_paused or self._is_closing:
                return
            self._arrived.popleft()
            if kind == END:
                if not self._protocol.eof_received():
                    self.close()
                continue
            rest = self._feed(piece)
            self.other.was_read(len(piece) - len(rest))
            if rest:
                self._arrived.appendleft((DATA, rest))

    def _feed(self, piece: bytes) -> bytes:
        """Give *piece* to the protocol; what it does not read now."""
        protocol: Any = self._protocol
        if not isinstance(protocol, asyncio.BufferedProtocol):
            protocol.data_received(piece)
            return b""
        while piece and not self._is_paused and not self._is_closing:
            buffer: Any = protocol.get_buffer(-1)
            size = min(len(buffer), len(piece))
            buffer[:size] = piece[:size]
            piece = piece[size:]
            protocol.buffer_updated(size)
        return piece

    def was_read(self, size: int) -> None:
        """The other end has read *size* bytes: there is room for more."""
        self._travelling -= size
        if not self.is_closed and (self._unsent or self._is_closing):
            self._loop.call_soon(self._go_on, context=self._context)

    def _go_on(self) -> None:
        self._send()
        if self._is_full and not self._unsent:
            self._is_full = False
            self._protocol.resume_writing()

    def _lose(self, error: Exception | None) -> None:
        if self.is_closed:
            return
        self.is_closed = self._is_closing = True
        self._arrived.clear()
        self._network.ends.pop(self, None)
        if self._protocol is not None:
            self._protocol.connection_lost(error)

    def vanish(self, tells: bool) -> None:
        """Its process has died; *tells*: the kernel still lives, and resets the connection."""
        self.is_closed = self._is_closing = True
        self._arrived.clear()
        self._network.ends.pop(self, None)
        self._unsent.clear()
        self._on_the_way.clear()
        if tells:
            self._put(RESET, b"")


class Door:
    """Where a host listens: *accept* is called with each new end, as its process."""

    def __init__(
        self, network: Network, address: tuple[str, int], accept: Callable[[End], None]
    ) -> None:
        self._network = network
        self.address = address
        self.accept = accept
        self.context = copy_context()
        if address in network.doors:
            raise OSError(98, "Address already in use")
        network.doors[address] = self

    def close(self) -> None:
        if self._network.doors.get(self.address) is self:
            del self._network.doors[self.address]


class Network:
    """All links, doors and connections. Writes *breaks* into pieces with that probability."""

    def __init__(self, loop: WorldLoop, random: Random, watcher: Watcher) -> None:
        self.loop = loop
        self.random = random
        self.watcher = watcher
        self.context = copy_context()
        self.doors: dict[tuple[str, int], Door] = {}
        self.ends: dict[End, None] = {}  # in the order in which they were made
        self.breaks = 0.1
        self._links: dict[tuple[str, str], Link] = {}
        self._off: set[str] = set()
        self._last_port = 40000

    def link(self, one: str, other: str) -> Link:
        """The link from *one* to *other*."""
        return self._links.setdefault((one, other), Link())

    def delay_s(self, one: str, other: str) -> float:
        link = self.link(one, other)
        return self.random.uniform(link.fastest_s, link.slowest_s)

    def cut(self, one: str, other: str, is_cut: bool = True) -> None:
        """Cut the link in both directions, or mend it."""
        self.link(one, other).is_cut = self.link(other, one).is_cut = is_cut

    def slow(self, one: str, other: str, seconds: float) -> None:
        """Let all that goes between them take up to *seconds*; 0: as usual."""
        for link in (self.link(one, other), self.link(other, one)):
            link.slowest_s = seconds or Link().slowest_s

    def heal(self) -> None:
        """Mend all links."""
        self._links.clear()

    def reset(self, one: str, other: str) -> None:
        """Reset all connections between them."""
        for end in list(self.ends):
            if {end.host, end.other.host} == {one, other}:
                end.fail()

    def is_off(self, host: str) -> bool:
        return host in self._off

    def switch(self, host: str, is_off: bool) -> None:
        """The machine *host* has no power, or has it again."""
        (self._off.add if is_off else self._off.discard)(host)

    def die(self, host: str, tells: bool) -> None:
        """The process of *host* has died; *tells*: its kernel has not."""
        for door in [door for door in self.doors.values() if door.address[0] == host]:
            door.close()
        for end in [end for end in self.ends if end.host == host]:
            end.vanish(tells)

    async def connect(self, host: str, to: str, port: int) -> End:
        """A connection from *host* to *port* of *to*; its caller attaches a protocol.

        Raises OSError.
        """
        until_s = self.loop.time() + CONNECTS_WITHIN_S
        await asyncio.sleep(self.delay_s(host, to))
        while self.link(host, to).is_cut or self.link(to, host).is_cut or self.is_off(to):
            if self.loop.time() > until_s:
                raise TimeoutError(110, "Connection timed out")
            await asyncio.sleep(0.3)
        door = self.doors.get((to, port))
        if door is None:
            await asyncio.sleep(self.delay_s(to, host))
            raise ConnectionRefusedError(111, "Connection refused")
        self._last_port += 1
        own = (host, self._last_port)
        near, far = End(self, host, own, (to, port)), End(self, to, (to, port), own)
        near.other, far.other = far, near
        self.ends[near] = self.ends[far] = None
        self.loop.call_soon(door.accept, far, context=door.context)
        await asyncio.sleep(self.delay_s(to, host))
        return near
