"""Accepts clients that speak TLS, as the configuration wants them to."""

from __future__ import annotations

from collections.abc import Callable

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.tls.context import VERIFICATION, make_context
from server.network.tls.endpoint import TlsEndpoint
from server.network.tls.handshakes import Handshakes
from server.network.tls.transport import TlsTransport
from server.network.transport import Transport


class TlsAcceptor(Acceptor):
    """Stands before *acceptor*, which gets the clients whose handshake is done.

    Raises BadSettings if the configuration allows no TLS.
    """

    def __init__(
        self,
        config: Config,
        acceptor: Acceptor,
        call_soon: Callable[[Callable[[], None]], None],
    ) -> None:
        self._context = make_context(config)
        self._handshakes = Handshakes(acceptor, call_soon, 1)
        super().__init__(config)

    def configured(self, config: Config) -> None:
        super().configured(config)
        self._context.verify_mode = VERIFICATION[config.tls_auth_clients]
        self._handshakes.at_once = config.max_new_tls_connections_per_cycle

    def load(self, config: Config) -> None:
        """Read certificate, key and settings again, for the clients that come from now on.

        Raises BadSettings, and keeps the old ones.
        """
        self._context = make_context(config)

    def tick(self, now_ms: int) -> None:
        self._handshakes.tick(now_ms)

    def connect(self, transport: Transport) -> Endpoint:
        above = TlsTransport(transport, self._context)
        self._handshakes.begin(above)
        return TlsEndpoint(above, self._handshakes)
