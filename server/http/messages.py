"""A request over HTTP, its response, and the site that answers it.

peer -> HttpConnection -> Site.serve(request, exchange)
    exchange.respond(response)      whole: now, or in a later turn
    exchange.begin(body, kind)      piece by piece
        body.more() -> bytes        one piece a turn, while the peer takes it
        exchange.wake()             there is something again
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

PLAIN = "text/plain; charset=utf-8"
Headers = Sequence[tuple[str, str]]

# Bytes of a request's body. These defend the server's memory: all who can connect may send the
# first, and of them there may be hundreds.
SMALL_BODY = 64 * 1024
MOST_BODY = 4 * 1024**2  # of whom a site knows: a value that somebody edits


class Request(NamedTuple):
    """What was asked. *path* is decoded: a site that looks for files checks it.

    The names of *headers* are in lower case; of several of the same name, the last counts.
    *peer* and *local* are the addresses of the connection's two ends, ``host:port``.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    peer: str
    local: str
    is_tls: bool


class Response(NamedTuple):
    """A whole answer. *kind* is its content type; of HEAD, the body is not sent."""

    status: int
    body: bytes = b""
    kind: str = PLAIN
    headers: Headers = ()


class Body(ABC):
    """An answer that is sent piece by piece."""

    @abstractmethod
    def more(self) -> bytes | None:
        """The next piece; b"": there is none now, see Exchange.wake; None: that was all.

        Asked once a turn while the peer takes what it is sent, so a piece is at most what may hold
        up other clients.
        """

    def gone(self) -> None:  # noqa: B027  (not every body cares)
        """All was sent, or the peer has left. Told once."""


class Exchange(ABC):
    """One request that waits for its answer. After the peer has left nothing is sent any more."""

    @abstractmethod
    def respond(self, response: Response) -> None:
        """Send *response*, at the end of the turn."""

    @abstractmethod
    def begin(self, body: Body, kind: str, headers: Headers = ()) -> None:
        """Send *body*, of the content type *kind*, piece by piece, with status 200."""

    @abstractmethod
    def wake(self) -> None:
        """The body that was begun has something again: ask it in the next turn."""


class Site(ABC):
    """Answers the requests to some paths."""

    @abstractmethod
    def serve(self, request: Request, exchange: Exchange) -> None:
        """Answer *request*, now or in a later turn."""

    def most_body(self, _request: Request) -> int:
        """How many bytes the body of *request*, which has not come yet, may have."""
        return SMALL_BODY

    def close(self) -> None:  # noqa: B027  (most have nothing to do)
        """The server stops: nothing more will be asked."""


class Sites(ABC):
    """All sites. They are imported and made when they are first asked for."""

    def prepare(self) -> None:  # noqa: B027  (most import nothing that takes long)
        """There will be requests: import now what would hold clients up later."""

    @abstractmethod
    def find(self, path: str) -> Site | None:
        """The site that answers requests to *path*; None: there is none."""
