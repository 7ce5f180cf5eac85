"""/healthz and /readyz: whether the process answers, and whether it serves clients now."""

from __future__ import annotations

from collections.abc import Iterator

from server.http.messages import Exchange, Request, Response, Site
from server.parts.state import ServerState


class Health(Site):
    """Answers ``ok`` as long as the event loop turns: else the process is to be started anew."""

    def serve(self, _request: Request, exchange: Exchange) -> None:
        exchange.respond(Response(200, b"ok\n"))


class Readiness(Site):
    """Answers ``ok``, or with status 503 why clients had better ask another server, a line each."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def serve(self, _request: Request, exchange: Exchange) -> None:
        reasons = list(_reasons(self._state))
        if reasons:
            text = "".join(f"{reason}\n" for reason in reasons)
            exchange.respond(Response(503, text.encode("utf-8", "replace")))
        else:
            exchange.respond(Response(200, b"ok\n"))


def _reasons(state: ServerState) -> Iterator[str]:
    """Why clients would get errors."""
    now = state.restrictions
    progress = state.persistence.progress
    if now.loading:
        percent = 0.0 if progress is None else progress.percent
        yield f"loading the data: {percent:.0f} %"
    if now.stopping:
        yield "stopping"
    if now.stale:
        yield "replica: the link to the primary is down, and replica-serve-stale-data is no"
    if now.write_refusal is not None:
        yield f"writes are refused: {now.write_refusal.text}"
    if now.role_refusal is not None and not now.is_replica:
        yield f"writes are refused: {now.role_refusal.text}"
