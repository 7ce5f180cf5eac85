"""The connection by which a fixture controls its server: commands out, replies in, many at a time.

It is no client library. Tests use the one that the tested program uses.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import hiredis

from penstock.testing.errors import ServerError

Word: TypeAlias = str | bytes | int
Packable: TypeAlias = tuple[str | int | float | bytes | memoryview]  # so it is declared

READ_BYTES = 64 * 1024
NAME = "penstock-control"


class Control:
    """A connection to the socket *path*; *password* is what the server requires, or "".

    It is made when it is first needed, and again when it was closed. After fork(), the child makes
    one of its own. Threads may share it.
    """

    def __init__(self, path: Path, password: str = "") -> None:
        self._path = path
        self._password = password
        self._socket: socket.socket | None = None
        self._reader = hiredis.Reader()
        self._owner = 0
        self._lock = threading.Lock()

    def call(self, *words: Word, timeout_s: float | None = None) -> Any:
        """The reply to one command.

        Raises ServerError if that is an error, OSError if there is none within *timeout_s*.
        """
        return checked(self.call_all([words], timeout_s))[0]

    def call_all(self, commands: Sequence[Sequence[Word]], timeout_s: float | None) -> list[Any]:
        """The replies to *commands*, errors among them, by one write.

        Raises OSError, and ServerError if it cannot log in. What remains of an unanswered command
        would be taken for the reply to the next one, so the connection is closed then.
        """
        with self._lock:
            try:
                connection = self._connected(timeout_s)
                connection.settimeout(timeout_s)
                return self._exchange(connection, commands)
            except (OSError, ServerError):  # not logged in, for instance, while data is loaded
                self.close()
                raise

    def _connected(self, timeout_s: float | None) -> socket.socket:
        if self._socket is not None and self._owner == os.getpid() and _is_quiet(self._socket):
            return self._socket
        self.close()
        self._owner = os.getpid()
        self._reader = hiredis.Reader()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        self._socket.connect(str(self._path))
        greeting: list[Sequence[Word]] = [("CLIENT", "SETNAME", NAME)]
        if self._password:
            greeting.insert(0, ("AUTH", self._password))
        checked(self._exchange(self._socket, greeting))
        return self._socket

    def _exchange(self, connection: socket.socket, commands: Sequence[Sequence[Word]]) -> list[Any]:
        packed = [hiredis.pack_command(cast("Packable", tuple(words))) for words in commands]
        connection.sendall(b"".join(packed))
        replies: list[Any] = []
        while len(replies) < len(commands):
            received = connection.recv(READ_BYTES)
            if not received:
                raise ConnectionResetError("the server has closed the connection")
            self._reader.feed(received)
            while (reply := self._reader.gets()) is not False:
                replies.append(reply)
        return replies

    def close(self) -> None:
        """Close the connection, if there is one; the next call makes another."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None


def _is_quiet(connection: socket.socket) -> bool:
    """Whether *connection* is open, and has nothing for us: no reply that was not waited for."""
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def checked(replies: list[Any]) -> list[Any]:
    """*replies*. Raises ServerError for the first one that is an error."""
    for reply in replies:
        if isinstance(reply, hiredis.ReplyError):
            raise ServerError(str(reply))
    return replies
