"""All sockets of the fuzzer in one loop: what is ready is served, what is due is told so.

Peer     one socket, and what it wants: the base of visitors, probes, links and listeners
Crowd    the loop
"""

from __future__ import annotations

import heapq
import socket
import struct
import time
from itertools import count
from select import EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, epoll

NEVER = float("inf")
RESETTING = struct.pack("ii", 1, 0)  # of SO_LINGER
CHUNK = 1 << 20

_scratch = memoryview(bytearray(CHUNK))


class Peer:
    """One socket. *events* are what it waits for now; *due_s*, when tick() is to be called."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.events = EPOLLIN
        self.due_s = NEVER
        self.is_over = False

    def readable(self) -> None:
        """There is something to read, or the other end is gone."""

    def writable(self) -> None:
        """The socket takes more."""

    def tick(self, now_s: float) -> None:
        """*due_s* has come."""

    def close(self, resets: bool = False) -> None:
        """Go; with *resets*, what is on its way is thrown away."""
        if not self.is_over:
            self.is_over = True
            if resets and self.sock.family != socket.AF_UNIX:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETTING)
            self.sock.close()

    def send(self, data: memoryview) -> int:
        """Send what the socket takes of *data*: how many bytes. It is over if it is broken."""
        try:
            return self.sock.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return 0

    def receive(self, most: int = CHUNK) -> memoryview:
        """What has come, valid until the next call. It is over if there can be no more."""
        try:
            size = self.sock.recv_into(_scratch, min(most, CHUNK))
        except BlockingIOError:
            return _scratch[:0]
        except OSError:
            size = 0
        if not size:
            self.close()
        return _scratch[:size]


class Crowd:
    """Serves peers until they are over."""

    def __init__(self) -> None:
        self._poll = epoll()
        self._peers: dict[int, tuple[Peer, int]] = {}  # by descriptor; the events polled for
        self._due: list[tuple[float, int, Peer]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._peers)

    def add(self, peer: Peer) -> None:
        """Serve *peer*, too."""
        if not peer.is_over:
            fd = peer.sock.fileno()
            self._poll.register(fd, peer.events)
            self._peers[fd] = (peer, peer.events)
            self._expect(peer)

    def turn(self, longest_s: float) -> list[Peer]:
        """Serve whatever is ready or due within that time; returns the visits that are over."""
        wait_s = longest_s
        if self._due:
            wait_s = min(wait_s, max(0.0, self._due[0][0] - time.monotonic()))
        over: list[Peer] = []
        for fd, events in self._poll.poll(wait_s):
            peer = self._peers[fd][0]
            if events & EPOLLOUT:
                peer.writable()
            if events & (EPOLLIN | EPOLLHUP | EPOLLERR) and not peer.is_over:
                peer.readable()
            self._follow(fd, peer, over)
        now_s = time.monotonic()
        while self._due and self._due[0][0] <= now_s:
            due_s, _, peer = heapq.heappop(self._due)
            if not peer.is_over and peer.due_s == due_s:
                fd = peer.sock.fileno()
                peer.due_s = NEVER
                peer.tick(now_s)
                self._follow(fd, peer, over)
        return over

    def close(self) -> None:
        """All go at once."""
        for peer, _ in self._peers.values():
            peer.close(resets=True)
        self._peers.clear()
        self._poll.close()

    def _follow(self, fd: int, peer: Peer, over: list[Peer]) -> None:
        """Poll for what *peer* wants by now."""
        if peer.is_over:
            if self._peers.pop(fd, None) is not None:
                over.append(peer)
            return
        if peer.events != self._peers[fd][1]:
            self._poll.modify(fd, peer.events)
            self._peers[fd] = (peer, peer.events)
        self._expect(peer)

    def _expect(self, peer: Peer) -> None:
        if peer.due_s != NEVER:
            heapq.heappush(self._due, (peer.due_s, next(self._numbers), peer))
