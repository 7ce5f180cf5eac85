"""The kind of listener that speaks HTTP: metrics-port, on the addresses of metrics-bind.

What it needs is imported when there is such a port.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from server.config.parameters import BadValue, Config
from server.dispatch.turn import Turn
from server.http.messages import Sites
from server.network.acceptor import Acceptor
from server.network.backend import Backend
from server.network.listener_kinds import Tcp, Tls

if TYPE_CHECKING:
    from server.http.peers import Peers


class Http(Tcp):
    """Serves *sites*; over TLS, by the server's certificate, with metrics-tls."""

    name = "http"
    port_parameter = "metrics-port"
    address_parameter = "metrics-bind"

    def __init__(self, config: Config, sites: Sites, serving: Backend, turn: Turn) -> None:
        self._config = config
        self._sites = sites
        self._backend = serving
        self._turn = turn
        self._peers: Peers | None = None
        self._tls: Tls | None = None

    @property
    def port(self) -> int:
        return self._config.metrics_port

    def addresses(self) -> Sequence[str]:
        return self._config.metrics_bind

    def acceptor(self) -> Acceptor:
        """With metrics-tls the handshake comes first. Raises BadValue."""
        from server.http.acceptor import HttpAcceptor  # noqa: PLC0415  (with a metrics port)
        from server.http.peers import Peers  # noqa: PLC0415

        if self._peers is None:
            self._peers = Peers()
            self._sites.prepare()
        is_tls = self._config.metrics_tls
        inner = HttpAcceptor(self._config, self._sites, self._turn, self._peers, is_tls)
        if not is_tls:
            return inner
        if self._tls is None:
            self._tls = Tls(self._config, inner, self._backend)
        return self._tls.acceptor()

    def failure(self, error: Exception, port: int) -> OSError:
        if isinstance(error, BadValue):
            return OSError("Failed to configure TLS for metrics-tls. Check logs for more info.")
        return super().failure(error, port)

    def reload(self) -> None:
        if self.is_wanted and self._tls is not None:
            self._tls.acceptor()

    def configured(self, config: Config) -> None:
        if self._tls is not None:
            self._tls.configured(config)

    def tick(self, now_ms: int) -> None:
        if self._peers is not None:
            self._peers.tick(now_ms)
        if self._tls is not None:
            self._tls.tick(now_ms)
