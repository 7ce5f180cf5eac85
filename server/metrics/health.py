"""/healthz: whether the process answers."""

from __future__ import annotations

from server.http.messages import Exchange, Request, Response, Site


class Health(Site):
    """Answers ``ok`` as long as the event loop turns."""

    def serve(self, _request: Request, exchange: Exchange) -> None:
        exchange.respond(Response(200, b"ok\n"))
