"""A connection for bulk work: many requests at a time, answers as the bytes that came.

redis-py makes a Python object of each value of an answer before its caller sees one. Here the
bytes of a whole answer stay together, for code that reads them by columns:

    request     XRANGE ...  ECHO <token>
    answer      *1000\\r\\n ... $32\\r\\n<token>\\r\\n
                ^ the answer    ^ the end, found without reading what stands before it

The token is random for each connection, so no value of an entry can be it.

A server that begins to load its data refuses ECHO as well, and the token never comes. So where
nothing comes for a while, behind what looks like such a refusal, that is what it is. A value that
looks like one costs a new connection at worst.
"""

from __future__ import annotations

import re
import secrets
import select
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import hiredis

from pyspark_penstock.connect.address import ANSWER_S, Address
from pyspark_penstock.connect.retry import passes
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import text

RECEIVE_SIZE = 1 << 20
SEND_SIZE = 1 << 18
FIRST_BUFFER = 1 << 18
QUIET_S = 1.0
LAST_ERROR, LONGEST_ERROR = re.compile(rb"(?:\A|\r\n)-([^\r\n]*)\r\n\Z"), 1_000

WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

Word = bytes | str | int


class Connection:
    """One connection that speaks RESP2, to *address*. Raises OSError where it fails."""

    def __init__(self, connected: socket.socket, address: Address) -> None:
        self.address = address
        self._socket = connected
        token = secrets.token_hex(16).encode()
        self._echo = command("ECHO", token)
        self._end = b"$%d\r\n%s\r\n" % (len(token), token)
        self._buffer = bytearray(FIRST_BUFFER)
        self._answers = bytearray()  # to what was posted

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what is under way is lost."""
        self._socket.close()

    def call(self, *words: Word) -> Any:
        """The answer to one command. Raises ServerError with the server's text."""
        self._socket.sendall(command(*words))
        reader = hiredis.Reader()
        reply = reader.gets()
        while reply is False:
            reader.feed(received(self._socket))
            reply = reader.gets()
        if isinstance(reply, hiredis.ReplyError):
            raise refusal(str(reply))
        return reply

    def ask(self, *words: Word) -> None:
        """Send a command whose answer ``answer`` will take."""
        self._socket.sendall(command(*words) + self._echo)

    def answer(self) -> bytes:
        """The answer to what was asked, whole, as it came. Raises ServerError."""
        size, end = 0, self._end
        while not (size >= len(end) and self._buffer.endswith(end, size - len(end), size)):
            if size == len(self._buffer):
                self._buffer.extend(bytes(size))
            size += self._receive_behind(size)
        answer = bytes(memoryview(self._buffer)[: size - len(end)])
        if answer.startswith(b"-"):
            raise refusal(answer[1:].split(b"\r\n", 1)[0].decode(errors="replace"))
        return answer

    def _receive_behind(self, size: int) -> int:
        """Take what comes into the buffer, behind its first *size* bytes; how much that is."""
        with memoryview(self._buffer) as view:
            self._socket.settimeout(QUIET_S)
            try:
                count = self._socket.recv_into(view[size:])
            except TimeoutError:
                refuse_by_end(self._buffer[:size])
                self._socket.settimeout(ANSWER_S)
                count = self._socket.recv_into(view[size:])
            finally:
                self._socket.settimeout(ANSWER_S)
        if not count:
            raise ConnectionError("the server closed the connection")
        return count

    def exchange(self, requests: Iterable[bytes | memoryview]) -> bytes:
        """Send many requests; their answers, one after the other, as they came."""
        for request in requests:
            self.post(request)
        return self.answers()

    def post(self, request: bytes | memoryview) -> None:
        """Send one or many requests whose answers ``answers`` will return.

        Answers are taken while requests leave, so that neither side waits for the other.
        """
        rest = memoryview(request)
        with self._not_blocking():
            while rest:
                sent = self._send_some(rest[:SEND_SIZE])
                rest = rest[sent:]
                if not (self._receive_some() or sent):
                    self._wait([self._socket])

    def answers(self) -> bytes:
        """The answers to all that was posted since this was last called."""
        self.post(self._echo)
        with self._not_blocking():
            while not self._answers.endswith(self._end):
                if not self._receive_some():
                    self._wait([])
        answers, self._answers = self._answers, bytearray()
        del answers[-len(self._end) :]
        return bytes(answers)

    @contextmanager
    def _not_blocking(self) -> Iterator[None]:
        self._socket.setblocking(False)
        try:
            yield
        finally:
            self._socket.settimeout(ANSWER_S)

    def _send_some(self, data: memoryview) -> int:
        """Send what the connection takes; how much that was."""
        try:
            return self._socket.send(data)
        except WOULD_BLOCK:
            return 0

    def _receive_some(self) -> bool:
        """Take what has come; whether anything had."""
        try:
            self._answers += received(self._socket)
        except WOULD_BLOCK:
            return False
        return True

    def _wait(self, writing: list[socket.socket]) -> None:
        """Wait until something comes, or may leave."""
        if any(select.select([self._socket], writing, [], QUIET_S)):
            return
        if not writing:
            refuse_by_end(self._answers)
        if not any(select.select([self._socket], writing, [], ANSWER_S)):
            raise TimeoutError("the server neither takes nor sends anything")


def refuse_by_end(answers: bytearray) -> None:
    """Raises ConnectionError where *answers* end with a refusal that passes."""
    found = LAST_ERROR.search(answers[-LONGEST_ERROR:])
    if found and passes(refused := found[1].decode(errors="replace")):
        raise ConnectionError(refused)


def refusal(text: str) -> Exception:
    """The error for what a server refused; a ConnectionError if it will not do so for long."""
    return ConnectionError(text) if passes(text) else ServerError(text)


def pairs(reply: Any) -> dict[str, Any]:
    """A flat reply of names and values, by name."""
    if isinstance(reply, dict):
        return {text(name): value for name, value in reply.items()}
    return {text(name): value for name, value in zip(reply[::2], reply[1::2], strict=True)}


def received(sock: socket.socket) -> bytes:
    """What came next. Raises ConnectionError at the end."""
    data = sock.recv(RECEIVE_SIZE)
    if not data:
        raise ConnectionError("the server closed the connection")
    return data


def command(*words: Word) -> bytes:
    """A request: an array of bulk strings."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogateescape")
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)
