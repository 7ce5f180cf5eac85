"""Load by subscribers: one client publishes, and many get each message."""

from __future__ import annotations

import resource
import select
import socket
import time
from dataclasses import dataclass

from bench.client import encode
from bench.load import BUFFER, STALL_SECONDS, StalledError, encode_answer

TEXT = b"message-of-thirty-two-bytes-long"
SPARE_FILES = 100


@dataclass(frozen=True)
class Subscribers:
    """One request is one message that one of *clients* subscribers gets."""

    clients: int

    def run(self, port: int, requests: int, depth: int) -> float:
        """Publish until *requests* messages have come; return the seconds that it took."""
        del depth  # the next message is published when all have got the last
        rounds = -(-requests // self.clients)
        audience = _Audience(port, self.clients)
        try:
            began = time.perf_counter()
            for _ in range(rounds):
                audience.publish()
            return (time.perf_counter() - began) * requests / (rounds * self.clients)
        finally:
            audience.close()


class _Audience:
    """A publisher and its subscribers, connected."""

    def __init__(self, port: int, clients: int) -> None:
        _allow_files(clients + SPARE_FILES)
        channel = b"news-for-%d" % clients
        self._request = encode(("PUBLISH", channel, TEXT))
        self._answer = encode_answer(clients)
        self._message = encode_answer([b"message", channel, TEXT])
        self._publisher = socket.create_connection(("127.0.0.1", port))
        self._sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
        self._by_number = {each.fileno(): each for each in self._sockets}
        self._poll = select.epoll()
        for number in self._by_number:
            self._poll.register(number, select.EPOLLIN)
        for each in self._sockets:
            each.sendall(encode(("SUBSCRIBE", channel)))
        self._receive(len(encode_answer([b"subscribe", channel, 1])))

    def publish(self) -> None:
        """Publish a message; return when all have got it."""
        self._publisher.sendall(self._request)
        self._receive(len(self._message))
        answer = self._publisher.recv(BUFFER)
        if answer != self._answer:
            raise StalledError(f"to PUBLISH: {answer!r}, not {self._answer!r}")

    def close(self) -> None:
        """Disconnect all of them."""
        self._poll.close()
        for each in (self._publisher, *self._sockets):
            each.close()

    def _receive(self, size: int) -> None:
        """Receive *size* bytes for each subscriber."""
        left = size * len(self._sockets)
        while left > 0:
            ready = self._poll.poll(STALL_SECONDS)
            if not ready:
                raise StalledError(f"{left} bytes of messages have not come")
            for number, _ in ready:
                left -= len(self._by_number[number].recv(BUFFER))


def _allow_files(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
