"""Load by blocked readers: many clients wait, and one XADD wakes all of them, or one of a group."""

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
GROUP = b"crew"


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


@dataclass(frozen=True)
class Crew:
    """One request is an XADD that wakes one of the *consumers* of a group, its XACK, and its wait.

    Each consumer asks for the next entry in one go with its XACK. *at_once* entries are added in a
    pipeline, so that neither side sleeps after each of them.
    """

    consumers: int = 200
    at_once: int = 20

    def run(self, port: int, requests: int, depth: int) -> float:
        """Add *requests* entries or some more; return the seconds that *requests* took."""
        del depth  # a pipeline is sent when the entries of the last one are acknowledged
        rounds = -(-requests // self.at_once)
        with ExitStack() as stack:
            writer = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            poll = stack.enter_context(select.epoll())
            crew = {}
            for number in range(self.consumers):
                consumer = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                consumer.sendall(_wait_of(number))
                poll.register(consumer, select.EPOLLIN)
                crew[consumer.fileno()] = consumer, _wait_of(number)
            began = time.perf_counter()
            for number in range(rounds):
                first_ms = FIRST_MS + number * self.at_once
                _wake_some(writer, poll, crew, range(first_ms, first_ms + self.at_once))
            return (time.perf_counter() - began) * requests / (rounds * self.at_once)


def _wait_of(consumer: int) -> bytes:
    """The request with which that consumer waits."""
    words = ("XREADGROUP", "GROUP", GROUP, b"c%d" % consumer, "COUNT", 10, "BLOCK", 0)
    return encode((*words, "STREAMS", STREAM, ">"))


def _wake_some(
    writer: socket.socket,
    poll: select.epoll,
    crew: dict[int, tuple[socket.socket, bytes]],
    added_ms: range,
) -> None:
    """Add entries: so many of the crew get one each, acknowledge it, and wait again."""
    entries = [b"%d-0" % ms for ms in added_ms]
    writer.sendall(b"".join(encode(("XADD", STREAM, entry, *FIELD)) for entry in entries))
    _read(writer, sum(len(encode_answer(entry)) for entry in entries))
    answer = encode_answer([[STREAM, [[entries[0], FIELD]]]])
    id_at = answer.index(entries[0])
    left = len(entries)
    while left:
        ready = poll.poll(STALL_SECONDS)
        if not ready:
            raise StalledError(f"{left} consumers were not woken")
        for number, _ in ready:
            consumer, wait = crew[number]
            entry = _read(consumer, len(answer))[id_at : id_at + len(entries[0])]
            consumer.sendall(encode(("XACK", STREAM, GROUP, entry)) + wait)
            _read(consumer, len(encode_answer(1)))
            left -= 1


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


def _read(connection: socket.socket, size: int) -> bytes:
    """Receive exactly *size* bytes."""
    received = b""
    while len(received) < size:
        data = connection.recv(min(size - len(received), BUFFER))
        if not data:
            raise StalledError("the server closed the connection")
        received += data
    return received
