"""A client on one socket; it sends and returns exactly the bytes on the wire."""

from __future__ import annotations

import select
import socket
from collections.abc import Sequence

from tests.compat import resp
from tests.compat.resp import Reply

TIMEOUT_S = 5.0  # an answer takes this long only if something is broken


def encode(command: Sequence[bytes]) -> bytes:
    """*command* as a RESP array of bulk strings."""
    words = (b"$%d\r\n%s\r\n" % (len(word), word) for word in command)
    return b"*%d\r\n%s" % (len(command), b"".join(words))


class Stream:
    """A buffered reader of a socket; at the end of the connection it returns no bytes."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.buffer = bytearray()

    def readline(self) -> bytes:
        while b"\n" not in self.buffer and self._fill():
            pass
        return self._take(self.buffer.find(b"\n") + 1 or len(self.buffer))

    def read(self, size: int) -> bytes:
        while len(self.buffer) < size and self._fill():
            pass
        return self._take(size)

    def _fill(self) -> bool:
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            return False
        self.buffer += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data


class Connection:
    """A connection in RESP2 or RESP3; ``id`` is None if the server requires a password first."""

    def __init__(self, port: int, protocol: int = 2) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = Stream(self.socket)
        host, local_port = self.socket.getsockname()
        self.address = f"{host}:{local_port}"
        if protocol == 3:
            self.call(b"HELLO", b"3")
        kind, value = self.call(b"CLIENT", b"ID")
        self.id = int(value) if kind == ":" and isinstance(value, bytes) else None

    def call(self, *command: bytes) -> Reply:
        """Send *command* and return its reply."""
        self.send(encode(command))
        return self.reply()

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except ConnectionError:
            pass  # the next read returns CLOSED

    def reply(self) -> Reply:
        """The next reply; CLOSED if the server closed the connection. Raises TimeoutError."""
        return resp.read(self.stream)

    def has_reply(self, within_s: float = 0) -> bool:
        """Whether bytes of a reply, or the end of the connection, arrive in *within_s* seconds."""
        return bool(self.stream.buffer) or bool(select.select([self.socket], [], [], within_s)[0])

    def is_closed(self) -> bool:
        """Whether the server has closed it, and every reply has been read."""
        if self.stream.buffer or not select.select([self.socket], [], [], 0)[0]:
            return False
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except ConnectionError:
            return True

    def close(self) -> None:
        self.socket.close()
