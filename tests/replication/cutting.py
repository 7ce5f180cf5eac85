"""A wire between a replica and its primary that breaks after a number of bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class CuttingWire:
    """Passes bytes on, both ways. Each link breaks when the primary has sent the next of *lengths*.

    When there is no length any more, links stay.
    """

    def __init__(self, to_port: int, lengths: Iterator[int]) -> None:
        self.cuts = 0
        self._to_port = to_port
        self._lengths = lengths
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept nobody any more."""
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                replica, _ = self._listening.accept()
                primary = socket.create_connection(("127.0.0.1", self._to_port))
                length = next(self._lengths, None)
                for way in ((replica, primary, None), (primary, replica, length)):
                    threading.Thread(target=self._pass, args=way, daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, most: int | None) -> None:
        """Pass on what *one* sends, *most* bytes of it."""
        left = most
        with contextlib.suppress(OSError):
            while (data := one.recv(4096 if left is None else min(4096, left))) and left != 0:
                other.sendall(data)
                if left is not None:
                    left -= len(data)
                    if not left:
                        self.cuts += 1
                        break
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
