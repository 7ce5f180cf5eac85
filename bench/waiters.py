"""Load by blocked readers: many clients wait in XREAD BLOCK, and one XADD wakes all of them."""

from __future__ import annotations

import select
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass

from bench.client import encode
from bench.load import BUFFER, STALL_SECONDS, StalledError, encode_answer

FIRST_MS = 1_700_000_000_000
STREAM = b"waited-for"
FIELD = (b"state", b"ok")


@dataclass(frozen=True)
class Waiters:
    """One request is one client's XREAD, from its sending to its answer. Each XADD wakes all."""

    clients: int = 200

    def run(self, port: int, requests: int, depth: int) -> float:
        """Wake waiters, *clients* at a time, *requests* in all; return the seconds that it took."""
        del depth  # a blocked client has one command in flight
        rounds = -(-requests // self.clients)
        with ExitStack() as stack:
            writer = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            waiters = [
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                for _ in range(self.clients)
            ]
            began = time.perf_counter()
            for number in range(rounds):
                _wake_all(writer, waiters, FIRST_MS + number)
            return (time.perf_counter() - began) * requests / (rounds * self.clients)


def _wake_all(writer: socket.socket, waiters: list[socket.socket], ms: int) -> None:
    """Each waiter asks for entries after *ms*; then the entry *ms* + 1 is added.

    All requests of the waiters arrive at the server's sockets before the XADD does.
    """
    entry = b"%d-0" % (ms + 1)
    request = encode(("XREAD", "BLOCK", 0, "STREAMS", STREAM, f"{ms}-0"))
    answer = encode_answer([[STREAM, [[entry, FIELD]]]])
    for waiter in waiters:
        waiter.sendall(request)
    writer.sendall(encode(("XADD", STREAM, entry, *FIELD)))
    _read(writer, len(encode_answer(entry)))
    _read_all(waiters, len(answer))


def _read_all(waiters: list[socket.socket], size: int) -> None:
    with select.epoll() as poll:
        by_number = {waiter.fileno(): waiter for waiter in waiters}
        for number in by_number:
            poll.register(number, select.EPOLLIN)
        while by_number:
            ready = poll.poll(STALL_SECONDS)
            if not ready:
                raise StalledError(f"{len(by_number)} waiters were not woken")
            for number, _ in ready:
                _read(by_number.pop(number), size)
                poll.unregister(number)


def _read(connection: socket.socket, size: int) -> None:
    """Receive exactly *size* bytes."""
    while size:
        data = connection.recv(min(size, BUFFER))
        if not data:
            raise StalledError("the server closed the connection")
        size -= len(data)
