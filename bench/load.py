"""Load by scripted exchanges, for large answers and conversations, which redis-benchmark lacks.

An exchange is a request and its expected answer, both made beforehand as bytes. The loop only
sends, receives and counts bytes, so that one core of Python keeps a server busy: a connection has
its answer when it has received as many bytes as the answer has. The first exchange of a script is
compared byte by byte before the load begins.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from typing import Any

from bench.client import Argument, Client, encode

BUFFER = 1 << 20
STALL_SECONDS = 20.0

Answer = bytes | int | None | Sequence[Any]


class StalledError(Exception):
    """The server sent less than expected, or something else."""


@dataclass(frozen=True)
class Exchange:
    """A command and its answer, as bytes on the wire."""

    request: bytes
    answer: bytes


Script = list[Exchange]


@dataclass(frozen=True)
class Step:
    """Exchanges of a script that are sent at once, as many as the pipeline depth."""

    request: bytes
    size: int  # of the answers, together
    commands: int


@dataclass(frozen=True)
class Scripted:
    """Each connection repeats its own script; *script(i)* makes the one of connection *i*.

    *per_request* commands count as one request. If *checked*, the first exchange is compared before
    the load begins, so it must be possible to run it alone.
    """

    script: Callable[[int], Script]
    clients: int = 50
    per_request: int = 1
    checked: bool = True

    def run(self, port: int, requests: int, depth: int) -> float:
        """Send *requests* requests; return the seconds that they took. Raises StalledError."""
        if self.checked:
            check(port, self.script(0)[0])
        return drive(port, _all_steps(self, depth), requests * self.per_request)


@cache
def _all_steps(load: Scripted, depth: int) -> list[list[Step]]:
    """The steps of every connection. They are cached, since a script may be long."""
    return [steps(load.script(number), depth) for number in range(load.clients)]


def exchange(command: Sequence[Argument], answer: Answer) -> Exchange:
    """An exchange, given as Python values."""
    return Exchange(encode(command), encode_answer(answer))


def encode_answer(answer: Answer) -> bytes:
    """An answer as RESP2."""
    if answer is None:
        return b"$-1\r\n"
    if isinstance(answer, int):
        return b":%d\r\n" % answer
    if isinstance(answer, bytes):
        return b"$%d\r\n%b\r\n" % (len(answer), answer)
    return b"*%d\r\n" % len(answer) + b"".join(map(encode_answer, answer))


def steps(script: Script, depth: int) -> list[Step]:
    """A script cut into pipelines of *depth* exchanges; a short script is repeated to fill one."""
    whole = script if len(script) >= depth else list(islice(cycle(script), depth))
    cuts = (whole[at : at + depth] for at in range(0, len(whole), depth))
    return [
        Step(b"".join(e.request for e in cut), sum(len(e.answer) for e in cut), len(cut))
        for cut in cuts
    ]


def check(port: int, first: Exchange) -> None:
    """Raise StalledError unless the server answers *first* as expected."""
    with Client(port) as client:
        answer = client.raw(first.request, 1)
    if answer != first.answer:
        raise StalledError(f"to {first.request!r}: {answer[:300]!r}, not {first.answer[:300]!r}")


class _Connection:
    """A connection, its position in its script, and how many bytes it still expects."""

    __slots__ = ("commands", "expects", "socket", "steps")

    def __init__(self, port: int, steps: Iterator[Step]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.steps = steps
        self.expects = 0
        self.commands = 0

    def send_next(self) -> None:
        step = next(self.steps)
        self.expects = step.size
        self.commands = step.commands
        self.socket.sendall(step.request)


def drive(port: int, scripts: Sequence[Sequence[Step]], commands: int) -> float:
    """Run the scripts; return the seconds until *commands* commands are answered."""
    connections = [_Connection(port, cycle(script)) for script in scripts]
    by_number = {connection.socket.fileno(): connection for connection in connections}
    try:
        with select.epoll() as poll:
            for number in by_number:
                poll.register(number, select.EPOLLIN)
            return _converse(poll, by_number, commands)
    finally:
        for connection in connections:
            connection.socket.close()


def _converse(poll: select.epoll, connections: dict[int, _Connection], commands: int) -> float:
    buffer = bytearray(BUFFER)
    began = time.perf_counter()
    for connection in connections.values():
        connection.send_next()
    while commands > 0:
        ready = poll.poll(STALL_SECONDS)
        if not ready:
            raise StalledError("the answers are shorter than expected")
        for number, _ in ready:
            connection = connections[number]
            connection.expects -= connection.socket.recv_into(buffer)
            if connection.expects > 0:
                continue
            if connection.expects < 0:
                raise StalledError("the answers are longer than expected")
            commands -= connection.commands
            connection.send_next()
    return time.perf_counter() - began
