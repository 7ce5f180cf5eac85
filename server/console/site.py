"""The console: a page in the browser, and the API that it speaks with.

    GET  /console/               the page: static_files.py
         /console/api/...        who is logged in, commands, live streams: api.py

Who may come this far at all is for gate.py to say.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from server.console.answers import NOT_FOUND, SAFE, plain
from server.console.api import ROOT, Api
from server.console.gate import Gate
from server.console.static_files import FOLDER, StaticFiles
from server.dispatch.dispatcher import Dispatcher
from server.http.messages import MOST_BODY, SMALL_BODY, Exchange, Request, Response, Site
from server.network.clients import Clients
from server.observe.part import Part
from server.process.server_clock import monotonic_ms

API = "api/"

TO_ROOT = Response(308, b"", headers=(*SAFE, ("location", ROOT + "/")))
ONLY_READ = plain(405, "only GET and HEAD", (("allow", "GET, HEAD"),))


class Console(Site, Part):
    """Serves all below /console. It is a part of the server from its first request on.

    *now_ms* is the monotonic clock of sessions and logins.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        clients: Clients,
        now_ms: Callable[[], int] = monotonic_ms,
        folder: Path = FOLDER,
    ) -> None:
        state = dispatcher.state
        self._gate = Gate(state.config, state.access.users)
        self._files = StaticFiles(folder)
        self._api = Api(dispatcher, clients, now_ms)
        self._config = state.config
        state.parts.append(self)

    def serve(self, request: Request, exchange: Exchange) -> None:
        refusal = self._gate.refusal(request)
        path = request.path.removeprefix(ROOT)
        if refusal is not None:
            exchange.respond(refusal)
        elif path == "":
            exchange.respond(TO_ROOT)
        elif path.startswith("/" + API):
            self._api.serve(path.removeprefix("/" + API), request, exchange)
        elif not path.startswith("/"):
            exchange.respond(NOT_FOUND)
        elif request.method not in {"GET", "HEAD"}:
            exchange.respond(ONLY_READ)
        else:
            exchange.respond(self._files.answer(path[1:], request))

    def most_body(self, request: Request) -> int:
        return MOST_BODY if self._api.knows(request) else SMALL_BODY

    def tick(self, now_ms: int) -> None:
        if self._config.console:
            self._api.tick()
        else:
            self._api.end()

    def close(self) -> None:
        """The server stops."""
        self._api.end()
