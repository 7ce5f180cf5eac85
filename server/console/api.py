"""The console's API.

    GET  session     200 {"user","csrf","server":{..}}, or 401 {"login": true} if one has to log in
    POST login       {"username","password"}: 200 as session, and a cookie; 401; 429
    POST logout      204
    POST commands    {"db","commands","transaction"}: 200 {"replies":[..]}
    GET  live        server-sent events: live.py
    POST watch       {"live","every_ms","paused","db","watches","streams"}: 204

All but the first two ask for the cookie of a session, and what is posted then for its secret in the
header x-csrf-token. Errors are {"error": text}. words.py has what is read, and its limits.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from server.console import words
from server.console.answers import NO_STORE, failed, told
from server.console.attempts import Attempts
from server.console.batch import CUT_OFF, Batch
from server.console.gate import host_of, port_of
from server.console.live import Live
from server.console.local_client import NAME, RESP, LocalClient
from server.console.pace import Pace
from server.console.replies import error_text, is_error
from server.console.runner import Job, Runner, Steps
from server.console.sessions import Full, Session, Sessions
from server.console.words import BadRequest
from server.dispatch.dispatcher import Dispatcher
from server.http.messages import Exchange, Request, Response
from server.network.clients import Clients
from server.process import build

ROOT = "/console"
COOKIE = "penstock_console"
ONE_KIND = "application/json"

NO_SESSION = failed(401, "the session has ended: log in again")
WRONG_CSRF = failed(403, "x-csrf-token is not that of the session")
NOT_JSON = failed(415, "the body must be application/json")
TOO_LARGE = failed(413, "the body is larger than the console reads")
TOO_BUSY = failed(429, "too many requests of this session wait for an answer")
TOO_MANY_SESSIONS = failed(503, "there are as many sessions as the console has")
TOO_MANY_LIVE = failed(429, "there are as many live streams as the console has: close a tab")
NO_ROOM = failed(503, "the server takes no more clients: see maxclients")
NO_SUCH_LIVE = failed(404, "this session has no such live stream")
NOT_FOUND = failed(404, "the API has no such path")
DONE = Response(204, headers=NO_STORE)

EVENTS = "text/event-stream; charset=utf-8"
UNBUFFERED = (*NO_STORE, ("x-accel-buffering", "no"))  # nginx would wait for more

Answer: TypeAlias = Callable[[Request, Exchange, "Session | None"], None]


class Api:
    """Answers requests to the API. *now_ms* is a monotonic clock."""

    def __init__(self, dispatcher: Dispatcher, clients: Clients, now_ms: Callable[[], int]) -> None:
        self._dispatcher = dispatcher
        self._state = dispatcher.state
        self._clients = clients
        self._now_ms = now_ms
        self._pace = Pace(dispatcher.turn)
        self._attempts = Attempts()
        self._sessions = Sessions(now_ms)
        self._answers: dict[tuple[str, str], Answer] = {
            ("GET", "session"): self._session,
            ("POST", "login"): self._login,
            ("POST", "logout"): self._logout,
            ("POST", "commands"): self._commands,
            ("GET", "live"): self._live,
            ("POST", "watch"): self._watch,
        }
        self._methods = {path: method for method, path in self._answers}

    def serve(self, path: str, request: Request, exchange: Exchange) -> None:
        """Answer a request to *path* below the API's."""
        answer = self._answers.get((request.method, path))
        if answer is None:
            exchange.respond(self._not_found(path))
            return
        session = self._session_of(request)
        refusal = self._refusal(path, request, session)
        if refusal is not None:
            exchange.respond(refusal)
            return
        try:
            answer(request, exchange, session)
        except BadRequest as error:
            exchange.respond(failed(400, str(error)))

    def _not_found(self, path: str) -> Response:
        method = self._methods.get(path)
        if method is None:
            return NOT_FOUND
        return failed(405, f"only {method}", (("allow", method),))

    def _refusal(self, path: str, request: Request, session: Session | None) -> Response | None:
        """Why the request is not even read; None if it is."""
        is_login = path == "login"
        if session is None and not is_login and path != "session":
            return NO_SESSION
        if request.method != "POST":
            return None
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != ONE_KIND:
            return NOT_JSON
        if len(request.body) > (words.MOST_LOGIN_BYTES if is_login else words.MOST_BYTES):
            return TOO_LARGE
        csrf = request.headers.get("x-csrf-token", "")
        if session is not None and not is_login and not session.accepts(csrf):
            return WRONG_CSRF
        return None

    # ------------------------------------------------------------------ sessions

    def knows(self, request: Request) -> bool:
        """Whether *request* is of somebody who is logged in."""
        return self._session_of(request) is not None

    def _session_of(self, request: Request) -> Session | None:
        return self._sessions.of(cookies(request).get(cookie_name(request), ""))

    def _session(self, request: Request, exchange: Exchange, session: Session | None) -> None:
        if session is not None:
            exchange.respond(told(200, self._about(session)))
        elif self._state.access.asks_for_login:
            exchange.respond(told(401, {"error": "log in", "login": True}))
        else:
            self._log_in(request, exchange, [])

    def _login(self, request: Request, exchange: Exchange, session: Session | None) -> None:
        name, password = words.credentials(request.body)
        wait_ms = self._attempts.wait_ms(request.peer, self._now_ms())
        if wait_ms:
            exchange.respond(_too_often(wait_ms))
            return
        self._attempts.tried(request.peer, name, self._now_ms())
        self._log_in(request, exchange, [b"AUTH", name, password], session)

    def _log_in(
        self, request: Request, exchange: Exchange, auth: list[bytes], before: Session | None = None
    ) -> None:
        """Begin a session, of who *auth* says or of the default user. It follows on *before*."""
        client = self._client_of(request)

        def greeted(reply: bytes) -> None:
            if is_error(reply) or not client.is_open:  # it may have been killed since
                client.abort()
                exchange.respond(_not_let_in(reply if is_error(reply) else CUT_OFF))
                return
            if auth:
                self._attempts.succeeded(request.peer, auth[1], self._now_ms())
            if before is not None:
                before.end()
            exchange.respond(self._begin(request, client))

        Runner(client, self._pace, nobody).add(Greeting(auth, greeted))

    def _begin(self, request: Request, client: LocalClient) -> Response:
        try:
            secret, session = self._sessions.begin(client, self._pace)
        except Full:
            client.abort()
            return TOO_MANY_SESSIONS
        cookie = f"{cookie_name(request)}={secret}; Path={ROOT}; HttpOnly; SameSite=Strict"
        cookie += "; Secure" if request.is_tls else ""
        return told(200, self._about(session), (("set-cookie", cookie),))

    def _client_of(self, request: Request) -> LocalClient:
        """A new client, which has the addresses of the browser's connection."""
        return LocalClient(self._dispatcher, self._clients, request.peer, request.local)

    def _logout(self, request: Request, exchange: Exchange, session: Session | None) -> None:
        assert session is not None
        session.end()
        cookie = f"{cookie_name(request)}=; Path={ROOT}; HttpOnly; SameSite=Strict; Max-Age=0"
        exchange.respond(DONE._replace(headers=(*DONE.headers, ("set-cookie", cookie))))

    def _about(self, session: Session) -> dict[str, Any]:
        """What the page is told of its session."""
        config, replication = self._state.config, self._state.replication
        role = "replica" if replication.is_replica else "primary"
        server = {
            "version": build.VERSION,
            "mode": "standalone",
            "role": role,
            "name": f"{os.uname().nodename}:{config.port or config.tls_port}",
        }
        user = session.user.decode("utf-8", "replace")
        return {"user": user, "csrf": session.csrf, "server": server}

    # ------------------------------------------------------------------ commands

    def _commands(self, request: Request, exchange: Exchange, session: Session | None) -> None:
        assert session is not None
        asked = words.commands(request.body)
        runner = session.free_runner(partial(self._further_client, request, session))
        if runner.is_full:
            exchange.respond(TOO_BUSY)
        else:
            runner.add(Batch(asked, self._dispatcher.lookup, runner.client, exchange))

    def _further_client(self, request: Request, session: Session) -> LocalClient:
        """One more client of who is logged in; it may be refused, as any client."""
        client = self._client_of(request)
        if not client.client.close_after_reply:
            client.become(self._state.access, session.runner.client)
        return client

    # ------------------------------------------------------------------ live streams

    def _live(self, request: Request, exchange: Exchange, session: Session | None) -> None:
        assert session is not None
        try:
            self._sessions.check_live(session)
        except Full:
            exchange.respond(TOO_MANY_LIVE)
            return
        client = self._further_client(request, session)
        if client.client.close_after_reply:  # there are too many clients
            exchange.respond(NO_ROOM)
            return
        client.client.no_touch = True  # what is looked at is not in use because of that
        live = Live(
            client, self._pace, self._dispatcher.lookup, exchange, self._now_ms(), session.forget
        )
        session.lives[live.id] = live
        exchange.begin(live, EVENTS, UNBUFFERED)

    def _watch(self, request: Request, exchange: Exchange, session: Session | None) -> None:
        assert session is not None
        wanted = words.watching(request.body)
        live = session.lives.get(wanted.live)
        if live is None:
            exchange.respond(NO_SUCH_LIVE)
            return
        live.watch(wanted)
        exchange.respond(DONE)

    # ------------------------------------------------------------------ time

    def tick(self) -> None:
        """Cron ticks: look after sessions, and at what is watched."""
        self._sessions.tick()
        now_ms = self._now_ms()
        unix_ms = self._state.events.clock.now_ms
        for session in self._sessions:
            for client in session.clients():
                client.end_wait()
                if session.lives:
                    client.touch(unix_ms)
            for live in list(session.lives.values()):
                live.touch(unix_ms)
                live.tick(now_ms)

    def end(self) -> None:
        """End all sessions."""
        self._sessions.end_all()


