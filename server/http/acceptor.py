"""Makes a connection of each peer that comes to speak HTTP."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.dispatch.turn import Turn
from server.http.connection import HttpConnection
from server.http.messages import Sites
from server.http.peers import MOST, Peers
from server.network.acceptor import Acceptor
from server.network.transport import Transport

BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class HttpAcceptor(Acceptor):
    """*is_tls*: its connections come from an acceptor that has done the handshake."""

    def __init__(
        self, config: Config, sites: Sites, turn: Turn, peers: Peers, is_tls: bool
    ) -> None:
        super().__init__(config)
        self._sites = sites
        self._turn = turn
        self._peers = peers
        self._is_tls = is_tls

    def room(self) -> int:
        return MOST - len(self._peers)

    def connect(self, transport: Transport) -> Endpoint:
        if self._peers.is_full:
            return TurnedAway(transport, self._turn)
        connection = HttpConnection(transport, self._sites, self._turn, self._peers, self._is_tls)
        self._peers.joined(connection)
        return connection


class TurnedAway(Endpoint):
    """One more than there may be: it is told so, and disconnected."""

    __slots__ = ("_is_closed", "_transport")

    def __init__(self, transport: Transport, turn: Turn) -> None:
        Endpoint.__init__(self)
        self._transport = transport
        self._is_closed = False
        turn.enter()
        turn.send_later(self)

    def eof_received(self) -> None:
        self.disconnect()

    def connection_lost(self) -> None:
        self._is_closed = True

    def send(self) -> None:
        if not self._is_closed:
            out = Encoder()
            out.raw(BUSY)
            self._transport.write(out)
        if not self._is_closed:
            self._transport.close()

    def disconnect(self) -> None:
        self._transport.abort()
