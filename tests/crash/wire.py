"""A blocking connection that can pipeline; hiredis packs commands and parses replies."""

from __future__ import annotations

import socket
from typing import Any, Self

import hiredis


class Wire:
    """A connection; its methods raise ConnectionError if the server has ended."""

    def __init__(self, port: int, timeout_s: float = 30) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self._reader = hiredis.Reader()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, commands: list[list[bytes]]) -> None:
        """Send *commands* in one piece."""
        pack: Any = hiredis.pack_command  # its type hint allows one word only
        self._socket.sendall(b"".join(pack(tuple(argv)) for argv in commands))

    def receive(self) -> Any:
        """The next reply; an error reply is returned and not raised."""
        while (reply := self._reader.gets()) is False:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError
            self._reader.feed(data)
        return reply

    def call(self, *argv: bytes) -> Any:
        """Send a command and return its reply. Raises an error reply."""
        self.send([list(argv)])
        reply = self.receive()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def close(self) -> None:
        self._socket.close()
