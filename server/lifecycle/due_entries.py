"""Scheduled entries are added to their streams when they are due, jobs run, and entries expire.

    1. The key whose first entry is due first comes first (server/parts/scheduling/agenda.py).
    2. A batch of its entries is added in the order of their times, each by XADD with its id. The id
       is of the moment at which it was due, if no later id is in the stream.
    3. What is logged, in one transaction, is these XADDs, and what removes them from the schedule:
       XUNSCHEDULE for entries, XSCHEDULE with the time of the next run for jobs. So a replica or an
       AOF has each entry in one place, and needs no clock.
    4. Entries that have expired are removed: commands/streams/adding/stream_expiries.py says how.
    5. Beyond maxmemory, with nothing to evict, the run of a job is left out. What was scheduled
       before is added: it takes about the same memory in the stream.
    6. After SLICE_S the rest waits for the next turn of the loop: first others are served.
    7. Between two ticks of cron jobs have a share of the time. When it is used up, those that are
       due wait for the next tick; entries do not.
    8. If a bug keeps something from being added, and nothing was changed by then, it is reported,
       and the key is left alone until its schedule changes. Else the server would end, and again
       after each start.

None of this is done while writes are refused or held back, data are loaded, or a script is
suspended; nor on a replica, which is sent what its primary does. It is due all the same, and comes
later.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from server.commands.streams.adding import stream_expiries
from server.dispatch.call import Call
from server.dispatch.dispatcher import Dispatcher
from server.parts.scheduling import recurrence
from server.process import faults
from server.process.faults import ServerFault
from storage.errors import TooLarge, WrongType
from storage.keyspace.keyspace import Keyspace
from storage.side_data.schedule import LATEST_MS, Job, Schedule, expires_after, unpacked
from storage.stream.stream import Stream

BATCH = 32  # entries that are one transaction
SLICE_S = 0.001


class DueEntries:
    """Does what the agenda of the server says. *monotonic_s* is the system's clock."""

    def __init__(self, dispatcher: Dispatcher, monotonic_s: Callable[[], float]) -> None:
        self._state = dispatcher.state
        self._agenda = self._state.agenda
        self._restrictions = self._state.restrictions
        self._call = Call(self._state, dispatcher)  # as if a command did it
        self._has_room = True  # within maxmemory
        self._monotonic_s = monotonic_s
        self._until_s = 0.0  # when the slice of time is over
        self._jobs_left_s = math.inf  # how long jobs may still take, until begin() is called
        self._has_run_job = False

    @property
    def may_run(self) -> bool:
        """Whether entries may be added at all."""
        return not self._restrictions.in_force

    def first_due(self) -> int | None:
        """When something is due first, in unix ms; None: nothing is scheduled."""
        first = self._agenda.first()
        return None if first is None else first[0]

    def begin(self, share_s: float) -> None:
        """A tick begins: until the next one jobs may take so much time."""
        self._jobs_left_s = share_s
        self._agenda.jobs_wait = False

    def run(self, upto_ms: int) -> bool:
        """Add what is due by *upto_ms*, for a slice of time. Whether that was all that may be."""
        if not self.may_run:
            return True
        now_s = self._monotonic_s()
        self._until_s = now_s + SLICE_S
        self._agenda.jobs_wait = self._jobs_left_s <= 0
        while (first := self._agenda.first()) is not None and first[0] <= upto_ms:
            self._has_run_job = False
            try:
                self._add_some(first[1], first[2], upto_ms)
            except Exception as error:
                raise ServerFault("scheduled entries were not added") from error
            began_s, now_s = now_s, self._monotonic_s()
            if self._has_run_job:
                self._jobs_left_s -= now_s - began_s
                self._agenda.jobs_wait = self._jobs_left_s <= 0
            if now_s >= self._until_s:
                return False
        return True

    def _is_time_up(self) -> bool:
        return self._monotonic_s() >= self._until_s

    def _add_some(self, db_index: int, key: bytes, upto_ms: int) -> None:
        """Add a batch of what is due for one key, and remove one of what has expired."""
        state, db = self._state, self._state.databases[db_index]
        state.events.lookup.hides_expired = False
        self._has_room = state.key_eviction.make_room()
        stream = _stream_at(db, key)
        schedule = self._agenda.schedule_of(db_index, key)
        if stream is None or schedule is None:
            self._agenda.skip(db_index, key)
        else:
            self._begin(db, key, upto_ms)
            is_well = self._add_batch(db, key, stream, schedule, upto_ms)
            is_well = self._settle(key) and is_well
            for words in state.events.logged or ():
                state.propagation.add(db_index, list(words))
            state.events.logged = None
            if not is_well:
                self._agenda.skip(db_index, key)
            elif stream.is_full() and schedule.first_added() <= upto_ms:
                self._agenda.note_full(db_index, key)
        if state.propagation.ops:
            state.propagation.deliver()

    def _begin(self, db: Keyspace, key: bytes, upto_ms: int) -> None:
        call = self._call
        call.db, call.now_ms, call.argv = db, upto_ms, [b"", key]
        call.is_logged = self._state.propagation.is_on
        self._state.events.logged = None

    def _add_batch(
        self, db: Keyspace, key: bytes, stream: Stream, schedule: Schedule, upto_ms: int
    ) -> bool:
        """Add them. False if one could not be added, by a bug."""
        done: list[bytes] = []
        is_well, is_more = True, True
        for _ in range(BATCH):
            changes = self._state.events.changes
            try:
                is_more = self._add_next(key, stream, schedule, upto_ms, done)
            except Exception as error:
                self._report(error, changes)
                is_well = False
            if not (is_well and is_more):
                break
        if done:
            db.group_changed(key, None, changes=0, log=[b"XUNSCHEDULE", key, *done])
        self._agenda.note(db.index, key)
        return is_well

    def _add_next(
        self, key: bytes, stream: Stream, schedule: Schedule, upto_ms: int, done: list[bytes]
    ) -> bool:
        """Add what is due first; *done* gets its id in the schedule. False if that is enough."""
        if stream.is_full():
            return False
        entry_id = schedule.first_entry(upto_ms)
        job = None if self._agenda.jobs_wait else schedule.first_job(upto_ms)
        if entry_id is not None and (job is None or entry_id.ms <= job.next_ms):
            self._add(key, stream, schedule, entry_id.ms, schedule.fields_of(entry_id))
            schedule.discard(entry_id)
            done.append(entry_id.encode())
            return True
        if job is None:
            return False
        self._has_run_job = True
        self._run_job(key, stream, schedule, job)
        return not self._is_time_up()  # it may have taken a ms to say when the job runs next

    def _settle(self, key: bytes) -> bool:
        """Remove some of what has expired. False if a bug has kept it there."""
        changes = self._state.events.changes
        try:
            stream_expiries.settle(self._call, key, BATCH)
        except Exception as error:
            self._report(error, changes)
            return False
        return True

    def _report(self, error: Exception, changes: int) -> None:
        """Report *error*. Raises it if something was changed by then: more *changes* are counted.

        What has come of an allocation that failed nobody knows.
        """
        if isinstance(error, MemoryError) or changes != self._state.events.changes:
            raise error
        faults.report("what is scheduled", error)

    def _run_job(self, key: bytes, stream: Stream, schedule: Schedule, job: Job) -> None:
        next_ms = recurrence.next_run(job, self._state.events.clock.now_ms)
        if self._has_room:
            self._add(key, stream, schedule, job.next_ms, job.fields)
        schedule.move(job, next_ms)
        log = [b"XSCHEDULE", key, job.name, b"NEXT", b"%d" % next_ms]
        self._call.db.group_changed(key, None, changes=0, log=log)

    def _add(
        self, key: bytes, stream: Stream, schedule: Schedule, due_ms: int, packed: bytes
    ) -> None:
        entry_id, fields = stream.next_auto_id(due_ms), unpacked(packed)
        try:
            stream.append(entry_id, fields, 0, self._state.node_limits.stream)
        except TooLarge:  # XADD has refused that: somebody has forged a payload of RESTORE
            return
        log = [b"XADD", key, entry_id.encode(), *fields]
        self._call.db.changed(key, b"xadd", changes=1, log=log, wakes=True)
        expire_ms = expires_after(packed)
        if expire_ms:
            deadline_ms = min(due_ms + expire_ms, LATEST_MS)
            stream_expiries.set_deadline(self._call, key, stream, schedule, entry_id, deadline_ms)


def _stream_at(db: Keyspace, key: bytes) -> Stream | None:
    try:
        return db.find(key, Stream)
    except WrongType:
        return None
