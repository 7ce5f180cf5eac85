"""Who is logged in: each session with its secret, its client and its live streams.

    cookie  penstock_console_<port>=<secret>     HttpOnly: no script reads it; SameSite=Strict: no
                                                 other site's page has it sent
    csrf    a second secret, which the page sends in a header with whatever changes something

The server keeps the SHA-256 of a cookie's secret. A session ends by logging out, when its client is
disconnected (CLIENT KILL, its user removed), after half an hour without use, or after twelve hours.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from hashlib import sha256
from hmac import compare_digest

from server.console.live import Live
from server.console.local_client import LocalClient
from server.console.pace import Pace
from server.console.runner import Runner

# These defend users: a browser that was left alone is nobody's for ever.
IDLE_MS = 30 * 60_000
LONGEST_MS = 12 * 60 * 60_000
# These defend the server's memory and its other clients against who may log in. One user's sessions
# push out his own oldest, never those of others.
MOST = 256
MOST_OF_A_USER = 16
MOST_LIVE = 8  # streams of a session: open tabs
MOST_LIVE_OF_ALL = 64

SECRET_BYTES = 32


class Full(Exception):
    """There are as many as there may be."""


class Session:
    """One login. *user* is who, *csrf* the secret of its pages.

    Its commands are run by *runner*, whose client is the session: they end together. While a
    command of it is held, a spare one runs others: what ends a script, or a pause.
    """

    def __init__(self, client: LocalClient, pace: Pace, now_ms: int) -> None:
        self.user = client.client.user.name
        self.csrf = secrets.token_urlsafe(SECRET_BYTES)
        self.made_ms = self.used_ms = now_ms
        self.is_over = False
        self.lives: dict[str, Live] = {}  # by their ids
        self._pace = pace
        self.runner = Runner(client, pace, self.end)
        self._spare: Runner | None = None

    def accepts(self, csrf: str) -> bool:
        """Whether *csrf* is what its pages know. The time taken tells nothing."""
        return compare_digest(csrf.encode(), self.csrf.encode())

    def free_runner(self, new_client: Callable[[], LocalClient]) -> Runner:
        """What is to run its next commands."""
        if not self.runner.client.is_held:
            return self.runner
        if self._spare is None:
            self._spare = Runner(new_client(), self._pace, self._spare_ended)
        return self._spare

    def _spare_ended(self) -> None:
        self._spare = None

    def clients(self) -> list[LocalClient]:
        """Those that run its commands."""
        return [self.runner.client, *([] if self._spare is None else [self._spare.client])]

    def is_too_old(self, now_ms: int) -> bool:
        """Whether nobody has used it for long, or it has lasted for long."""
        if self.lives:
            self.used_ms = now_ms  # somebody looks at it
        return now_ms - self.used_ms > IDLE_MS or now_ms - self.made_ms > LONGEST_MS

    def forget(self, live: str) -> None:
        """The live stream of this id has ended."""
        self.lives.pop(live, None)

    def end(self) -> None:
        """Disconnect its client, and end what it watches."""
        if not self.is_over:
            self.is_over = True
            for client in self.clients():
                client.abort()
            for live in list(self.lives.values()):
                live.end()


class Sessions:
    """All sessions, by the hashes of their cookies' secrets."""

    def __init__(self, monotonic_ms: Callable[[], int]) -> None:
        self._monotonic_ms = monotonic_ms
        self._all: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._all.values()))

    def of(self, secret: str) -> Session | None:
        """The session of the cookie *secret*, which is used now; None if there is none any more."""
        key = _hash(secret)
        session = self._all.get(key)
        if session is None:
            return None
        now_ms = self._monotonic_ms()
        if session.is_over or session.is_too_old(now_ms):
            self._end(key)
            return None
        session.used_ms = now_ms
        return session

    def begin(self, client: LocalClient, pace: Pace) -> tuple[str, Session]:
        """A session of who is logged in as *client*, and its cookie's secret. Raises Full."""
        self.tick()
        self._make_room(client.client.user.name)
        secret = secrets.token_urlsafe(SECRET_BYTES)
        session = Session(client, pace, self._monotonic_ms())
        self._all[_hash(secret)] = session
        return secret, session

    def _make_room(self, user: bytes) -> None:
        """End the session of *user* that was used longest ago, if he has many."""
        own = [key for key, session in self._all.items() if session.user == user]
        if len(own) >= MOST_OF_A_USER:
            self._end(min(own, key=lambda key: self._all[key].used_ms))
        elif len(self._all) >= MOST:
            raise Full

    def end(self, secret: str) -> None:
        """Log out."""
        key = _hash(secret)
        if key in self._all:
            self._end(key)

    def check_live(self, session: Session) -> None:
        """See that *session* may have one more live stream. Raises Full."""
        if len(session.lives) >= MOST_LIVE:
            raise Full
        if sum(len(other.lives) for other in self._all.values()) >= MOST_LIVE_OF_ALL:
            raise Full

    def tick(self) -> None:
        """Forget the sessions that have ended, and end those that are too old."""
        now_ms = self._monotonic_ms()
        for key, session in list(self._all.items()):
            if session.is_over or session.is_too_old(now_ms):
                self._end(key)

    def end_all(self) -> None:
        """The server stops."""
        for key in list(self._all):
            self._end(key)

    def _end(self, key: bytes) -> None:
        self._all.pop(key).end()


def _hash(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
