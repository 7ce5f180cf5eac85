"""One client's socket: bytes in, bytes out, and what the socket does not take at once.

                     receive                                  write
    reading   socket -------> connection.data_received ... connection -----> socket
    draining  as open, but what is written is queued after what the socket would not take before

A client that does not take its replies is read from nevertheless: what it holds by that is limited
by others (see server/network/connection.py).
"""

from __future__ import annotations

from select import EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP

from protocol.encoder import Encoder
from server.client import closed
from server.client.endpoint import Endpoint
from server.network.epoll import socket_calls
from server.network.epoll.selector import Selector
from server.network.send_queue import SendQueue
from server.network.transport import Transport

READING = EPOLLIN | EPOLLRDHUP | EPOLLET
DRAINING = EPOLLOUT | EPOLLIN | EPOLLRDHUP
ONLY_DRAINING = EPOLLOUT
HELD = EPOLLET
MAY_SEND = EPOLLOUT | EPOLLHUP | EPOLLERR
MAY_RECEIVE = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR
HAS_ENDED = EPOLLRDHUP | EPOLLHUP | EPOLLERR


class EpollTransport(Transport):
    """Owns the socket *fd*, which must not block, until it is closed or broken."""

    __slots__ = (
        "_closing",
        "_endpoint",
        "_is_held",
        "_queue",
        "_selector",
    )

    def __init__(self, fd: int, address: str, local_address: str, selector: Selector) -> None:
        self.fd = fd
        self.address = address
        self.local_address = local_address
        self._selector = selector
        self._endpoint: Endpoint | None = None  # not open yet, or closed
        self._queue = SendQueue()  # what the socket has not taken yet
        self._closing = False
        self._is_held = False

    def open(self, endpoint: Endpoint) -> None:
        """Begin to read, for *endpoint*."""
        self._endpoint = endpoint
        self._selector.watch(self.fd, self, READING)

    def unsent(self) -> int:
        return self._queue.size

    def unsent_pieces(self) -> int:
        return self._queue.piece_count()

    # ------------------------------------------------------------------ what the selector calls

    def ready(self, events: int) -> None:
        if self._queue.size and events & MAY_SEND:
            self._drain()
        if events & MAY_RECEIVE and not (self._closing or self._is_held):
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
        if self._endpoint is not None and not self._queue.size and not self._is_held:
            self._selector.expect(self.fd, READING)

    def _drain(self) -> None:
        self._send_pieces()
        endpoint = self._endpoint
        if endpoint is None:
            return
        if self._queue.size:
            endpoint.sent_some()
            return
        if self._closing:
            self.abort()
            return
        self._selector.expect(self.fd, HELD if self._is_held else READING)
        endpoint.resume_writing()

    def _send_pieces(self) -> None:
        """Send what the socket takes now: one call, so that nobody else waits for long."""
        queue = self._queue
        try:
            taken = socket_calls.send_pieces(self.fd, queue.pieces, queue.first, queue.taken)
        except OSError:
            self.abort()
            return
        queue.pass_over(taken)

    # ------------------------------------------------------------------ what the connection calls

    def write(self, out: Encoder) -> None:
        if self._endpoint is None:
            out.clear()
        elif self._queue.size:
            self._queue.add(out)
        elif out.in_pieces():
            self._queue.add(out)
            self._send_pieces()
            if self._queue.size:
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
        self._queue.add(out)
        self._queue.pass_over(taken)
        self._await_room()

    def _await_room(self) -> None:
        endpoint = self._endpoint
        if endpoint is not None:
            self._follow_queue()
            endpoint.pause_writing()

    def _follow_queue(self) -> None:
        """While something is unsent, news come again and again (level-triggered)."""
        reads = not (self._closing or self._is_held)
        self._selector.expect(self.fd, DRAINING if reads else ONLY_DRAINING)

    def pause_reading(self) -> None:
        self._is_held = True
        if self._endpoint is None:
            return
        if self._queue.size:
            self._follow_queue()
        else:
            self._selector.expect(self.fd, HELD)

    def resume_reading(self) -> None:
        self._is_held = False
        if self._queue.size:
            self._follow_queue()
        else:
            self._look_again()

    def close(self) -> None:
        self._closing = True
        if self._queue.size:
            self._follow_queue()
        else:
            self.abort()

    def abort(self) -> None:
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            self._queue.clear()
            self._selector.forget(self.fd)
            socket_calls.close(self.fd)
            self.fd = -1
            closed.keep(self)
            closed.keep(endpoint)
            endpoint.connection_lost()
