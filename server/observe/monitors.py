r"""MONITOR: each command that is run, as a line for the clients that watch.

+1700000000.123456 [0 127.0.0.1:50412] "SET" "k" "a\nb"\r\n

Unix time, the database when the command is done, the client's address ("lua" for a command inside a
script), and the words. What cannot be printed is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from server.client.client import MONITORING, Client
from server.client.pushes import Pushes
from server.observe.part import Part

_SPECIAL = re.compile(rb'[^\x20-\x7e]|["\\]')
_ESCAPES = {
    b'"': b'\\"', b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b"\a": b"\\a",
    b"\b": b"\\b",
}  # fmt: skip


class Monitors(Part):
    """The clients that watch, in the order of their MONITORs.

    *are_there* is read for each command.
    """

    __slots__ = ("_clients", "_pushes", "are_there")

    def __init__(self, pushes: Pushes) -> None:
        self._pushes = pushes
        self._clients: dict[Client, None] = {}
        self.are_there = False

    def add(self, client: Client) -> None:
        """Let *client*, during its own command, watch from now on."""
        client.set_flag(MONITORING)
        self._clients[client] = None
        self.are_there = True
        self._pushes.begin_command(client)

    def remove(self, client: Client) -> None:
        """*client* watches no more, if it did."""
        client.clear_flag(MONITORING)
        self._clients.pop(client, None)
        self.are_there = bool(self._clients)

    def feed(self, time_us: int, db: int, source: str, words: Sequence[bytes]) -> None:
        """Show a command that was run: O(watching clients + bytes of *words*).

        A client with replies switched off is shown nothing.
        """
        data = line(time_us, db, source, words)
        for client in list(self._clients):  # one that cannot be sent anything may leave meanwhile
            if not client.is_muted:
                self._pushes.send(client, data)

    def client_left(self, client: Client) -> None:
        self.remove(client)


def line(time_us: int, db: int, source: str, words: Sequence[bytes]) -> bytes:
    """The line that shows one command, with its line end."""
    seconds, microseconds = divmod(time_us, 1_000_000)
    shown = b" ".join(b'"%b"' % _SPECIAL.sub(_escape, word) for word in words)
    origin = source.encode("utf-8", "surrogateescape")
    return b"+%d.%06d [%d %b] %b\r\n" % (seconds, microseconds, db, origin, shown)


def _escape(match: re.Match[bytes]) -> bytes:
    return _ESCAPES.get(match[0]) or b"\\x%02x" % match[0][0]
