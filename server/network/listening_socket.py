"""A listening socket on the event loop, for both backends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from socket import socket

RETRY_S = 1.0  # until the next try to accept, after the system had no file left for a client

_log = logging.getLogger("penstock")


class ListeningSocket:
    """Listens at *sock*, and calls *accept* while clients wait there. Raises OSError."""

    def __init__(
        self,
        sock: socket,
        backlog: int,
        loop: asyncio.AbstractEventLoop,
        accept: Callable[[], None],
    ) -> None:
        self.sock = sock
        self._loop = loop
        self._accept = accept
        sock.setblocking(False)
        sock.listen(backlog)
        loop.add_reader(sock, accept)

    def rest(self, error: OSError | MemoryError) -> None:
        """Call *accept* no more for a while: it has failed, and would fail again at once."""
        _log.error("cannot accept a client for now: %s", getattr(error, "strerror", "no memory"))
        self._loop.remove_reader(self.sock)
        self._loop.call_later(RETRY_S, self._go_on)

    def _go_on(self) -> None:
        if self.sock.fileno() >= 0:
            self._loop.add_reader(self.sock, self._accept)

    def close(self) -> None:
        """Stop listening."""
        self._loop.remove_reader(self.sock)
        self.sock.close()
