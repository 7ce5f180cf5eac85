"""The handshakes that are not done yet: they are led one by one, and bounded in number and time.

A client that has not shown that it speaks TLS costs the server memory and a file, and its first
words cost a signature. So that strangers cannot take these from the clients that are served:

    - handshakes continue after the turn of the loop, max-new-tls-connections-per-cycle of them each
      time: clients are served in between, however many connect at once
    - one that takes longer than LONGEST_MS is ended
    - of more than MOST, or more than maxclients leaves room for, the oldest is ended
    - what comes ahead of its turn is held up to MOST_AHEAD; with more, it is its turn
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from ssl import SSLError

from server.network.acceptor import Acceptor
from server.network.tls import openssl
from server.network.tls.transport import TlsTransport
from server.process import faults

LONGEST_MS = 10_000
MOST = 2000
MOST_AHEAD = 128 * 1024  # bytes: more than a client's whole handshake, with its certificates

_log = logging.getLogger("penstock")


class Handshakes:
    """Leads each handshake to its end; then *acceptor* makes the client's endpoint.

    *call_soon* has a call made after this turn of the loop. *at_once* of them continue in one turn.
    """

    def __init__(
        self, acceptor: Acceptor, call_soon: Callable[[Callable[[], None]], None], at_once: int
    ) -> None:
        self.at_once = at_once
        self._acceptor = acceptor
        self._call_soon = call_soon
        # -> when cron has first seen it, monotonic ms; 0: not yet. The oldest comes first.
        self._begun: OrderedDict[TlsTransport, int] = OrderedDict()
        self._ready: OrderedDict[TlsTransport, None] = OrderedDict()  # can continue

    def __len__(self) -> int:
        return len(self._begun)

    def begin(self, transport: TlsTransport) -> None:
        """A client has connected."""
        self._begun[transport] = 0
        most = max(1, min(MOST, self._acceptor.room()))
        while len(self._begun) > most:
            self._end(next(iter(self._begun)), "too many handshakes at once")

    def tick(self, now_ms: int) -> None:
        """End those that have taken too long."""
        for transport, began_ms in list(self._begun.items()):
            if not began_ms:
                self._begun[transport] = now_ms
            elif now_ms - began_ms > LONGEST_MS:
                self._end(transport, "the handshake has taken too long")

    # ------------------------------------------------------------------ what the sockets get

    def received(self, transport: TlsTransport, data: bytes) -> None:
        """More of its handshake has come."""
        if transport.take(data) > MOST_AHEAD:
            self._ready.pop(transport, None)
            self._continue(transport)
            return
        self._ready[transport] = None
        if len(self._ready) == 1:
            self._call_soon(self._continue_some)

    def ended(self, transport: TlsTransport) -> None:
        """The client has closed its half of the connection."""
        self._end(transport, "the client has gone")

    def lost(self, transport: TlsTransport) -> None:
        """Its socket is closed."""
        self._begun.pop(transport, None)
        self._ready.pop(transport, None)

    # ------------------------------------------------------------------ progress

    def _continue_some(self) -> None:
        for _ in range(min(self.at_once, len(self._ready))):
            transport, _ = self._ready.popitem(last=False)
            self._continue(transport)
        if self._ready:
            self._call_soon(self._continue_some)

    def _continue(self, transport: TlsTransport) -> None:
        try:
            if transport.shake_hands() and self._begun.pop(transport, None) is not None:
                transport.open(self._acceptor.connect(transport))
        except SSLError as error:
            self._end(transport, openssl.reason_of(error))
        except Exception as error:
            faults.report("letting a client in by TLS, who is turned away", error)
            transport.abort()

    def _end(self, transport: TlsTransport, why: str) -> None:
        if self._begun.pop(transport, None) is None:
            return  # its socket has broken
        _log.warning(
            "Error accepting a client connection: %s (addr=%s laddr=%s)",
            why, transport.address, transport.local_address,
        )  # fmt: skip
        transport.abort()
