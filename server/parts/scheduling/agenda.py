"""Which key has the entry, or the job, that is due first: of all databases.

    due     (unix ms, database, key) ...     a heap
    keys    database, key  ->  unix ms       when the key's first is due, as the heap has it

A key is in the heap once for each time that its first entry has become an earlier one. What *keys*
does not say any more is stale: it is dropped when it comes up, or all at once when such entries are
the majority. So it costs O(log keys) to schedule an entry that is due before the key's others, and
nothing to schedule another.

Who adds the entries: server/lifecycle/due_entries.py.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from server.observe.part import Part
from server.process.timers import NoTimers, Timers
from storage.keyspace.keyspace import Keyspace
from storage.side_data.schedule import NEVER, SCHEDULE, Schedule
from storage.stream.stream_id import StreamId

MANY_STALE = 64  # below this many stale entries nobody minds


class Agenda(Part):
    """The keys of *databases* that have a schedule. *timers* are told when the first is due."""

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._due: list[tuple[int, int, bytes]] = []
        self._keys: dict[tuple[int, bytes], int] = {}
        self.timers: Timers = NoTimers()

    def __len__(self) -> int:
        """How many keys something is scheduled for."""
        return len(self._keys)

    def schedule_of(self, db_index: int, key: bytes) -> Schedule | None:
        side = self._databases[db_index].side.get(key)
        schedule: Schedule | None = None if side is None else side.get(SCHEDULE)
        return schedule

    def note(self, db_index: int, key: bytes) -> None:
        """The schedule of *key* has changed, has come, or has gone."""
        schedule = self.schedule_of(db_index, key)
        due_ms = NEVER if schedule is None else schedule.first_due()
        place = (db_index, key)
        if due_ms == NEVER:
            self._keys.pop(place, None)
        elif self._keys.get(place) != due_ms:
            self._keys[place] = due_ms
            heapq.heappush(self._due, (due_ms, db_index, key))
            if self._due[0][0] == due_ms:
                self.timers.entries_due(due_ms)
        if len(self._due) > MANY_STALE + 2 * len(self._keys):
            self._drop_stale()

    def _drop_stale(self) -> None:
        self._due = [(due_ms, db, key) for (db, key), due_ms in self._keys.items()]
        heapq.heapify(self._due)

    def entries_gone(self, db: Keyspace, key: bytes, ids: Sequence[StreamId]) -> None:
        """Entries of the stream at *key* have been deleted, or were to be: they expire no more.

        It is for all that is logged as XDEL, so that every copy knows the same deadlines.
        """
        schedule = self.schedule_of(db.index, key)
        if schedule is None or not schedule.deadlines.count():
            return
        known = [entry_id for entry_id in ids if schedule.deadlines.discard(entry_id)]
        if known and schedule.is_nothing():
            side = db.side[key]
            side.discard(SCHEDULE)
            db.put_side(key, side)
        elif known:
            self.note(db.index, key)

    def first(self) -> tuple[int, int, bytes] | None:
        """When the first is due, and of which database and key; None: nothing is scheduled."""
        while self._due:
            due_ms, db_index, key = self._due[0]
            if self._keys.get((db_index, key)) == due_ms:
                return self._due[0]
            heapq.heappop(self._due)
        return None

    def skip(self, db_index: int, key: bytes) -> None:
        """Nothing can be added to *key*: forget it until its schedule changes."""
        self._keys.pop((db_index, key), None)

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        indexes = {db.index for db in databases}
        for place in [place for place in self._keys if place[0] in indexes]:
            del self._keys[place]
        self._drop_stale()
        for db in databases:
            if db.index < len(self._databases) and self._databases[db.index] is db:
                for key in db.side:
                    self.note(db.index, key)
