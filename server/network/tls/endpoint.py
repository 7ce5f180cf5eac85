"""What the socket's transport drives on a TLS connection: first its handshake, then its records."""

from __future__ import annotations

from typing import Protocol

from server.client.endpoint import Endpoint
from server.network.tls.transport import TlsTransport


class Leader(Protocol):
    """Leads the handshake: Handshakes for clients, TlsConnector for a connection of our own."""

    def received(self, transport: TlsTransport, data: bytes) -> None: ...

    def ended(self, transport: TlsTransport) -> None: ...

    def lost(self, transport: TlsTransport) -> None: ...


class TlsEndpoint(Endpoint):
    """Passes on what happens to the socket. The handshake is led by *handshakes*."""

    __slots__ = ("_handshakes", "_transport")

    def __init__(self, transport: TlsTransport, handshakes: Leader) -> None:
        super().__init__()
        self._transport = transport
        self._handshakes = handshakes

    def data_received(self, data: bytes) -> None:
        if self._transport.is_open:
            self._transport.received(data)
        else:
            self._handshakes.received(self._transport, data)

    def eof_received(self) -> None:
        if self._transport.is_open:
            self._transport.ended()
        else:
            self._handshakes.ended(self._transport)

    def connection_lost(self) -> None:
        if not self._transport.is_open:
            self._handshakes.lost(self._transport)
        self._transport.lost()

    def pause_writing(self) -> None:
        self._transport.paused()

    def sent_some(self) -> None:
        self._transport.sent_some()

    def resume_writing(self) -> None:
        self._transport.resumed()
