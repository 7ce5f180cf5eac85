"""Discovery: the names of the streams to read, as of now.

subscribe              are known
subscribePattern       XINFO STREAMS of Penstock: names and states in one round trip
                       SCAN elsewhere; it walks over all keys, so it rests for a while if it
                       took long, or for ``discoveryInterval``
                       keyspace events, where the server sends one for each new key
                       (``notify-keyspace-events`` has E and n): then SCAN rests for long
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import redis

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import pool
from pyspark_penstock.connect.dial import dial
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.nodes import is_node
from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import key, text
from pyspark_penstock.read.source_options import ReadOptions
from pyspark_penstock.read.states import listed_states

QUICK_S = 1.0  # a scan that took no longer is done at each look
REST = 10  # times as long as it took
MANY, REST_OF_MANY_S = 1_000, 2.0  # streams, of which a search takes a good part of a look
WITH_EVENTS_S = 300.0  # events may get lost; a scan finds what they have missed
NEEDED = frozenset("En")
MOST_AT_ONCE = 100_000  # messages taken at one look, against a server that never ends


class Discovery:
    """Finds the streams of one server."""

    def __init__(
        self, links: Links, options: ReadOptions, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._links = links
        self._subscription = options.subscription
        self._interval_s = options.discovery_s
        self._now = now
        self._known: set[str] = set()
        self._due = float("-inf")
        self._lists = True  # whether the server has XINFO STREAMS, as far as is known
        self._hears = False
        self._events = NewKeys(options.server)

    def close(self) -> None:
        """Close the connections."""
        self._events.close()

    def find(self) -> tuple[list[str], dict[str, StreamState]]:
        """The names, and those states that came with them."""
        subscription = self._subscription
        if not subscription.is_open:
            return list(subscription.streams), {}
        fresh = self._events.names() if self._hears else set()
        if fresh is None:  # what was made meanwhile is not known
            self._hears, self._due = False, float("-inf")
        else:
            self._known.update(self._streams_among(fresh))
        states: dict[str, StreamState] = {}
        if self._now() >= self._due:
            states = self._search()
        return sorted(self._known), states

    def _streams_among(self, names: set[str]) -> list[str]:
        """Those of some new keys that are streams to read."""
        fit = sorted(name for name in names - self._known if self._subscription.matches(name))
        kinds = self._links.ask([(name, ("TYPE", key(name))) for name in fit])
        return [name for name, kind in zip(fit, kinds, strict=True) if kind == b"stream"]

    def again(self) -> None:
        """Search at the next look, whenever the last search was."""
        self._due = float("-inf")

    def _search(self) -> dict[str, StreamState]:
        """Look at all streams."""
        began, subscription = self._now(), self._subscription
        if not self._lists:
            self._hears = self._events.listen()
        found = listed_states(self._links, subscription.glob) if self._lists else None
        if found is None:
            self._lists = False
            self._known = {
                n for n in self._links.scan(subscription.glob) if subscription.matches(n)
            }
        else:
            found = {n: state for n, state in found.items() if subscription.matches(n)}
            self._known = set(found)
        self._due = began + self._rest(self._now() - began)
        return found or {}

    def _rest(self, took: float) -> float:
        """How long to rest after a search that *took* so many seconds."""
        if self._interval_s is not None:
            return self._interval_s
        if self._hears:
            return WITH_EVENTS_S
        if took > QUICK_S:
            return took * REST
        return REST_OF_MANY_S if len(self._known) > MANY else 0.0


class NewKeys:
    """What one server that is no cluster tells of new keys, if its keyspace events are on.

    ``notify-keyspace-events`` with E and n (Redis 7.0) sends the name of each key that is made.
    Events of writes (t) are not used: there is one for each entry. A copy that was pickled listens
    no more.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._events: Any = None
        self._refused = False

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_events": None}

    def close(self) -> None:
        """Listen no more."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def listen(self) -> bool:
        """Listen from now on, if the server sends such events; whether it does."""
        if self._events is None and not self._refused:
            try:
                self._subscribe()
            except (OSError, ServerError, redis.RedisError):
                self.close()
        return self._events is not None

    def _subscribe(self) -> None:
        with dial(self._server) as connection:
            try:
                setting = connection.call("CONFIG", "GET", "notify-keyspace-events")
            except ServerError:
                setting = []
            flags = setting[1].decode() if len(setting) == 2 else ""
            if not set(flags) >= NEEDED or is_node(connection):
                self._refused = True
                return
            client: Any = redis.Redis(connection_pool=pool(self._server, connection.address))
        self._events = client.pubsub()
        self._events.subscribe(f"__keyevent@{self._server.db}__:new")
        confirmed = self._events.get_message(timeout=5)
        if confirmed is None or confirmed["type"] != "subscribe":
            self.close()

    def names(self) -> set[str] | None:
        """The names of keys made since the last call; None if nobody listens."""
        if self._events is None:
            return None
        found: set[str] = set()
        try:
            for _ in range(MOST_AT_ONCE):
                message = self._events.get_message(timeout=0)
                if message is None:
                    return found
                if message["type"] == "message":
                    found.add(text(message["data"]))
        except (OSError, redis.RedisError):
            self.close()
            return None
        return found
