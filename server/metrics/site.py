"""/metrics: the figures of the server, for Prometheus."""

from __future__ import annotations

import time

from server.http.messages import Exchange, Request, Response, Site
from server.metrics.exposition import wanted
from server.metrics.page import Pages
from server.parts.state import ServerState

PATH = "/metrics"
NOT_FOUND = Response(404, b"not found\n")
NOT_ALLOWED = Response(405, b"only GET and HEAD\n", headers=(("allow", "GET, HEAD"),))


class Metrics(Site):
    """Answers with a page that is made in steps, in the format that the client accepts."""

    def __init__(self, state: ServerState) -> None:
        self._pages = Pages(state, time.monotonic)

    def serve(self, request: Request, exchange: Exchange) -> None:
        if request.path.rstrip("/") != PATH:
            exchange.respond(NOT_FOUND)
        elif request.method not in {"GET", "HEAD"}:
            exchange.respond(NOT_ALLOWED)
        else:
            self._pages.begin(wanted(request.headers.get("accept", "")), exchange)
