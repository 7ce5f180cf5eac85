"""Which key has the entry, or the job, that is due first: of all databases.

The keys of each database are in due_keys.py, and those that have jobs once more, by these. So it
costs O(log keys) to schedule an entry that is due before the key's others, nothing to schedule
another, and nothing to have all jobs wait.

Who adds the entries: server/lifecycle/due_entries.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.observe.part import Part
from server.parts.due_keys import DueKeys
from server.process.timers import NoTimers, Timers
from storage.keyspace.keyspace import Keyspace
from storage.side_data.schedule import LATEST_MS, NEVER, SCHEDULE, Schedule
from storage.stream.stream_id import StreamId


class Agenda(Part):
    """The keys of *databases* that have a schedule. *timers* are told when the first is due."""

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._keys: dict[int, DueKeys] = {}  # of the databases that have any; by all but their jobs
        self._jobs: dict[int, DueKeys] = {}  # those that have jobs, by these
        self.jobs_wait = False  # all that are due
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
        if schedule is None or due_ms == NEVER:
            self.skip(db_index, key)
            return
        entry_ms, run_ms = _firsts(schedule) if schedule.jobs else (due_ms, NEVER)
        is_first = _put(self._keys, db_index, key, entry_ms)
        if run_ms < NEVER:
            is_first = _put(self._jobs, db_index, key, run_ms) or is_first
        else:
            _discard(self._jobs, db_index, key)
        if is_first:
            self.timers.entries_due(due_ms)

    def note_full(self, db_index: int, key: bytes) -> None:
        """Nothing can be added to *key*: until its schedule changes, it is due to expire only."""
        schedule = self.schedule_of(db_index, key)
        self.skip(db_index, key)
        expires_ms = NEVER if schedule is None else schedule.deadlines.first()
        if expires_ms < NEVER and _put(self._keys, db_index, key, expires_ms):
            self.timers.entries_due(expires_ms)

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
            self.note(db.index, key)  # it may have been full

    def first(self) -> tuple[int, int, bytes] | None:
        """When the first is due, and of which database and key; None: nothing is scheduled."""
        all_keys = [*self._keys.items(), *(() if self.jobs_wait else self._jobs.items())]
        dues = [(*due, index) for index, keys in all_keys if (due := keys.first())]
        if not dues:
            return None
        due_ms, key, index = min(dues, key=lambda due: (due[0], due[2], due[1]))
        return due_ms, index, key

    def skip(self, db_index: int, key: bytes) -> None:
        """Nothing can be added to *key*: forget it until its schedule changes."""
        _discard(self._keys, db_index, key)
        _discard(self._jobs, db_index, key)

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        for db in databases:
            self._keys.pop(db.index, None)
            self._jobs.pop(db.index, None)
        for db in databases:
            if db.index < len(self._databases) and self._databases[db.index] is db:
                for key in db.side:
                    self.note(db.index, key)


def _put(all_keys: dict[int, DueKeys], db_index: int, key: bytes, due_ms: int) -> bool:
    """Let *key* be due then. Whether that is before all others of its database."""
    keys = all_keys.get(db_index)
    if keys is None:
        keys = all_keys[db_index] = DueKeys()
    was_due_ms = keys.first_ms()
    keys.put(key, due_ms)
    return due_ms < was_due_ms


def _discard(all_keys: dict[int, DueKeys], db_index: int, key: bytes) -> None:
    keys = all_keys.get(db_index)
    if keys is not None:
        keys.discard(key)
        if not len(keys):
            del all_keys[db_index]


def _firsts(schedule: Schedule) -> tuple[int, int]:
    """When the first entry is due, or expires; and when the first job runs. NEVER: none does."""
    entry_id, job = schedule.first_entry(LATEST_MS), schedule.first_job(LATEST_MS)
    entry_ms = NEVER if entry_id is None else entry_id.ms
    return min(entry_ms, schedule.deadlines.first()), NEVER if job is None else job.next_ms
