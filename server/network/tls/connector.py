"""TLS on a connection that this server has made: it is the client, and begins the handshake."""

from __future__ import annotations

from ssl import SSLContext, SSLError

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.tls.context import make_context
from server.network.tls.transport import TlsTransport
from server.network.transport import Transport


class TlsConnector(Acceptor):
    """Stands before *acceptor*, which gets the connection when its handshake is done.

    Raises BadSettings if the configuration allows no TLS.
    """

    def __init__(self, config: Config, acceptor: Acceptor) -> None:
        super().__init__(config)
        self._context = make_context(config, is_server=False)
        self._acceptor = acceptor

    def connect(self, transport: Transport) -> Endpoint:
        return TlsLink(transport, self._context, self._acceptor)


class TlsLink(Endpoint):
    """Leads the handshake, then passes on what happens to the socket."""

    def __init__(self, below: Transport, context: SSLContext, acceptor: Acceptor) -> None:
        self.wants_buffer = False
        self._below = below
        self._acceptor = acceptor
        self._transport = TlsTransport(below, context, is_server=False)

    def resume(self) -> None:
        """The socket is served: send the first words of the handshake."""
        self._shake_hands()

    def _shake_hands(self) -> None:
        try:
            is_done = self._transport.shake_hands()
        except SSLError as error:
            self._transport.abort()
            raise OSError((error.reason or str(error)).replace("_", " ").lower()) from error
        if is_done:
            endpoint = self._acceptor.connect(self._transport)
            self._transport.open(endpoint)
            endpoint.resume()

    def data_received(self, data: bytes) -> None:
        if self._transport.is_open:
            self._transport.received(data)
        else:
            self._transport.take(data)
            self._shake_hands()

    def eof_received(self) -> None:
        if self._transport.is_open:
            self._transport.ended()
        else:
            self._below.abort()

    def connection_lost(self) -> None:
        self._transport.lost()

    def pause_writing(self) -> None:
        self._transport.paused()

    def sent_some(self) -> None:
        self._transport.sent_some()

    def resume_writing(self) -> None:
        self._transport.resumed()
