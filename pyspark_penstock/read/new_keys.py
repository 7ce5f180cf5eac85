"""New keys: what a server tells of them by keyspace events, if these are on.

``notify-keyspace-events`` with E and n (Redis 7.0) sends the name of each key that is made. Events
of writes (t) are not used: there is one for each entry.
"""

from __future__ import annotations

from typing import Any

import redis

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import pool
from pyspark_penstock.connect.cluster import is_node
from pyspark_penstock.connect.dial import dial
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import text

NEEDED = frozenset("En")
MOST_AT_ONCE = 100_000  # messages taken at one look, against a server that never ends


class NewKeys:
    """The new keys of one server that is no cluster. It can be pickled; it then listens no more."""

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
