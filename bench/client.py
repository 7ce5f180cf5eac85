"""A small blocking client that prepares data and checks answers. It does not make the load."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Self

import hiredis

CHUNK = 1 << 18
PIPELINE = 200

Argument = str | bytes | int
Command = tuple[Argument, ...]


class RefusedError(Exception):
    """The server answered with an error."""


def encode(command: Iterable[Argument]) -> bytes:
    """A command as RESP: an array of bulk strings."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


class Client:
    """One connection, as a context manager. All methods raise RefusedError if an answer is one."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = hiredis.Reader()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def call(self, *command: Argument) -> Any:
        """The answer to one command."""
        self._socket.sendall(encode(command))
        return self._answer()

    def load(self, commands: Iterable[Command], at_once: int = PIPELINE) -> None:
        """Send commands, *at_once* at a time. Raises RefusedError if one is refused."""
        source = iter(commands)
        while batch := [encode(command) for command in islice(source, at_once)]:
            self._socket.sendall(b"".join(batch))
            for _ in batch:
                self._answer()

    def answers(self, commands: Iterable[Command]) -> list[Any]:
        """The answers to commands that are sent at once."""
        batch = [encode(command) for command in commands]
        self._socket.sendall(b"".join(batch))
        return [self._answer() for _ in batch]

    def raw(self, request: bytes, answers: int) -> bytes:
        """The answers to *request*, as bytes; there must be *answers* of them."""
        self._socket.sendall(request)
        received = bytearray()
        while answers:
            data = self._receive()
            received += data
            answers -= sum(1 for _ in self._parsed(data))
        return bytes(received)

    def info(self) -> dict[str, str]:
        """The fields of INFO, all sections."""
        lines = self.call("INFO").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def _answer(self) -> Any:
        while (answer := self._reader.gets()) is False:
            self._reader.feed(self._receive())
        return _accepted(answer)

    def _parsed(self, data: bytes) -> Iterator[Any]:
        self._reader.feed(data)
        while (answer := self._reader.gets()) is not False:
            yield _accepted(answer)

    def _receive(self) -> bytes:
        data = self._socket.recv(CHUNK)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        return data


def _accepted(answer: Any) -> Any:
    if isinstance(answer, hiredis.ReplyError):
        raise RefusedError(str(answer))
    return answer
