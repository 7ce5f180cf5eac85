"""What happens to keys, for all databases: how much of it there was, and who hears of it.

a command   db.changed(k, b"set")     changes + 1, changed(k, set), ready(k) if it wakes
time        db.expire_now(k)          expired + 1, ready(k), gone(k), changed(k, expired)
a look-up   db.read(k, kind)          hits or misses + 1
"""

from __future__ import annotations

from collections.abc import Sequence

from storage.keyspace.clock import Clock
from storage.keyspace.lookup import Lookup


class KeyEvents:
    """The keyspaces tell this what happens; the server overrides what it wants to hear.

    *clock* and *lookup* are what the keyspaces go by.
    """

    __slots__ = ("changes", "clock", "expired", "hits", "lookup", "misses")

    def __init__(self) -> None:
        self.clock = Clock()
        self.lookup = Lookup()
        self.changes = 0  # since the start; what is not saved yet, Redis calls dirty
        self.expired = 0  # keys that have gone because their time was up
        self.hits = 0  # reads that found their key
        self.misses = 0

    def changed(self, db: int, key: bytes, event: bytes | None, watched: bool) -> None:
        """A command has changed, made or removed what is at *key*.

        *event* is its name as a keyspace event, if it has one. Only what is *watched* ends the
        transactions of those who watch the key: a group is no part of a stream's value.
        """

    def ready(self, db: int, key: bytes) -> None:
        """*key* may now have what somebody waits for: it was made, appended to, or is gone."""

    def gone(self, db: int, key: bytes) -> None:
        """*key* has expired: the AOF and the replicas must hear of a deletion."""

    def log(self, words: Sequence[bytes]) -> None:
        """The command that runs is to be logged as *words*, in place of its own."""
