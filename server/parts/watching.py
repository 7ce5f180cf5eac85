"""WATCH: whose EXEC answers null because a key has changed.

    a key that had expired already when it was watched    its removal is not a change
    one that expires afterwards                           is a change, removed or not

So WATCH and EXEC remove no key. With each key that had expired already a client keeps the database
in which it may still lie: ``client.watching[index, key]`` is that, or None.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.client.client import Client
from server.observe.memory import Memory
from server.observe.part import Part
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace

PLACE_BYTES = 352  # bytes that a place watched by one client takes besides its key


class Watching(Part):
    """Maps (database index, key) to the clients that watch it. *memory* counts what that takes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.watchers: dict[tuple[int, bytes], dict[Client, None]] = {}

    def watch(self, client: Client, db: Keyspace, key: bytes) -> None:
        """Watch *key* for *client*: a change makes its EXEC answer null, until unwatch."""
        place = (db.index, key)
        if place in client.watching:
            return
        self._memory.hold(client, PLACE_BYTES + len(key))
        client.watching[place] = db if _has_expired(db, key) else None
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
        place = (db_index, key)
        for client in self.watchers.get(place, ()):
            expired_in = client.watching[place]
            if expired_in is None or _holds(expired_in, key):
                client.dirty_watch = True
            else:
                client.watching[place] = None

    def emptying(self, databases: Sequence[Keyspace]) -> None:
        """What is watched there and in any of *databases* is about to change. O(watched keys)."""
        # What a copy of the primary brings has the index of the database that it replaces.
        by_index = {db.index: db for db in reversed(databases)}
        for (index, key), watchers in self.watchers.items():
            db = by_index.get(index)
            if db is not None and any(_holds(each, key) for each in databases):
                others = [other for other in databases if other is not db]
                for client in watchers:
                    _replaced(client, db, key, others)

    def note_expired(self, client: Client, databases: list[Keyspace]) -> None:
        """Mark *client* if a key that it watches has expired since."""
        for (index, key), expired_in in client.watching.items():
            if expired_in is None and _has_expired(databases[index], key):
                client.dirty_watch = True


def _replaced(client: Client, db: Keyspace, key: bytes, others: Sequence[Keyspace]) -> None:
    """What *client* watches in *db* at *key* is about to be what is in *others*; in none: nothing.

    What had expired, and what no longer exists, are the same to it.
    """
    place = (db.index, key)
    comes = any(_holds(other, key) for other in others)
    comes_expired = any(_has_expired(other, key) for other in others)
    is_nothing = client.watching[place] is not None or not _holds(db, key)
    if is_nothing and (comes_expired or not comes):
        client.watching[place] = db if comes_expired else None
    else:
        client.dirty_watch = True


def _holds(db: Keyspace, key: bytes) -> bool:
    """Whether *key* is in *db*, expired or not."""
    return db.table.get(key) is not None


def _has_expired(db: Keyspace, key: bytes) -> bool:
    """Whether *key* lies in *db* beyond its time."""
    return NO_EXPIRY != db.expiry(key) < db.events.clock.now_ms
