"""TLS on a connection that this server has made: it is the client, and begins the handshake."""

from __future__ import annotations

from collections.abc import Callable
from ssl import SSLError

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.tls import openssl
from server.network.tls.context import make_context
from server.network.tls.endpoint import TlsEndpoint
from server.network.tls.transport import TlsTransport
from server.network.transport import Transport


class TlsConnector(Acceptor):
    """Stands before *acceptor*, which gets the connection when its handshake is done.

    It leads that one handshake, as Handshakes leads those of clients; *on_failed* is told why there
    is no connection. Raises BadSettings if the configuration allows no TLS.
    """

    def __init__(
        self, config: Config, acceptor: Acceptor, on_failed: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self._context = make_context(config, is_server=False)
        self._acceptor = acceptor
        self._on_failed = on_failed
        self._has_failed = False
        self._transport: TlsTransport

    def connect(self, transport: Transport) -> Endpoint:
        self._transport = TlsTransport(transport, self._context, is_server=False)
        return TlsEndpoint(self._transport, self)

    def close(self) -> None:
        """Close the connection during its handshake."""
        self._fail("it has taken too long")

    def received(self, transport: TlsTransport, data: bytes) -> None:
        """More of the handshake has come."""
        transport.take(data)
        self.begin()

    def ended(self, transport: TlsTransport) -> None:
        """The other side has closed its half of the connection."""
        self._fail("the other side has gone")

    def lost(self, transport: TlsTransport) -> None:
        """The socket is closed."""
        self._fail("the connection was lost")

    def _fail(self, why: str) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._on_failed(f"the TLS handshake has failed: {why}")
            self._transport.abort()

    def begin(self) -> None:
        """Take the next step of the handshake; the first, when the socket is served."""
        try:
            is_done = self._transport.shake_hands()
        except SSLError as error:
            self._fail(openssl.reason_of(error))
            return
        if is_done:
            endpoint = self._acceptor.connect(self._transport)
            self._transport.open(endpoint)
            endpoint.resume()
