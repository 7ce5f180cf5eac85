"""A connection for bulk work: many requests at a time, answers as the bytes that came.

redis-py makes a Python object of each value of an answer before its caller sees one. Here the
bytes of a whole answer stay together, for code that reads them by columns:

    request     XRANGE ...  ECHO <token>
    answer      *1000\\r\\n ... $32\\r\\n<token>\\r\\n
                ^ the answer    ^ the end, found without reading what stands before it

The token is random for each connection, so no value of an entry can be it.
"""

from __future__ import annotations

import secrets
import select
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import hiredis

from pyspark_penstock.connection import ANSWER_S, CONNECT_S, Server
from pyspark_penstock.errors import ServerError

RECEIVE_SIZE = 1 << 20
SEND_SIZE = 1 << 18
FIRST_BUFFER = 1 << 18

PASSING = ("LOADING ", "BUSY ", "MASTERDOWN ", "CLUSTERDOWN ", "TRYAGAIN ")
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

Word = bytes | str | int


class Wire:
    """One connection that speaks RESP2. Raises OSError where the connection fails."""

    def __init__(self, server: Server) -> None:
        self._socket = connect(server)
        token = secrets.token_hex(16).encode()
        self._echo = command("ECHO", token)
        self._end = b"$%d\r\n%s\r\n" % (len(token), token)
        self._buffer = bytearray(FIRST_BUFFER)
        self._answers = bytearray()  # to what was posted
        try:
            for words in introduction(server):
                self.call(*words)
            self.call("ECHO", token)  # refused now rather than in the middle of an answer
        except BaseException:
            self.close()
            raise

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
            with memoryview(self._buffer) as view:
                count = self._socket.recv_into(view[size:])
            if not count:
                raise ConnectionError("the server closed the connection")
            size += count
        answer = bytes(memoryview(self._buffer)[: size - len(end)])
        if answer.startswith(b"-"):
            raise refusal(answer[1:].split(b"\r\n", 1)[0].decode(errors="replace"))
        return answer

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
        if not any(select.select([self._socket], writing, [], ANSWER_S)):
            raise TimeoutError("the server neither takes nor sends anything")


def connect(server: Server) -> socket.socket:
    """A connected socket, encrypted if the server is, to the first address that answers."""
    problems = []
    for host, port in server.addresses:
        try:
            plain = socket.create_connection((host, port), CONNECT_S)
        except OSError as problem:
            problems.append(f"{host}:{port}: {problem}")
            continue
        plain.settimeout(ANSWER_S)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if server.tls is None:
            return plain
        return server.tls.context().wrap_socket(plain, server_hostname=host)
    raise ConnectionError(f"no server answers at {'; '.join(problems)}")


def introduction(server: Server) -> list[tuple[Word, ...]]:
    """The commands with which a connection begins."""
    login = server.login()
    words: list[tuple[Word, ...]] = []
    if login is not None:
        words.append(("AUTH", *login.words))
    if server.db:
        words.append(("SELECT", server.db))
    return words


def refusal(text: str) -> Exception:
    """The error for what a server refused; a ConnectionError if it will not do so for long."""
    return ConnectionError(text) if text.startswith(PASSING) else ServerError(text)


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
