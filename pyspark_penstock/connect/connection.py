"""A connection for bulk work: requests are pipelined, replies stay as the bytes that arrived.

redis-py makes a Python object of each value in a reply. Here the bytes of a whole reply stay
together, for code that reads them by columns. An ECHO after each request marks the end:

    request     XRANGE ...  ECHO <token>
    reply       *1000\\r\\n ... $32\\r\\n<token>\\r\\n
                ^ the reply    ^ the end, found without parsing the reply

The token is random for each connection, so no value of an entry can contain it.

A server that starts to load its data, or runs a slow script, may refuse ECHO, too. Then the token
never comes. So if nothing comes for a while, and the last line looks like such an error, it is
taken for one. If it was the end of a value, the only cost is a new connection.
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
REDIRECTIONS = ("MOVED ", "ASK ")
ASKING, ALLOWED = b"*1\r\n$6\r\nASKING\r\n", b"+OK\r\n"


class Redirected(ConnectionError):
    """A node of a cluster says that another one has the key (MOVED), or may have it (ASK)."""


class Connection:
    """One RESP2 connection to *address*. All methods raise OSError if it breaks.

    While it is ``asking``, requests are for a slot that the node is about to get: ASKING precedes
    each, except those that are posted.
    """

    def __init__(self, connected: socket.socket, address: Address) -> None:
        self.address = address
        self.asking = False
        self._socket = connected
        token = secrets.token_hex(16).encode()
        self._echo = command("ECHO", token)
        self._end = b"$%d\r\n%s\r\n" % (len(token), token)
        self._buffer = bytearray(FIRST_BUFFER)
        self._answers = bytearray()  # the replies to posted requests
        self._promised = 0  # how many replies the commands of send_all will have

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; replies that have not arrived are lost."""
        self._socket.close()

    def call(self, *words: Word) -> Any:
        """The reply to one command, parsed. Raises ServerError with the server's text."""
        self._socket.sendall(self._before + command(*words))
        reader = hiredis.Reader()
        if self.asking:
            self._next(reader)
        reply = self._next(reader)
        if isinstance(reply, hiredis.ReplyError):
            raise refusal(str(reply))
        return reply

    @property
    def _before(self) -> bytes:
        return ASKING if self.asking else b""

    def _next(self, reader: hiredis.Reader) -> Any:
        reply = reader.gets()
        while reply is False:
            reader.feed(received(self._socket))
            reply = reader.gets()
        return reply

    def ask(self, *words: Word) -> None:
        """Send a command; ``answer`` returns its reply."""
        self._socket.sendall(self._before + command(*words) + self._echo)

    def answer(self) -> bytes:
        """The whole reply to what ``ask`` has sent, as bytes. Raises ServerError."""
        size, end = 0, self._end
        while not (size >= len(end) and self._buffer.endswith(end, size - len(end), size)):
            if size == len(self._buffer):
                self._buffer.extend(bytes(size))
            size += self._receive_behind(size)
        start = len(ALLOWED) if self.asking and self._buffer.startswith(ALLOWED) else 0
        answer = bytes(memoryview(self._buffer)[start : size - len(end)])
        if answer.startswith(b"-"):
            raise refusal(answer[1:].split(b"\r\n", 1)[0].decode(errors="replace"))
        return answer

    def _receive_behind(self, size: int) -> int:
        """Receive into the buffer, after its first *size* bytes; how many bytes came."""
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

    def send_all(self, requests: Iterable[tuple[Word, ...]]) -> None:
        """Send many commands; ``replies`` returns what is answered."""
        parts = [self._before + command(*words) for words in requests]
        self._promised = len(parts)
        self.post(b"".join(parts))

    def replies(self) -> list[Any]:
        """The replies to ``send_all``, parsed; a server's error is a ServerError in the list."""
        reader = hiredis.Reader()
        reader.feed(self.answers())
        replies = []
        for _ in range(self._promised):
            if self.asking:
                reader.gets()
            replies.append(value_of(reader.gets()))
        return replies

    def exchange(self, requests: Iterable[bytes | memoryview]) -> bytes:
        """Send many requests; their replies, one after the other, as bytes."""
        for request in requests:
            self.post(request)
        return self.answers()

    def post(self, request: bytes | memoryview) -> None:
        """Send one or several requests; ``answers`` returns their replies.

        Replies are received while requests are sent, so that client and server never wait for each
        other.
        """
        rest = memoryview(request)
        with self._not_blocking():
            while rest:
                sent = self._send_some(rest[:SEND_SIZE])
                rest = rest[sent:]
                if not (self._receive_some() or sent):
                    self._wait([self._socket])

    def answers(self) -> bytes:
        """The replies to everything posted since the last call."""
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
        """Send as much as the socket takes; how many bytes that was."""
        try:
            return self._socket.send(data)
        except WOULD_BLOCK:
            return 0

    def _receive_some(self) -> bool:
        """Receive the bytes that have arrived. Returns whether there were any."""
        try:
            self._answers += received(self._socket)
        except WOULD_BLOCK:
            return False
        return True

    def _wait(self, writing: list[socket.socket]) -> None:
        """Wait until the socket can be read, or written if it is in *writing*."""
        if any(select.select([self._socket], writing, [], QUIET_S)):
            return
        if not writing:
            refuse_by_end(self._answers)
        if not any(select.select([self._socket], writing, [], ANSWER_S)):
            raise TimeoutError("the server neither takes nor sends anything")


def refuse_by_end(answers: bytearray) -> None:
    """Raises ConnectionError if *answers* end with an error that is worth a retry."""
    found = LAST_ERROR.search(answers[-LONGEST_ERROR:])
    if found and passes(refused := found[1].decode(errors="replace")):
        raise ConnectionError(refused)


def refusal(text: str) -> Exception:
    """The exception for a server's error: ConnectionError if a retry may help, else ServerError."""
    if text.startswith(REDIRECTIONS):
        return Redirected(text)
    return ConnectionError(text) if passes(text) else ServerError(text)


def value_of(reply: Any) -> Any:
    """A parsed reply, in which an error is a ServerError. Raises ConnectionError without one."""
    if reply is False:
        raise ConnectionError("a reply is missing")
    return ServerError(str(reply)) if isinstance(reply, hiredis.ReplyError) else reply


def pairs(reply: Any) -> dict[str, Any]:
    """A flat reply of names and values, as a dict."""
    if isinstance(reply, dict):
        return {text(name): value for name, value in reply.items()}
    return {text(name): value for name, value in zip(reply[::2], reply[1::2], strict=True)}


def received(sock: socket.socket) -> bytes:
    """The next bytes. Raises ConnectionError if the server has closed the connection."""
    data = sock.recv(RECEIVE_SIZE)
    if not data:
        raise ConnectionError("the server closed the connection")
    return data


def command(*words: Word) -> bytes:
    """A request in RESP: an array of bulk strings."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogateescape")
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)
