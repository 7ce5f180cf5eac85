"""The asyncio backend: the event loop's own transports.

It serves where there is no epoll, as on macOS. On each connection an AsyncioTransport stands
between the two sides:

    the loop's     -- BufferedProtocol -->                     -- Endpoint -->
    transport      <------ Transport -----   AsyncioTransport  <- Transport --   Connection
                           (asyncio's)                          (the server's)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from socket import AF_UNIX, socket
from typing import cast

from protocol.encoder import Encoder
from server.client import closed
from server.client.endpoint import Endpoint
from server.dispatch.turn import Turn
from server.network.acceptor import Acceptor
from server.network.backend import Backend
from server.network.listening_socket import ListeningSocket
from server.network.send_queue import SendQueue
from server.network.sockets import address, keep_alive, send_at_once
from server.network.transport import Transport
from server.process import faults

ACCEPTED_AT_ONCE = 100  # before other sockets get their turn
AT_ONCE = 64 * 1024  # bytes that are received at most with one call, but for long words
TURNED_AWAY = "letting a client in, who is turned away"
PORTION = 1024 * 1024  # bytes of a long reply that the loop's transport is given at once

# What has come is received here, whichever the socket, and read before the next is.
_arrived = memoryview(bytearray(AT_ONCE))


class AsyncioBackend(Backend):
    """Serves TCP and unix sockets on any event loop."""

    def __init__(self) -> None:
        self.transports: set[AsyncioTransport] = set()  # the open ones

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def listen(self, sock: socket, backlog: int, acceptor: Acceptor) -> AsyncioListener:
        return AsyncioListener(sock, backlog, self, acceptor)

    async def adopt(self, sock: socket, acceptor: Acceptor) -> None:
        transport = AsyncioTransport(self, acceptor)
        await self.loop.connect_accepted_socket(lambda: transport, sock)

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        self.loop.add_reader(fd, call)

    def remove_reader(self, fd: int) -> None:
        self.loop.remove_reader(fd)

    def tell_turns(self, turn: Turn) -> None:
        turn.loop = self  # before it looks at its sockets again

    def call_soon(self, call: Callable[[], None]) -> None:
        self.loop.call_soon(call)

    def stay_until(self, loop_due_s: float) -> None:
        """Nothing to do: only the loop waits."""

    def ring(self) -> None:
        """Nothing to do: the loop notices by itself."""

    def stop(self) -> None:
        for transport in list(self.transports):
            transport.abort()


class AsyncioListener:
    """Listens at *sock*, and lets clients in.

    A loop's own server does not do for that. Of errors that it does not expect, asyncio's ends the
    accepting, uvloop's closes itself without a word; and when there are no files left, uvloop's
    disconnects the clients that wait.
    """

    def __init__(
        self, sock: socket, backlog: int, backend: AsyncioBackend, acceptor: Acceptor
    ) -> None:
        self._backend = backend
        self._acceptor = acceptor
        self._coming: set[asyncio.Task[None]] = set()  # the loop alone would not keep them
        self._listening = ListeningSocket(sock, backlog, backend.loop, backend.loop, self._accept)

    def _accept(self) -> None:
        """Accept waiting clients, while descriptors last."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                client, _address = self._listening.sock.accept()
                task = self._backend.loop.create_task(self._serve(client))
                self._coming.add(task)
                task.add_done_callback(self._coming.discard)
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue
            except (OSError, MemoryError) as error:
                self._listening.rest(error)
                return

    async def _serve(self, sock: socket) -> None:
        transport = AsyncioTransport(self._backend, self._acceptor)
        try:
            await self._backend.loop.connect_accepted_socket(lambda: transport, sock)
        except Exception as error:
            faults.report(TURNED_AWAY, error)
            sock.close()

    def close(self) -> None:
        """Stop listening."""
        self._listening.close()


