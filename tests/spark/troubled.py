"""A proxy that makes commands fail, as a test chooses.

    client  <->  Troubled  <->  server

It returns errors that a real server gives rarely (LOADING, NOREPLICAS), or cuts the connection:
before a command reaches the server, or after that, so that the reply is lost.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import hiredis

from pyspark_penstock.connect.connection import command
from pyspark_penstock.connect.retry import ABORTED

CUT_BEFORE, CUT_BEHIND = b"cut before", b"cut behind"
Trouble = Callable[[int, bytes], bytes | None]


class Troubled:
    """*trouble* gets the number and name of each command, and returns an error, a cut, or None.

    Like a server, the proxy does not run a transaction if one of its commands was refused.
    """

    def __init__(self, port: int, trouble: Trouble = lambda *_: None) -> None:
        self.commands = 0
        self.trouble = trouble
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.at = {"host": "127.0.0.1", "port": str(self.port)}
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._server)) as server:
            refused = b""  # the error of a command in the open transaction
            for words in requests(client):
                self.commands += 1
                name = words[0].upper()
                trouble = self.trouble(self.commands, name)
                if trouble == CUT_BEFORE:
                    return
                if name == b"MULTI":
                    refused = b""
                if trouble is not None and trouble != CUT_BEHIND:
                    refused = trouble
                if name == b"EXEC" and refused:
                    exchange(server, [b"DISCARD"])
                    answer, refused = b"-" + ABORTED.encode() + refused + b"\r\n", b""
                elif trouble == refused:
                    answer = b"-" + refused + b"\r\n"
                else:
                    answer = exchange(server, words)
                if trouble == CUT_BEHIND:
                    return
                try:
                    client.sendall(answer)
                except OSError:  # the client has closed its connection
                    return


def requests(client: socket.socket) -> Iterator[list[bytes]]:
    """Yield the commands that a client sends."""
    reader = hiredis.Reader()
    while data := received(client):
        reader.feed(data)
        while (words := reader.gets()) is not False:
            yield words


def received(client: socket.socket) -> bytes:
    """The next bytes; none at the end and after an error."""
    try:
        return client.recv(1 << 16)
    except OSError:
        return b""


def exchange(server: socket.socket, words: list[bytes]) -> bytes:
    """Run one command on the server. Returns the reply as bytes."""
    server.sendall(command(*words))
    reader, answer = hiredis.Reader(), b""
    while reader.gets() is False:
        data = server.recv(1 << 16)
        reader.feed(data)
        answer += data
    return answer
