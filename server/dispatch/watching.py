"""WATCH: whose EXEC answers null because a key has changed."""

from __future__ import annotations

from collections.abc import Sequence

from server.client.client import Client
from server.observe.memory import Memory
from server.observe.part import Part
from storage.keyspace.keyspace import Keyspace

PLACE_BYTES = 352  # bytes that a place watched by one client takes beside its key


class Watching(Part):
    """Maps (database index, key) to the clients that watch it. *memory* counts what that takes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.watchers: dict[tuple[int, bytes], dict[Client, None]] = {}

    def watch(self, client: Client, db: Keyspace, key: bytes) -> None:
        """Watch *key* for *client*: a change makes its EXEC answer null, until unwatch.

        A key that is past its time is removed now, so that its removal later is no change.
        """
        db.peek(key)
        place = (db.index, key)
        if place not in client.watching:
            self._memory.hold(client, PLACE_BYTES + len(key))
        client.watching[place] = None
        self.watchers.setdefault(place, {})[client] = None

    def client_left(self, client: Client) -> None:
        self.unwatch(client)

    def unwatch(self, client: Client) -> None:
        """Forget all that *client* watches. O(keys)."""
        for place in client.watching:
            watchers = self.watchers[place]
            del watchers[client]
            self._memory.hold(client, -PLACE_BYTES - len(place[1]))
            if not watchers:
                del self.watchers[place]
        client.watching.clear()
        client.dirty_watch = False

    def leave_multi(self, client: Client) -> None:
        """The transaction of *client* is over, and so are its watches."""
        client.leave_multi()
        self.unwatch(client)

    def touched(self, db_index: int, key: bytes) -> None:
        """*key* was changed: mark the clients that watch it."""
        for client in self.watchers.get((db_index, key), ()):
            client.dirty_watch = True

    def emptying(self, databases: Sequence[Keyspace]) -> None:
        """What is watched there and in any of *databases* is about to change. O(watched keys)."""
        indexes = {db.index for db in databases}
        for (index, key), watchers in self.watchers.items():
            if index in indexes and any(db.peek(key) is not None for db in databases):
                for client in watchers:
                    client.dirty_watch = True

    def remove_expired(self, client: Client, databases: list[Keyspace]) -> None:
        """Remove the keys that *client* watches and that have expired, which is a change."""
        for index, key in list(client.watching):
            databases[index].peek(key)
