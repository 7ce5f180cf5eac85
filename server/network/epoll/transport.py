"""One client's socket: bytes in, bytes out, and what the socket does not take at once.

                     receive                                  write
    reading   socket -------> connection.data_received ... connection -----> socket
    draining  socket <------- what it would not take before; nothing is read meanwhile

What the socket does not take is kept in the pieces that it is in, by reference. A piece goes when
all of it is taken:

    _pieces  [None, None, ...taken | not yet..., piece, piece]      _unsent: the bytes not taken
                          _first, of which _taken bytes are
"""

from __future__ import annotations

from select import EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP

from protocol.encoder import Encoder
from server.client import closed
from server.client.endpoint import Endpoint
from server.network.epoll import socket_calls
from server.network.epoll.selector import Selector
from server.network.transport import Transport

READING = EPOLLIN | EPOLLRDHUP | EPOLLET
DRAINING = EPOLLOUT
HELD = EPOLLET
HAS_ENDED = EPOLLRDHUP | EPOLLHUP | EPOLLERR


class EpollTransport(Transport):
    """Owns the socket *fd*, which must not block, until it is closed or broken."""

    __slots__ = (
        "_closing",
        "_endpoint",
        "_first",
        "_is_held",
        "_pieces",
        "_selector",
        "_taken",
        "_unsent",
    )

    def __init__(self, fd: int, address: str, local_address: str, selector: Selector) -> None:
        self.fd = fd
        self.address = address
        self.local_address = local_address
        self._selector = selector
        self._endpoint: Endpoint | None = None  # not open yet, or closed
        self._pieces: list[bytes | bytearray | None] = []
        self._first = 0  # which of them is the first that has not been taken whole
        self._taken = 0  # bytes of that one
        self._unsent = 0  # bytes in all
        self._closing = False
        self._is_held = False

    def open(self, endpoint: Endpoint) -> None:
        """Begin to read, for *endpoint*."""
        self._endpoint = endpoint
        self._selector.watch(self.fd, self, READING)

    def unsent(self) -> int:
        return self._unsent

    # ------------------------------------------------------------------ what the selector calls

    def ready(self, events: int) -> None:
        if self._unsent:
            self._drain()
        elif not (self._closing or self._is_held):
            self._receive(events)

    def _receive(self, events: int) -> None:
        """Take what has come: once, so that nobody else waits for long; the rest next turn."""
        endpoint = self._endpoint
        if endpoint is None:
            return
        if endpoint.wants_buffer:
            self._receive_into(endpoint, events)
            return
        try:
            data = socket_calls.receive(self.fd)
        except OSError:
            self.abort()
            return
        if data is None:
            return
        if not data:
            endpoint.eof_received()
            return
        endpoint.data_received(data)
        if len(data) == socket_calls.AT_ONCE or events & HAS_ENDED:
            self._look_again()

    def _receive_into(self, endpoint: Endpoint, events: int) -> None:
        """Take what has come of a long word, without a copy."""
        buffer = endpoint.get_buffer()
        room = len(buffer)
        try:
            size = socket_calls.receive_into(self.fd, buffer)
        except OSError:
            self.abort()
            return
        if size < 0:
            return
        if size == 0:
            endpoint.eof_received()
            return
        endpoint.buffer_updated(size)
        if size == room or events & HAS_ENDED:
            self._look_again()

    def _look_again(self) -> None:
        """There may be more to read than has been reported, or was taken."""
        if self._endpoint is not None and not self._unsent and not self._is_held:
            self._selector.expect(self.fd, READING)

    def _drain(self) -> None:
        self._send_pieces()
        if self._endpoint is None:
            return
        if self._unsent:
            self._endpoint.sent_some()
            return
        if self._closing:
            self.abort()
            return
        self._selector.expect(self.fd, HELD if self._is_held else READING)
        self._endpoint.resume_writing()

    def _send_pieces(self) -> None:
        """Send what the socket takes now: one call, so that nobody else waits for long."""
        try:
            taken = socket_calls.send_pieces(self.fd, self._pieces, self._first, self._taken)
        except OSError:
            self.abort()
            return
        self._unsent -= taken
        if self._unsent:
            self._pass_over(taken)
        else:
            self._pieces = []
            self._first = self._taken = 0

    def _pass_over(self, taken: int) -> None:
        """Let go of the pieces that have been taken with the last *taken* bytes."""
        left = taken
        while left:
            piece = self._pieces[self._first]
            assert piece is not None
            if left < len(piece) - self._taken:
                self._taken += left
                return
            left -= len(piece) - self._taken
            self._pieces[self._first] = None
            self._first += 1
            self._taken = 0

    # ------------------------------------------------------------------ what the connection calls

    def write(self, out: Encoder) -> None:
        if self._endpoint is None:
            out.clear()
        elif self._unsent:
            self._collect(out)
        elif out.in_pieces():
            self._collect(out)
            self._send_pieces()
            if self._unsent:
                self._await_room()
        else:
            self._send(out)

    def _send(self, out: Encoder) -> None:
        size = out.size()
        try:
            taken = socket_calls.send(self.fd, out.buffer, size)
        except OSError:
            self.abort()
            taken = size
        if taken == size:
            out.clear()
            return
        self._collect(out)
        self._unsent -= taken
        self._pass_over(taken)
        self._await_room()

    def _collect(self, out: Encoder) -> None:
        """Keep what *out* holds; it is empty then."""
        self._unsent += out.size()
        self._pieces += out.take_pieces()

    def _await_room(self) -> None:
        if self._endpoint is not None:
            self._selector.expect(self.fd, DRAINING)
            self._endpoint.pause_writing()

    def hold(self) -> None:
        self._is_held = True
        if self._endpoint is not None and not self._unsent:
            self._selector.expect(self.fd, HELD)

    def go_on(self) -> None:
        self._is_held = False
        self._look_again()

    def close(self) -> None:
        self._closing = True
        if not self._unsent:
            self.abort()

    def abort(self) -> None:
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            self._pieces = []
            self._first = self._taken = self._unsent = 0
            self._selector.forget(self.fd)
            socket_calls.close(self.fd)
            self.fd = -1
            closed.keep(self)
            closed.keep(endpoint)
            endpoint.connection_lost()
