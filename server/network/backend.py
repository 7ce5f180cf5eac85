"""How sockets are served: by an epoll of the server's own, or by the event loop's transports.

Both keep the same promises, and the same tests hold them to these; but for one: when a connection
turns out to be broken as it is read, the event loop reports that in its next turn. When it is
written, both tell at once. Which one serves is decided in server.network.listeners.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from socket import socket
from typing import Protocol

from server.dispatch.turn import Turn
from server.network.acceptor import Acceptor
from server.network.new_sockets import bound_sockets, connected_socket


class Door(Protocol):
    """A socket that a backend listens at."""

    def close(self) -> None:
        """Accept nobody there any more."""


class Backend(ABC):
    """Serves clients on an event loop."""

    @abstractmethod
    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve on *loop* from now on. To be called before any of the others."""

    def bound(self, host: str, port: int) -> list[socket]:
        """A socket for each address that *host* stands for, to listen at. Raises OSError."""
        return bound_sockets(host, port)

    async def connected(self, host: str, port: int, source: str) -> socket:
        """A socket that is connected to *host* and *port*, to be adopted. Raises OSError.

        It comes from the address *source* if one is given, and the machine has it.
        """
        return await connected_socket(host, port, source)

    @abstractmethod
    def listen(self, sock: socket, backlog: int, acceptor: Acceptor) -> Door:
        """Accept clients at *sock*, which is bound: it belongs to the door now.

        *acceptor* is given the transport of each that comes. Raises OSError.
        """

    @abstractmethod
    async def adopt(self, sock: socket, acceptor: Acceptor) -> None:
        """Serve *sock*, which this server has connected; *acceptor* is given its transport.

        Raises OSError.
        """

    @abstractmethod
    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        """Make *call* as long as *fd*, which is no socket's, has something to read."""

    @abstractmethod
    def remove_reader(self, fd: int) -> None:
        """Make it no more. To be called before *fd* is closed."""

    @abstractmethod
    def tell_turns(self, turn: Turn) -> None:
        """Have *turn* end when all sockets have been served that were found ready together."""

    @abstractmethod
    def call_soon(self, call: Callable[[], None]) -> None:
        """Make *call* when the sockets that are ready now have been served."""

    @abstractmethod
    def stay_until(self, loop_due_s: float) -> None:
        """The loop's next timer is due at *loop_due_s*, by the monotonic clock.

        Until then a backend may wait for its sockets by itself, and nothing else runs on the loop
        but after ring(). 0: it must not.
        """

    @abstractmethod
    def ring(self) -> None:
        """The loop has something to do now. From any thread."""

    @abstractmethod
    def stop(self) -> None:
        """Close all clients' sockets at once."""