class Greeting(Job):
    """Says HELLO, by which a client logs in and gets its name. *greeted* is told the reply."""

    def __init__(self, auth: list[bytes], greeted: Callable[[bytes], None]) -> None:
        self._argv = [b"HELLO", b"%d" % RESP, *auth, b"SETNAME", NAME]
        self._greeted = greeted
        self._reply = CUT_OFF

    def steps(self) -> Steps:
        self._reply = yield self._argv

    def done(self) -> None:
        self._greeted(self._reply)

    def lost(self, may_have_run: bool) -> None:
        self.done()


def nobody() -> None:
    """A client that was greeted has left: its session is told then."""


def cookies(request: Request) -> dict[str, str]:
    """What the browser has kept for this host."""
    pairs = (pair.partition("=") for pair in request.headers.get("cookie", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def cookie_name(request: Request) -> str:
    """Cookies know no ports: two servers of one host need two names."""
    return f"{COOKIE}_{port_of(host_of(request))}"


def _too_often(wait_ms: int) -> Response:
    what = {"error": "too many attempts to log in: wait", "retry_after_ms": wait_ms}
    return told(429, what, (("retry-after", str(-(-wait_ms // 1000))),))


def _not_let_in(reply: bytes) -> Response:
    """The answer to who the server has refused by *reply*."""
    text = error_text(reply)
    code = text.partition(" ")[0]
    if code in {"WRONGPASS", "NOAUTH"}:
        return told(401, {"error": text, "login": True})
    return failed(403 if code == "DENIED" else 503, text)
