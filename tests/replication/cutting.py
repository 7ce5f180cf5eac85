"""A wire between a replica and its primary that breaks after a number of bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator


class CuttingWire:
    """Passes bytes on, both ways. Each link breaks when the primary has sent the next of *lengths*.

    When there is no length any more, links stay; *is_through* says that it has come so far.
    """

    def __init__(self, to_port: int, lengths: Iterator[int]) -> None:
        self.is_through = False
        self._to_port = to_port
        self._lengths = lengths
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    def __enter__(self) -> CuttingWire:
        return self

    def __exit__(self, *_: object) -> None:
        """Accept nobody any more. To be called when both servers have gone."""
        self._listening.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listening.close()

    def _begin(self, run: Callable[..., None], *words: object) -> None:
        thread = threading.Thread(target=run, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                replica, _ = self._listening.accept()
            except OSError:
                return
            try:
                primary = socket.create_connection(("127.0.0.1", self._to_port))
            except OSError:
                replica.close()
                continue
            length = next(self._lengths, None)
            self.is_through = length is None
            self._begin(self._link, replica, primary, length)

    def _link(self, replica: socket.socket, primary: socket.socket, most: int | None) -> None:
        """Pass on what both send, until one has gone, or *most* bytes of the primary have come."""
        with replica, primary:
            back = threading.Thread(target=_pass, args=(replica, primary, None), daemon=True)
            back.start()
            _pass(primary, replica, most)
            back.join()


def _pass(one: socket.socket, other: socket.socket, most: int | None) -> None:
    left = most
    with contextlib.suppress(OSError):
        while left != 0 and (data := one.recv(4096 if left is None else min(4096, left))):
            other.sendall(data)
            left = None if left is None else left - len(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
