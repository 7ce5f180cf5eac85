"""Carries out the visit of one client: connects, sends its bursts, reads as it likes, and goes.

TLS is spoken as far as the server needs it: the handshake, and records that are sent. What comes
back is thrown away as it is, by plain and by TLS clients.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections import deque
from dataclasses import dataclass
from select import EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT

from fuzz.socket_crowd import NEVER, Peer
from fuzz.socket_requests import End, Road, Visit

LONGEST_S = 10.0  # a client waits for the first byte
WAITS = EPOLLHUP | EPOLLERR  # for nothing: these two always come


@dataclass
class Addresses:
    """Where one server listens."""

    port: int
    tls_port: int
    path: str


def open_socket(road: Road, addresses: Addresses, receive_buffer: int = 0) -> socket.socket:
    """A socket that connects, or has connected. Raises OSError."""
    family = socket.AF_UNIX if road is Road.UNIX else socket.AF_INET
    sock = socket.socket(family)
    if receive_buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.setblocking(False)
    try:
        if road is Road.UNIX:
            sock.connect(addresses.path)
        else:
            port = addresses.port if road is Road.TCP else addresses.tls_port
            sock.connect(("127.0.0.1", port))
    except BlockingIOError:
        if road is Road.UNIX:
            sock.close()
            raise
    except OSError:
        sock.close()
        raise
    return sock


class Visitor(Peer):
    """A client on its *visit*. Raises OSError if it cannot even begin."""

    def __init__(self, visit: Visit, addresses: Addresses, context: ssl.SSLContext) -> None:
        super().__init__(open_socket(visit.road, addresses, visit.receive_buffer))
        self.visit = visit
        self.received = 0
        self._bursts = deque(visit.bursts)
        self._out = memoryview(b"")
        self._seal = Seal(context) if visit.road is Road.TLS else None
        self._is_greeting = self._seal is not None
        now_s = time.monotonic()
        self._leaves_s = now_s + (LONGEST_S if visit.waits else visit.lasts)
        self._next_burst_s = now_s + (self._bursts[0].after if self._bursts else 0.0)
        self._next_read_s = now_s
        self._waits = visit.waits  # for the first byte
        self._is_deaf = False  # has closed its sending half
        if self._seal is not None:
            self._greet(b"")
        self._plan(now_s)

    # ------------------------------------------------------------------ what the crowd calls

    def readable(self) -> None:
        if self._is_greeting:
            self._greet(bytes(self.receive()))
        else:
            self._hear()
        if not self.is_over:
            self._plan(time.monotonic())

    def writable(self) -> None:
        self._send()
        if not self.is_over:
            self._plan(time.monotonic())

    def tick(self, now_s: float) -> None:
        if now_s >= self._leaves_s or self.received >= self.visit.most:
            self._leave(now_s)
        elif not self._is_greeting and self._bursts and now_s >= self._next_burst_s:
            self._begin_burst(now_s)
            self._send()
        if not self.is_over:
            self._plan(now_s)

    # ------------------------------------------------------------------ what it does

    def _greet(self, data: bytes) -> None:
        """Go on with the handshake, after *data*."""
        assert self._seal is not None
        if self.is_over:
            return
        try:
            self._is_greeting = not self._seal.shake_hands(data)
        except ssl.SSLError:
            self.close()
            return
        answer = self._seal.taken()
        cut = self.visit.cut_handshake
        if cut >= 0:
            answer = answer[:cut]
            self._bursts.clear()
        self._out = memoryview(bytes(self._out) + answer)
        self._send()

    def _begin_burst(self, now_s: float) -> None:
        """Take the next one, if the last has been sent."""
        if self._out:
            return
        data = self._bursts.popleft().data
        self._out = memoryview(data if self._seal is None else self._seal.sealed(data))
        if self._bursts:
            self._next_burst_s = now_s + self._bursts[0].after

    def _send(self) -> None:
        if self._out:
            self._out = self._out[self.send(self._out) :]

    def _hear(self) -> None:
        """There is something to read: read it, or know at least that it has come."""
        visit = self.visit
        now_s = time.monotonic()
        if self._waits and not self._bursts and not self._out:
            self._waits = False
            self._leaves_s = min(self._leaves_s, now_s + visit.lasts)
        if not visit.reads:
            return
        self.received += len(self.receive(min(visit.reads, visit.most - self.received) or 1))
        if self.received >= visit.most:
            self._leave(now_s)
        elif visit.pause:
            self._next_read_s = now_s + visit.pause

    def _leave(self, now_s: float) -> None:
        if self.visit.end is not End.HALF_CLOSE or self._is_deaf or self.is_over:
            self.close(resets=self.visit.end is End.RESET)
            return
        self._is_deaf = True
        self._bursts.clear()
        self._out = memoryview(b"")
        self._leaves_s = now_s + self.visit.lasts
        self.visit.most = 1 << 40
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)

    def _plan(self, now_s: float) -> None:
        """What it waits for, and when its time has come."""
        wishes = self.visit.reads or (self._waits and not self._bursts and not self._out)
        reads = self._is_greeting or (wishes and now_s >= self._next_read_s)
        self.events = (EPOLLIN if reads else 0) | (EPOLLOUT if self._out else 0) or WAITS
        due_s = self._leaves_s
        if self._bursts and not self._out and not self._is_greeting:
            due_s = min(due_s, max(now_s, self._next_burst_s))
        if self.visit.pause and self._next_read_s > now_s:
            due_s = min(due_s, self._next_read_s)
        self.due_s = due_s


class Probe(Peer):
    """Asks a server for a sign of life. *failed* says what is wrong when it is over, if anything.

    An error is a sign of life, and so is to be disconnected.
    """

    def __init__(self, addresses: Addresses, patience_s: float) -> None:
        super().__init__(open_socket(Road.TCP, addresses))
        self.failed = ""
        self.events = EPOLLIN | EPOLLOUT
        self.due_s = time.monotonic() + patience_s

    def readable(self) -> None:
        self.close()

    def writable(self) -> None:
        self.send(memoryview(b"PING\r\n"))
        self.events = EPOLLIN

    def tick(self, now_s: float) -> None:
        self.failed = "no answer to PING"
        self.due_s = NEVER
        self.close()


class Seal:
    """The client's side of TLS, in memory."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(self._incoming, self._outgoing)

    def shake_hands(self, data: bytes) -> bool:
        """Go on after *data*; whether it is done. Raises SSLError."""
        self._incoming.write(data)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def taken(self) -> bytes:
        """What is to be sent."""
        return self._outgoing.read()

    def sealed(self, data: bytes) -> bytes:
        """*data* in records."""
        view = memoryview(data)
        while view:
            view = view[self._session.write(view) :]
        return self._outgoing.read()
