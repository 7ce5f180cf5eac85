"""Events of keys, in all databases: they are counted, and the server is told of them.

a command   db.changed(k, b"set")     changes + 1, changed(k, set), ready(k) if it wakes
time        db.expire_now(k)          expired + 1, removed(k), gone(k), changed(k, expired)
            of fields                 expired_fields + n, fields_gone(k, f), changed(k, hexpired)
a look-up   db.read(k, kind)          hits or misses + 1, missed(k)
a new key   db.add(k, value)          ready(k), added(k)
its end     db.remove(k)              removed(k)
            of time or room           removal_began(), removed(k), removal_ended(name)
an expiry   db.expire_at(k, when)     expires(k)
side data   db.put_side(k, side)      side_changed(k); also when the key goes that has any
"""

from __future__ import annotations

from collections.abc import Sequence

from storage.chance import Chance
from storage.keyspace.settings import Clock, LazyFreeing, Lookup, LooseKeys
from storage.keyspace.usage import Usage


class KeyEvents:
    """The keyspaces call these methods; the server overrides the ones that it needs.

    *clock* and *lookup* tell the keyspaces the time, and how to look up keys; *usage* what to note
    of the use of each; *loose_keys* counts what they may pack, *freeing* what is freed lazily. The
    names of changes, new keys, misses and new expiries are told only while *tells_changes*,
    *tells_new_keys*, *tells_misses*, *tells_expiries*; how long it takes to remove keys whose time
    is over, or which make room, while *measures_removals*. *seed* is of what is left to chance.
    """

    __slots__ = (
        "chance",
        "changes",
        "clock",
        "expired",
        "expired_fields",
        "freeing",
        "hits",
        "lookup",
        "loose_keys",
        "measures_removals",
        "misses",
        "tells_changes",
        "tells_expiries",
        "tells_fields",
        "tells_misses",
        "tells_new_keys",
        "tells_replaced",
        "usage",
    )

    def __init__(self, seed: int = 1) -> None:
        self.clock = Clock()
        self.lookup = Lookup()
        self.loose_keys = LooseKeys()
        self.freeing = LazyFreeing()
        self.chance = Chance(seed)
        self.usage = Usage(self.clock, self.chance)
        self.changes = 0  # since the start; Redis's "dirty" is how many of them are not saved yet
        self.expired = 0  # keys that were removed because they had expired
        self.expired_fields = 0  # the same of hashes
        self.hits = 0  # reads that found their key
        self.misses = 0
        self.tells_changes = False  # somebody wants to know their names
        self.tells_new_keys = False
        self.tells_replaced = False
        self.tells_fields = False
        self.tells_misses = False
        self.tells_expiries = False
        self.measures_removals = False

    def changed(self, db: int, key: bytes, event: bytes | None, watched: bool) -> None:
        """A command has changed, made or removed what is at *key*.

        *event* is the name of the keyspace event, if there is one. Only if *watched*, the change
        fails the transactions of clients that WATCH the key. A change to a consumer group does not,
        since groups are no part of a stream's value.
        """

    def added(self, db: int, key: bytes) -> None:
        """*key* is new: told while *tells_new_keys*, before the change is."""

    def replaced(self, db: int, key: bytes, type_changed: bool) -> None:
        """The value at *key* has been replaced by another: told while *tells_replaced*."""

    def fields_changed(self, db: int, key: bytes, event: bytes, fields: Sequence[bytes]) -> None:
        """*event* has happened to *fields* of the hash at *key*: told while *tells_fields*."""

    def missed(self, db: int, key: bytes) -> None:
        """A command that reads has not found *key*: told while *tells_misses*."""

    def expires(self, db: int, key: bytes) -> None:
        """*key* has been given a time to expire at: told while *tells_expiries*."""

    def ready(self, db: int, key: bytes) -> None:
        """*key* was made or appended to: a blocked client may have waited for that."""

    def removed(self, db: int, key: bytes) -> None:
        """*key* no longer exists: a blocked client may have waited for that, but few do."""

    def side_changed(self, db: int, key: bytes) -> None:
        """*key* has been given side data, or has none any more."""

    def removal_began(self) -> None:
        """A key is removed that has expired or is evicted: told while *measures_removals*."""

    def removal_ended(self, name: bytes) -> None:
        """It is removed; *name* is what LATENCY calls that."""

    def gone(self, db: int, key: bytes) -> None:
        """*key* has expired: the AOF and the replicas must be told of a deletion."""

    def fields_gone(self, db: int, key: bytes, fields: Sequence[bytes]) -> None:
        """*fields* of the hash at *key* have expired: as gone."""

    def log(self, words: Sequence[bytes]) -> None:
        """Log *words* in place of the words of the command that runs."""