class AsyncioTransport(Transport, asyncio.BufferedProtocol):
    """A protocol for the loop, a transport for the connection.

    The loop's transport tells when it has sent all that it was given, and nothing before. So a long
    reply is given to it in portions: memory is freed, and counted as free, while it is sent.

        _queue  -- a portion -->  the loop's transport  ---->  socket
                                  pauses when the socket is full
    """

    __slots__ = (
        "_acceptor",
        "_backend",
        "_endpoint",
        "_is_closing",
        "_is_direct",
        "_is_paused",
        "_loops",
        "_queue",
    )

    def __init__(self, backend: AsyncioBackend, acceptor: Acceptor) -> None:
        self.fd = -1
        self.address = self.local_address = ""
        self._acceptor = acceptor
        self._backend = backend
        self._loops: asyncio.Transport  # the loop's own transport
        self._endpoint: Endpoint | None = None  # not open yet, or closed
        self._is_direct = False  # what comes is received into the endpoint's buffer
        self._is_closing = False
        self._is_paused = False  # the loop's transport has not sent all that it was given
        self._queue = SendQueue()  # what that one has not been given yet

    # ------------------------------------------------------------------ what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._loops = cast(asyncio.Transport, transport)
        self._backend.transports.add(self)
        try:
            self._open()
        except Exception as error:
            faults.report(TURNED_AWAY, error)
            self.abort()

    def _open(self) -> None:
        self._loops.set_write_buffer_limits(high=0)
        sock = self._loops.get_extra_info("socket")
        self.fd = sock.fileno()
        self.local_address = address(sock.family, sock.getsockname())
        self.address = self.local_address
        if sock.family != AF_UNIX:
            self.address = address(sock.family, self._loops.get_extra_info("peername"))
            send_at_once(sock)
            if self._acceptor.keep_alive_s:
                keep_alive(sock, self._acceptor.keep_alive_s)
        self._endpoint = self._acceptor.connect(self)

    def get_buffer(self, _sizehint: int) -> memoryview:
        self._is_direct = self._endpoint is not None and self._endpoint.wants_buffer
        if self._endpoint is not None and self._is_direct:
            try:
                return self._endpoint.get_buffer()
            except Exception as error:
                self._fail(error)
        return _arrived

    def buffer_updated(self, size: int) -> None:
        endpoint = self._endpoint
        if endpoint is None or self._is_closing:
            return
        try:
            if self._is_direct:
                endpoint.buffer_updated(size)
            else:
                endpoint.data_received(bytes(_arrived[:size]))
        except Exception as error:
            self._fail(error)

    def eof_received(self) -> bool:
        """True: the transport stays open, for what has been answered is still to be sent."""
        try:
            if self._endpoint is not None:
                self._endpoint.eof_received()
        except Exception as error:
            self._fail(error)
        return True

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        """Resume after the loop's present call, during which it does not expect to be closed."""
        self._backend.loop.call_soon(self._portions_sent)

    def _portions_sent(self) -> None:
        """The loop's transport has sent all that it was given: give it the next portions."""
        self._is_paused = False
        try:
            self._write_portions()
            endpoint = self._endpoint
            if endpoint is None:
                return
            if self._is_paused:
                endpoint.sent_some()
            elif self._is_closing:
                self.close()
            else:
                endpoint.resume_writing()
        except Exception as error:
            self._fail(error)

    def connection_lost(self, _error: Exception | None) -> None:
        self._forget()

    def _fail(self, error: Exception) -> None:
        faults.report("serving a socket, which is closed", error)
        self.abort()

    # ------------------------------------------------------------------ what the connection calls

    def write(self, out: Encoder) -> None:
        endpoint = self._endpoint
        if endpoint is None:
            out.clear()
        elif self._is_paused:
            self._queue.add(out)
        else:
            if out.in_pieces():
                self._queue.add(out)
                self._write_portions()
            else:
                self._loops.write(out.take())
                self._notice_break()
            if self._is_paused and self._endpoint is not None:
                endpoint.pause_writing()

    def _write_portions(self) -> None:
        """Give the loop's transport one portion after the other, until the socket is full."""
        while self._queue.size and not self._is_paused:
            self._loops.write(self._queue.take(PORTION))
            self._notice_break()

    def _notice_break(self) -> None:
        """Take note if the last write has failed: the loop would report it in its next turn."""
        if self._loops.is_closing():
            self._forget()

    def unsent(self) -> int:
        if self._endpoint is None:
            return 0
        return self._queue.size + self._loops.get_write_buffer_size()

    def unsent_pieces(self) -> int:
        if self._endpoint is None:
            return 0
        return self._queue.piece_count() + (self._loops.get_write_buffer_size() > 0)

    def pause_reading(self) -> None:
        self._loops.pause_reading()

    def resume_reading(self) -> None:
        self._loops.resume_reading()

    def close(self) -> None:
        self._is_closing = True
        if not self._is_paused:
            self._loops.close()
            self._forget()
        elif self._endpoint is not None:
            self._loops.pause_reading()

    def abort(self) -> None:
        self._loops.abort()
        self._forget()

    def _forget(self) -> None:
        """The socket is closed, or the loop is about to close it."""
        endpoint, self._endpoint = self._endpoint, None
        self._backend.transports.discard(self)
        self._queue.clear()
        self.fd = -1
        if endpoint is not None:
            closed.keep(endpoint)
            self._backend.call_soon(closed.let_go)
            endpoint.connection_lost()
