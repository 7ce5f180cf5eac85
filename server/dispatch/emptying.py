"""Forgetting all keys of databases, and telling who watches them or waits for them."""

from __future__ import annotations

from server.dispatch.state import ServerState
from storage.keyspace.keyspace import Keyspace


def empty(server: ServerState, databases: list[Keyspace]) -> int:
    """Empty *databases*; return how many keys there were. O(N)."""
    keys = 0
    for db in databases:
        server.watching.emptied(db)
        keys += db.clear()
        server.blocking.databases_swapped(db.index, db.index)
    return keys
