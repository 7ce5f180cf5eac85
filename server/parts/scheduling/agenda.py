"""Which key has the entry, or the job, that is due first: of all databases.

The keys of each database are in due_keys.py. So it costs O(log keys) to schedule an entry that is
due before the key's others, and nothing to schedule another.

Who adds the entries: server/lifecycle/due_entries.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.observe.part import Part
from server.parts.due_keys import DueKeys
from server.process.timers import NoTimers, Timers
from storage.keyspace.keyspace import Keyspace
from storage.side_data.schedule import NEVER, SCHEDULE, Schedule
from storage.stream.stream_id import StreamId


class Agenda(Part):
    """The keys of *databases* that have a schedule. *timers* are told when the first is due."""

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._keys: dict[int, DueKeys] = {}  # of the databases that have any
        self.timers: Timers = NoTimers()

    def __len__(self) -> int:
        """How many keys something is scheduled for."""
        return sum(map(len, self._keys.values()))

    def schedule_of(self, db_index: int, key: bytes) -> Schedule | None:
        side = self._databases[db_index].side.get(key)
        schedule: Schedule | None = None if side is None else side.get(SCHEDULE)
        return schedule

    def note(self, db_index: int, key: bytes) -> None:
        """The schedule of *key* has changed, has come, or has gone."""
        schedule = self.schedule_of(db_index, key)
        due_ms = NEVER if schedule is None else schedule.first_due()
        if due_ms == NEVER:
            self.skip(db_index, key)
            return
        keys = self._keys.get(db_index)
        if keys is None:
            keys = self._keys[db_index] = DueKeys()
        was_due_ms = keys.first_ms()
        keys.put(key, due_ms)
        if due_ms < was_due_ms:
            self.timers.entries_due(due_ms)

    def entries_gone(self, db: Keyspace, key: bytes, ids: Sequence[StreamId]) -> bool:
        """Entries of the stream at *key* have been deleted, or were to be: they expire no more.

        It is for all that is logged as XDEL, so that every copy knows the same deadlines. Returns
        whether one of them would have expired: that is a change even if it had been trimmed before.
        """
        schedule = self.schedule_of(db.index, key)
        if schedule is None or not schedule.deadlines.count():
            return False
        known = [entry_id for entry_id in ids if schedule.deadlines.discard(entry_id)]
        if known and schedule.is_nothing():
            side = db.side[key]
            side.discard(SCHEDULE)
            db.put_side(key, side, of_groups=False)
        elif known:
            self.note(db.index, key)
        return bool(known)

    def set_back(self, db: Keyspace, key: bytes, last_id: StreamId) -> None:
        """The stream at *key* ends with *last_id* again: entries that come now are others. O(N)."""
        schedule = self.schedule_of(db.index, key)
        if schedule is not None:
            deadlines = schedule.deadlines.all()
            self.entries_gone(
                db, key, [entry_id for _, entry_id in deadlines if entry_id > last_id]
            )

    def first(self) -> tuple[int, int, bytes] | None:
        """When the first is due, and of which database and key; None: nothing is scheduled."""
        dues = [(due, index) for index, keys in self._keys.items() if (due := keys.first())]
        if not dues:
            return None
        (due_ms, key), index = min(dues, key=lambda due: (due[0][0], due[1]))
        return due_ms, index, key

    def skip(self, db_index: int, key: bytes) -> None:
        """Nothing can be added to *key*: forget it until its schedule changes."""
        keys = self._keys.get(db_index)
        if keys is not None:
            keys.discard(key)
            if not len(keys):
                del self._keys[db_index]

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        for db in databases:
            self._keys.pop(db.index, None)
        for db in databases:
            if db.index < len(self._databases) and self._databases[db.index] is db:
                for key in db.side:
                    self.note(db.index, key)
