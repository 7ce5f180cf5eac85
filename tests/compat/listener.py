"""A subscriber to all keyspace notifications of a server, beside the player of a case."""

from __future__ import annotations

from tests.compat.connection import Connection
from tests.compat.processes import ServerProcess, bulk
from tests.compat.resp import Reply

END: Reply = ("*", [("$", b"pong"), ("$", b"")])
CLASSES = b"KEA"


class Listener:
    """As a context manager, it has *server* tell the events of *classes*, and listens."""

    def __init__(self, server: ServerProcess, classes: bytes = CLASSES) -> None:
        self._server = server
        self._classes = classes

    def __enter__(self) -> Listener:
        self._configure(self._classes)
        self._connection = Connection(self._server.port)
        self._connection.call(b"PSUBSCRIBE", b"__key*__:*")
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._configure(b"")

    def _configure(self, classes: bytes) -> None:
        control = Connection(self._server.port)
        control.call(b"CONFIG", b"SET", b"notify-keyspace-events", classes)
        control.close()

    def heard(self) -> list[tuple[bytes, bytes]]:
        """The channels and the messages since the last call, in order."""
        messages: list[tuple[bytes, bytes]] = []
        reply = self._connection.call(b"PING")
        while reply != END:
            values = reply[1]
            assert isinstance(values, list), reply
            assert values[0] == ("$", b"pmessage"), reply
            messages.append((bulk(values[2]), bulk(values[3])))
            reply = self._connection.reply()
        return messages
