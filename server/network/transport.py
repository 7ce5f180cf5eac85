"""What a connection asks of its socket, whichever of the two backends serves it.

epoll     server.network.epoll.transport      an epoll of the server's own
asyncio   server.network.asyncio_backend      a transport of the event loop
TLS       server.network.tls.transport        a layer above either of them
"""

from __future__ import annotations

from protocol.encoder import Encoder


class Transport:
    """One client's socket, with its file descriptor *fd* (-1 when it is closed).

    *address* and *local_address* are those of its two ends: ``host:port``, or ``path:0`` for a unix
    socket.

    It drives an Endpoint as asyncio drives a protocol, but for one thing: when the server closes a
    socket, the endpoint hears so at once, not when the loop turns.
    """

    __slots__ = ("address", "fd", "local_address")

    fd: int
    address: str
    local_address: str

    def ready(self, events: int) -> None:
        """The selector has found *events* (in epoll's words); the event loop's has other ways."""

    def peer_name(self) -> str:
        """The common name in the certificate that the client has shown; "" without one."""
        return ""

    def write(self, out: Encoder) -> None:
        """Send what *out* holds, or keep what the socket does not take now; *out* is empty then."""

    def unsent(self) -> int:
        """Bytes written that the socket has not taken yet.

        A large value is referred to, not copied, and counts in full for each client that waits for
        it: the limits are Redis's, which holds a copy for each.
        """
        return 0

    def unsent_pieces(self) -> int:
        """How many pieces of memory these are in."""
        return 0

    def close(self) -> None:
        """Close when all is sent; nothing more is read."""

    def pause_reading(self) -> None:
        """Read nothing until resume_reading(): the peer has to wait."""

    def resume_reading(self) -> None:
        """Read again."""

    def abort(self) -> None:
        """Close at once. What has not been sent is lost."""
