"""The sockets that are ready: one epoll instance holds them all, and one turn serves them.

    event loop  --add_reader-->  epoll  --->  clients' sockets, listening sockets

The loop, be it uvloop or asyncio's own, sees a single file: the epoll itself, which is readable
while one of its sockets has news. The news goes straight to the socket's transport, in compiled
code; timers and signals stay with the loop.

The way through the loop costs as much as a small command, and a busy server finds few sockets ready
at once. So it stays here: as long as the loop's next timer is not due, a turn is followed by a wait
for the next one. A signal, or a call from another thread, ends the stay. After each stay the loop
has some turns for itself: it may have to turn twice until it has done what it was called for.

Clients' sockets report news *once* (edge-triggered): a transport that does not take all there is
asks to be told again. That spares the kernel another look, after each turn, at every socket of that
turn.

Source: epoll(7), https://man7.org/linux/man-pages/man7/epoll.7.html
"""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable
from functools import partial

from server.dispatch.turn import Turn
from server.network.epoll import socket_calls
from server.network.transport import Transport
from server.process import faults, ticks
from server.process.faults import ServerFault

NS_A_MS = 1_000_000
LONGEST_STAY_NS = 100 * NS_A_MS  # a signal that comes just before a wait is handled after it
TURNS_OF_THE_LOOP = 2  # after each stay: a signal wakes the loop, which wakes its handler


class Reader(Transport):
    """Makes a call whenever *fd*, which is somebody else's, has something to read."""

    def __init__(self, fd: int, call: Callable[[], None]) -> None:
        self.fd = fd
        self.address = self.local_address = ""
        self._call = call

    def ready(self, events: int) -> None:
        """Make the call. Raises ServerFault if it fails: no client is to blame."""
        try:
            self._call()
        except Exception as error:
            raise ServerFault("what is no client's socket was not served") from error

    def abort(self) -> None:
        """Nothing to do: the opener of the file closes it."""


class Selector:
    """Serves all sockets, on the loop that it is started on."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._fd = self._epoll.fileno()
        self._transports: list[Transport | None] = []  # by file descriptor
        self._turn: Turn | None = None
        self._loop_due_ns = 0  # by the monotonic clock
        self._leave_at_ns = 0
        self._turns_without_stay = 0
        self._calls_due = 0  # that the loop is to make before the selector stays
        self._loop_has_work = False  # as somebody has rung the bell for
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.add_reader(self._bell, self._bell_rang)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        loop.add_reader(self._fd, self.turn)

    def stop(self) -> None:
        """Let go of every socket."""
        self.remove_reader(self._bell)
        bell, self._bell = self._bell, -1
        os.close(bell)
        for transport in self._transports:
            if transport is not None:
                transport.abort()
        self._loop.remove_reader(self._fd)
        self._epoll.close()

    # ------------------------------------------------------------------ what is watched

    def watch(self, fd: int, transport: Transport, events: int) -> None:
        """From now on tell *transport* of *events* at *fd*."""
        socket_calls.watch(self._epoll, self._fd, fd, events)
        self._transports += [None] * (fd + 1 - len(self._transports))
        self._transports[fd] = transport

    def expect(self, fd: int, events: int) -> None:
        """Tell of *events* from now on; if they are there already, at the next turn."""
        socket_calls.expect(self._epoll, self._fd, fd, events)

    def forget(self, fd: int) -> None:
        """Tell nothing any more. To be called before *fd* is closed."""
        socket_calls.forget(self._epoll, self._fd, fd)
        self._transports[fd] = None

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        """Call *call* as long as there is something to read, as a loop's own add_reader does."""
        self.watch(fd, Reader(fd, call), select.EPOLLIN)

    def remove_reader(self, fd: int) -> None:
        """Call it no more. Does nothing if it is not watched."""
        if 0 <= fd < len(self._transports) and self._transports[fd] is not None:
            self.forget(fd)

    # ------------------------------------------------------------------ turns

    def tell_turns(self, turn: Turn) -> None:
        """From now on *turn* is told when sockets are served."""
        self._turn = turn
        turn.loop = self

    def turn(self) -> None:
        """Serve the sockets that are ready; then wait for more until the loop is due."""
        self._loop_has_work = False
        if self._turns_without_stay:
            self._turns_without_stay -= 1
            self._serve(0)
        elif self._serve(0):
            self._stay()

    def _serve(self, wait_ms: int) -> int:
        """Let each socket that is ready do what it can; then do what waits for the turn's end.

        Wait for *wait_ms* at most until one is ready; returns how many were.
        """
        count = socket_calls.find_ready(self._epoll, self._fd, wait_ms)
        turn = self._turn
        if turn is not None:
            turn.begin()
        for at in range(count):
            transport = self._transports[socket_calls.ready_fd(at)]
            if transport is not None:  # else it was closed in this very turn
                self._tell(transport, socket_calls.ready_events(at))
        if turn is not None:
            turn.end()
        return count

    def _tell(self, transport: Transport, events: int) -> None:
        try:
            transport.ready(events)
        except Exception as error:
            faults.report("serving a socket, which is closed", error)
            transport.abort()

    def call_soon(self, call: Callable[[], None]) -> None:
        """Have the loop make *call* when this turn is over, and stay away until it has."""
        self._calls_due += 1
        self._loop.call_soon(partial(self._call, call))

    def _call(self, call: Callable[[], None]) -> None:
        self._calls_due -= 1
        call()

    # ------------------------------------------------------------------ how long it may stay

    def _stay(self) -> None:
        """Wait for sockets and serve them, until it is the loop's turn, or none became ready."""
        self._leave_at_ns = ticks.now_ns() + LONGEST_STAY_NS
        wait_ms = self._ms_to_stay()
        if wait_ms:
            self._turns_without_stay = TURNS_OF_THE_LOOP
        while wait_ms and self._serve(wait_ms):
            wait_ms = self._ms_to_stay()

    def stay_until(self, loop_due_s: float) -> None:
        """The loop's next timer is due at *loop_due_s*, by the monotonic clock; 0: never stay."""
        self._loop_due_ns = int(loop_due_s * 1_000_000_000)

    def _ms_to_stay(self) -> int:
        """How many ms may be waited here, rounded up; 0: it is the loop's turn."""
        left = min(self._leave_at_ns, self._loop_due_ns) - ticks.now_ns()
        if left <= 0 or self._loop_has_work or self._calls_due:
            return 0
        return left // NS_A_MS + 1

    def ring(self) -> None:
        """The loop has something to do now. From any thread; does nothing after stop()."""
        if self._bell >= 0:
            os.eventfd_write(self._bell, 1)

    def _bell_rang(self) -> None:
        os.eventfd_read(self._bell)
        self._loop_has_work = True
