"""The clients' sockets that are ready: one epoll instance holds them all, and one turn serves them.

    event loop  --add_reader-->  epoll  --->  clients' sockets

The loop, be it uvloop or asyncio's own, sees a single file: the epoll itself, which is readable
while one of its sockets has news. The news goes straight to the socket's transport, in compiled
code; timers, signals and listening sockets stay with the loop.

Sockets report news *once* (edge-triggered): a transport that does not take all there is asks to be
told again. That spares the kernel another look, after each turn, at every socket of that turn.

Source: epoll(7), https://man7.org/linux/man-pages/man7/epoll.7.html
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

from server.network.epoll import socket_calls
from server.network.transport import Transport
from server.process import faults

MANY = 8  # sockets ready at once: the server is busy
MOST_TURNS = 8  # in a row, before the loop has its own


class Selector:
    """Serves all sockets, on the loop that it is started on."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._transports: list[Transport | None] = []  # by file descriptor
        self._at_end: list[Callable[[], None]] = []
        self._in_turn = False

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        loop.add_reader(self._epoll.fileno(), self.turn)

    def stop(self) -> None:
        """Let go of every socket."""
        for transport in self._transports:
            if transport is not None:
                transport.abort()
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    # ------------------------------------------------------------------ what is watched

    def watch(self, fd: int, transport: Transport, events: int) -> None:
        """From now on tell *transport* of *events* at *fd*."""
        self._epoll.register(fd, events)
        self._transports += [None] * (fd + 1 - len(self._transports))
        self._transports[fd] = transport

    def expect(self, fd: int, events: int) -> None:
        """Tell of *events* from now on; if they are there already, at the next turn."""
        self._epoll.modify(fd, events)

    def forget(self, fd: int) -> None:
        """Tell nothing any more. To be called before *fd* is closed."""
        self._epoll.unregister(fd)
        self._transports[fd] = None

    # ------------------------------------------------------------------ turns

    def turn(self) -> None:
        """Let each socket that is ready do what it can; then do what waits for the turn's end.

        Where many were ready, some are again by now: then another turn follows at once.
        """
        for _ in range(MOST_TURNS):
            self._in_turn = True
            count = socket_calls.find_ready(self._epoll)
            for at in range(count):
                transport = self._transports[socket_calls.ready_fd(at)]
                if transport is not None:  # else it was closed in this very turn
                    self._tell(transport, socket_calls.ready_events(at))
            self._in_turn = False
            if self._at_end:
                self._end()
            if count < MANY:
                break

    def _tell(self, transport: Transport, events: int) -> None:
        try:
            transport.ready(events)
        except Exception as error:
            faults.report("serving a socket, which is closed", error)
            transport.abort()

    def at_end_of_turn(self, call: Callable[[], None]) -> None:
        """Call *call* when this turn is over; outside of one, when the loop's is."""
        if not self._in_turn and not self._at_end:
            self._loop.call_soon(self._end)
        self._at_end.append(call)

    def _end(self) -> None:
        calls, self._at_end = self._at_end, []
        for call in calls:
            call()
