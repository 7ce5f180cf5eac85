"""A listening socket on the event loop, for both backends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from socket import socket
from typing import Any, Protocol

RETRY_S = 1.0  # until the next try to accept, after the system had no file left for a client

_log = logging.getLogger("penstock")


class Readers(Protocol):
    """Whatever makes a call while a file has something to read: an event loop, a selector."""

    def add_reader(self, fd: int, call: Callable[[], None], /) -> Any: ...

    def remove_reader(self, fd: int, /) -> Any: ...


class ListeningSocket:
    """Listens at *sock*, and has *readers* call *accept* while clients wait there.

    Raises OSError.
    """

    def __init__(
        self,
        sock: socket,
        backlog: int,
        loop: asyncio.AbstractEventLoop,
        readers: Readers,
        accept: Callable[[], None],
    ) -> None:
        self.sock = sock
        self._loop = loop
        self._readers = readers
        self._accept = accept
        sock.setblocking(False)
        sock.listen(backlog)
        readers.add_reader(sock.fileno(), accept)

    def rest(self, error: OSError | MemoryError) -> None:
        """Call *accept* no more for a while: it has failed, and would fail again at once."""
        _log.error("cannot accept a client for now: %s", getattr(error, "strerror", "no memory"))
        self._readers.remove_reader(self.sock.fileno())
        self._loop.call_later(RETRY_S, self._accept_again)

    def _accept_again(self) -> None:
        if self.sock.fileno() >= 0:
            self._readers.add_reader(self.sock.fileno(), self._accept)

    def close(self) -> None:
        """Stop listening."""
        self._readers.remove_reader(self.sock.fileno())
        self.sock.close()
