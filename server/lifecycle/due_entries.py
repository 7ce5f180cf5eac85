"""Scheduled entries are added to their streams when they are due, and jobs run.

    1. The key whose first entry is due first comes first (server/parts/scheduling/agenda.py).
    2. A batch of its entries is added in the order of their times, each by XADD with its id. The id
       is of the moment at which it was due, if no later id is in the stream.
    3. What is logged, in one transaction, is these XADDs, and what removes them from the schedule:
       XUNSCHEDULE for entries, XSCHEDULE with the time of the next run for jobs. So a replica or an
       AOF has each entry in one place, and needs no clock.
    4. After SLICE_S the rest waits for the next turn of the loop: first others are served.

Nothing is added while writes are refused or held back, data are loaded, or a script is suspended;
nor on a replica, which is sent what its primary adds. It is due all the same, and comes later.
"""

from __future__ import annotations

from collections.abc import Callable

from server.parts.scheduling import recurrence
from server.parts.state import ServerState
from server.process.faults import ServerFault
from storage.errors import TooLarge, WrongType
from storage.keyspace.keyspace import Keyspace
from storage.side_data.schedule import Job, Schedule, unpacked
from storage.stream.stream import Stream

BATCH = 32  # entries that are one transaction
SLICE_S = 0.001


class DueEntries:
    """Adds what the agenda of *state* says. *monotonic_s* is the system's clock."""

    def __init__(self, state: ServerState, monotonic_s: Callable[[], float]) -> None:
        self._state = state
        self._agenda = state.agenda
        self._restrictions = state.restrictions
        self._monotonic_s = monotonic_s

    @property
    def may_run(self) -> bool:
        """Whether entries may be added at all."""
        return not self._restrictions.in_force

    def first_due(self) -> int | None:
        """When something is due first, in unix ms; None: nothing is scheduled."""
        first = self._agenda.first()
        return None if first is None else first[0]

    def run(self, upto_ms: int) -> bool:
        """Add what is due by *upto_ms*, for a slice of time. Whether that was all that may be."""
        if not self.may_run:
            return True
        until_s = self._monotonic_s() + SLICE_S
        while (first := self._agenda.first()) is not None and first[0] <= upto_ms:
            try:
                self._add_some(first[1], first[2], upto_ms)
            except Exception as error:
                raise ServerFault("scheduled entries were not added") from error
            if self._monotonic_s() >= until_s:
                return False
        return True

    def _add_some(self, db_index: int, key: bytes, upto_ms: int) -> None:
        """Add a batch of what is due for one key."""
        db = self._state.databases[db_index]
        self._state.events.lookup.hides_expired = False
        stream = _stream_at(db, key)
        schedule = self._agenda.schedule_of(db_index, key)
        if stream is None or schedule is None:
            self._agenda.skip(db_index, key)
        else:
            self._add_batch(db, key, stream, schedule, upto_ms)
        if self._state.propagation.ops:
            self._state.propagation.deliver()

    def _add_batch(
        self, db: Keyspace, key: bytes, stream: Stream, schedule: Schedule, upto_ms: int
    ) -> None:
        done: list[bytes] = []
        for _ in range(BATCH):
            if stream.is_full():
                break
            entry_id, job = schedule.first_entry(upto_ms), schedule.first_job(upto_ms)
            if entry_id is not None and (job is None or entry_id.ms <= job.next_ms):
                self._add(db, key, stream, entry_id.ms, schedule.fields_of(entry_id) or [])
                schedule.discard(entry_id)
                done.append(entry_id.encode())
            elif job is not None:
                self._run_job(db, key, stream, schedule, job)
            else:
                break
        if done:
            self._log(db, [b"XUNSCHEDULE", key, *done])
        self._agenda.note(db.index, key)
        if stream.is_full():
            self._agenda.skip(db.index, key)

    def _run_job(
        self, db: Keyspace, key: bytes, stream: Stream, schedule: Schedule, job: Job
    ) -> None:
        self._add(db, key, stream, job.next_ms, unpacked(job.fields))
        next_ms = recurrence.next_run(job, self._state.events.clock.now_ms)
        schedule.move(job, next_ms)
        self._log(db, [b"XSCHEDULE", key, job.name, b"NEXT", b"%d" % next_ms])

    def _add(
        self, db: Keyspace, key: bytes, stream: Stream, due_ms: int, fields: list[bytes]
    ) -> None:
        entry_id = stream.next_auto_id(due_ms)
        try:
            stream.append(entry_id, fields, 0, self._state.node_limits.stream)
        except TooLarge:  # XADD has refused that: somebody has forged a payload of RESTORE
            return
        db.changed(key, b"xadd", changes=1, wakes=True)
        self._log(db, [b"XADD", key, entry_id.encode(), *fields])

    def _log(self, db: Keyspace, words: list[bytes]) -> None:
        self._state.propagation.add(db.index, words)


def _stream_at(db: Keyspace, key: bytes) -> Stream | None:
    try:
        return db.find(key, Stream)
    except WrongType:
        return None
