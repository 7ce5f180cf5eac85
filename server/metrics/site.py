"""/metrics: the figures of the server, for Prometheus.

What makes the page is imported when it is first asked for, a module a turn: all of it at once would
keep clients waiting for some 20 ms.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from server.http.messages import Body, Exchange, Request, Response, Site
from server.metrics.exposition import Form, wanted
from server.parts.state import ServerState

if TYPE_CHECKING:  # it is imported later
    from server.metrics.page import Pages

PATH = "/metrics"
NOT_FOUND = Response(404, b"not found\n")
NOT_ALLOWED = Response(405, b"only GET and HEAD\n", headers=(("allow", "GET, HEAD"),))


class Metrics(Site):
    """Answers with a page that is made in steps, in the format that the client accepts."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._made = _pages(state)
        self._pages: Pages | None = None

    def serve(self, request: Request, exchange: Exchange) -> None:
        if request.path.rstrip("/") != PATH:
            exchange.respond(NOT_FOUND)
        elif request.method not in {"GET", "HEAD"}:
            exchange.respond(NOT_ALLOWED)
        else:
            form = wanted(request.headers.get("accept", ""))
            exchange.begin(Answer(self, form, exchange), form.value)

    def reader(self, form: Form, exchange: Exchange) -> Body | None:
        """Who takes a page for *exchange*; None: a step was made towards that, ask again."""
        if self._pages is None:
            try:
                self._pages = next(self._made)
            except Exception:  # for lack of memory, perhaps: the next one tries again
                self._made = _pages(self._state)
                raise
        return None if self._pages is None else self._pages.reader(form, exchange)


class Answer(Body):
    """The page, as soon as it can be begun."""

    def __init__(self, site: Metrics, form: Form, exchange: Exchange) -> None:
        self._site = site
        self._form = form
        self._exchange = exchange
        self._reader: Body | None = None

    def more(self) -> bytes | None:
        if self._reader is None:
            self._reader = self._site.reader(self._form, self._exchange)
        if self._reader is None:
            self._exchange.wake()
            return b""
        return self._reader.more()

    def gone(self) -> None:
        if self._reader is not None:
            self._reader.gone()


def _pages(state: ServerState) -> Iterator[Pages | None]:
    """Import what makes the pages, a module a step, and last yield them."""
    import server.metrics.fact_metrics  # noqa: PLC0415  (as said above; the others, too)

    yield None
    import server.metrics.server_metrics  # noqa: PLC0415

    yield None
    import server.metrics.stream_metrics  # noqa: PLC0415

    yield None
    import server.metrics.key_metrics  # noqa: PLC0415

    yield None
    import server.metrics.own_metrics  # noqa: F401, PLC0415

    yield None
    from server.metrics import page  # noqa: PLC0415

    yield page.Pages(state, time.monotonic)
