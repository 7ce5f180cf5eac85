"""What the server hears of its keys: wakes who waits, warns who watches, logs what expires."""

from __future__ import annotations

from server.dispatch.blocking import Blocking
from server.dispatch.watching import Watching
from server.propagation.propagation import Propagation
from storage.keyspace.journal import Journal


class ServerJournal(Journal):
    """Passes on what happens to keys. Costs next to nothing while nobody waits or watches."""

    __slots__ = ("_blocking", "_propagation", "_watched", "_watching")

    def __init__(self, blocking: Blocking, watching: Watching, propagation: Propagation) -> None:
        super().__init__()
        self._blocking = blocking
        self._propagation = propagation
        self._watching = watching
        self._watched = watching.watchers

    def touched(self, db: int, key: bytes, event: bytes) -> None:
        if self._watched:
            self._watching.touched(db, key)

    def ready(self, db: int, key: bytes) -> None:
        self._blocking.key_ready(db, key)

    def gone(self, db: int, key: bytes) -> None:
        self._propagation.add(db, [b"DEL", key])
