"""Which site answers which path of the HTTP face.

    /healthz    server/metrics/health.py
    /readyz     server/metrics/health.py
    /metrics    server/metrics/site.py
    /console    server/console/site.py

A site is imported when it is first asked for, so that one that nobody uses takes no memory; only
prometheus_client is imported with the port.
"""

from __future__ import annotations

from server.dispatch.dispatcher import Dispatcher
from server.http.messages import Site, Sites
from server.network.clients import Clients


class ServerSites(Sites):
    """The sites of one server."""

    def __init__(self, dispatcher: Dispatcher, clients: Clients) -> None:
        self._dispatcher = dispatcher
        self._clients = clients
        self._made: dict[str, Site] = {}

    def prepare(self) -> None:
        """Import prometheus_client before there are clients: it takes a tenth of a second."""
        import server.metrics.exposition  # noqa: F401, PLC0415  (with a metrics port)

    def find(self, path: str) -> Site | None:
        name = path.split("/", 2)[1] if path.startswith("/") else ""
        if name not in self._made:
            site = self._make(name)
            if site is None:
                return None
            self._made[name] = site
        return self._made[name]

    def _make(self, name: str) -> Site | None:
        if name == "healthz":
            from server.metrics.health import Health  # noqa: PLC0415  (when it is asked for)

            return Health()
        if name == "readyz":
            from server.metrics.health import Readiness  # noqa: PLC0415

            return Readiness(self._dispatcher.state)
        if name == "metrics":
            from server.metrics.site import Metrics  # noqa: PLC0415

            return Metrics(self._dispatcher.state)
        if name == "console" and self._dispatcher.state.config.console:
            from server.console.site import Console  # noqa: PLC0415

            return Console(self._dispatcher, self._clients)
        return None

    def close(self) -> None:
        """The server stops."""
        for site in self._made.values():
            site.close()
