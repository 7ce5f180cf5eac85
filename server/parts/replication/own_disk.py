"""How much of the history this primary has on its own disk: CLIENT ACKS .. FSYNC asks for that.

A primary whose machine loses power may be back before anybody has replaced it. Then its replicas
take over what its disk has: what was confirmed as fsynced must be there.

The append-only file and the history have offsets of their own. So places are noted, where both are
known; when the file is fsynced up to one, the history is.

    noted    (of the file, of the history)  (800, 770)  (950, 910) ..    oldest first
"""

from __future__ import annotations

from collections import deque

from server.parts.propagation.propagation import Durability, Propagation
from server.parts.replication.feed import Feed

MOST_NOTED = 1000  # between two fsyncs; of more, the last one moves on
NEVER = 2**62


class OwnDisk:
    """Looks at the file that *propagation* is kept in, and at the history of *feed*."""

    def __init__(self, propagation: Propagation, feed: Feed) -> None:
        self._propagation = propagation
        self._feed = feed
        self._noted: deque[tuple[int, int]] = deque()
        self._fsynced = 0
        self._file: Durability | None = None

    def begin(self) -> None:
        """The history is another one."""
        self._noted.clear()
        self._fsynced = 0

    def fsynced(self) -> int:
        """How much of the history is fsynced; NEVER if there is no append-only file to ask."""
        durability = self._propagation.durability
        if durability is not self._file:
            self._file = durability  # it has offsets of its own
            self.begin()
        if durability is None:
            return NEVER
        if durability.tentative:
            return self._fsynced
        here = (durability.offset, self._feed.offset())
        noted, synced = self._noted, durability.synced_offset
        if synced >= here[0]:
            noted.clear()
            self._fsynced = here[1]
            return self._fsynced
        while noted and noted[0][0] <= synced:
            self._fsynced = noted.popleft()[1]
        if len(noted) == MOST_NOTED:
            noted.pop()
        noted.append(here)
        return self._fsynced
