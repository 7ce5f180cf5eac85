"""What comes to a stream later, and what goes: side data of its key.

    entries    due, number   ->  fields        a radix tree; both are big-endian, of 8 bytes
    runs       next, name    ->  job           another one: the next run of each job
    jobs       name          ->  job           EVERY ms, or CRON and a zone; its next run; fields
    last       the greatest number that an entry was given
    deadlines  id            ->  deadline      when entries of the stream expire: deadlines.py

XADD DELAY and AT set the entries, XSCHEDULE the jobs, XADD EXPIRE and XEXPIREAT the deadlines.
*due* and *next* are unix ms. Both trees sort by time, so what is due next is their first key. The
id of a scheduled entry is ``due-number``: its place in the tree, so it is found by that, too. A
number is given once, so an id never means another entry; of equal times the entry that was
scheduled first comes first, and entries come before jobs. Each operation is O(log N).

What is kept of an entry's fields is how many ms after it is due it expires, an RDB length, 0 for
never; and RDB strings, one after the other: a bytes object of about their length.

In files, all numbers being RDB lengths and all texts RDB strings:

    last   count   [due and number: 16 bytes   fields] ...
           count   [name   every   cron   zone   next   fields] ...
           count   [id: 16 bytes   deadline] ...

*every* is 0 where CRON says it, and *next* is NEVER for a job that does not run any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage import allocation, octets
from storage.errors import Corrupt
from storage.rax.rax import Rax
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.side_data import deadlines
from storage.side_data.deadlines import Deadlines
from storage.side_data.side_kind import SideKind
from storage.stream import stream_id
from storage.stream.stream_id import MAX, ZERO, StreamId
from storage.value_type import Words

NEVER = deadlines.NEVER  # a time that does not come
LATEST_MS = 2**53  # that an entry may be due at
MOST_NUMBERS = 2**53
LONGEST_ZONE = 64  # bytes of a name; the longest has 32. Each part of it is looked for in the last
_NEVER, _LATEST_MS, _MOST_NUMBERS = NEVER, LATEST_MS, MOST_NUMBERS  # as C numbers
OBJECT = 240  # bytes of a schedule, compiled, without the nodes of its trees
PLACE = 96  # bytes that a tree takes for each of its keys, if their times are scattered
JOB = 200  # bytes of a job besides its texts
FREED_AT_ONCE = 2000  # entries, deadlines and jobs
MOST_KEPT = 1 << 17  # bytes that the writer of fields keeps

_writers = [RdbWriter(compress=False)]  # the one that writes fields


def packed(words: list[bytes], at: int, expire_ms: int = 0) -> bytes:
    """The fields ``words[at:]`` as they are stored, of an entry that expires so long after."""
    writer = _writers[0]
    writer.length(expire_ms)
    for index in range(at, len(words)):
        writer.string(words[index])
    fields = writer.take()
    if len(fields) > MOST_KEPT:
        _writers[0] = RdbWriter(compress=False)
    return fields


def unpacked(fields: bytes) -> list[bytes]:
    """The words that packed() was given. Raises Corrupt."""
    reader = RdbReader(fields)
    if reader.length() > _LATEST_MS:
        raise Corrupt("a scheduled entry that expires beyond all time")
    words = []
    while reader.left() > 0:
        words.append(reader.string())
    if not words or len(words) % 2:
        raise Corrupt("a scheduled entry without fields, or with a field and no value")
    return words


def expires_after(fields: bytes) -> int:
    """After how many ms an entry with these packed fields expires; 0: never."""
    reader = RdbReader(fields)
    return reader.length()


class Job:
    """Adds an entry again and again: every so many ms, or when a cron expression says.

    *next_ms* is when the next one is due; NEVER: there is none.
    """

    __slots__ = ("cron", "every_ms", "fields", "name", "next_ms", "zone")

    def __init__(
        self, name: bytes, every_ms: int, cron: bytes, zone: bytes, next_ms: int, fields: bytes
    ) -> None:
        self.name = name
        self.every_ms = every_ms  # 0: *cron* says when
        self.cron = cron
        self.zone = zone  # of *cron*; empty: UTC
        self.next_ms = next_ms
        self.fields = fields  # packed

    def words(self) -> list[bytes]:
        """The words of XSCHEDULE that say when it runs."""
        if self.every_ms:
            return [b"EVERY", b"%d" % self.every_ms]
        return [b"CRON", self.cron, *([b"TZ", self.zone] if self.zone else [])]


class Schedule:
    """What comes to one stream later, and goes. All times are unix ms."""

    __slots__ = ("_entries", "_runs", "_weight", "deadlines", "jobs", "last")

    def __init__(self) -> None:
        self._entries = Rax()
        self._runs = Rax()
        self.deadlines = Deadlines()
        self._weight = OBJECT  # bytes, without the trees
        self.jobs: dict[bytes, Job] = {}
        self.last = 0
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= self._weight

    def _weigh(self, size: int) -> None:
        self._weight += size
        allocation.used += size

    def __len__(self) -> int:
        """How many entries are scheduled, jobs aside."""
        return self._entries.size

    def is_nothing(self) -> bool:
        """Whether it is as new: nobody would miss it."""
        size = self._entries.size + self.deadlines.count() + len(self.jobs)
        return size == 0 and self.last == 0

    def first_due(self) -> int:
        """When the first entry, or run of a job, is due, or one expires. NEVER: there is none."""
        return min(self.first_added(), self.deadlines.first())

    def first_added(self) -> int:
        """When the first entry, or run of a job, is due. NEVER: there is none."""
        due_ms = run_ms = _NEVER
        at = self._entries.seek("^")
        if at.valid:
            due_ms = octets.u64_be(at.current_key(), 0)
        at = self._runs.seek("^")
        if at.valid:
            run_ms = octets.u64_be(at.current_key(), 0)
        return min(due_ms, run_ms)

    # ------------------------------------------------------------------ entries

    def add(self, due_ms: int, fields: bytes, number: int = 0) -> StreamId:
        """Have an entry with the packed *fields* be due; return its id.

        *number* is of one that was scheduled before, somewhere else.
        """
        if number == 0:
            number = self.last + 1
        made = stream_id.make_id(due_ms, number)
        old = self._entries.insert(made.key(), fields)
        self._weigh(allocation.of_bytes(fields))
        if old is not None:
            self._weigh(-allocation.of_bytes(old))
        self.last = max(self.last, number)
        return made

    def discard(self, entry_id: StreamId) -> bool:
        """Forget an entry. False if there is none with that id."""
        fields = self._entries.remove(entry_id.key())
        if fields is None:
            return False
        self._weigh(-allocation.of_bytes(fields))
        return True

    def first_entry(self, now_ms: int) -> StreamId | None:
        """The id of the entry that is due first, if it is by *now_ms*."""
        at = self._entries.seek("^")
        if not at.valid or octets.u64_be(at.current_key(), 0) > now_ms:
            return None
        return stream_id.from_key(at.current_key())

    def fields_of(self, entry_id: StreamId) -> bytes:
        """The packed fields of an entry, which must be there."""
        fields: bytes = self._entries.find(entry_id.key())
        return fields

    def entries(self, start: StreamId, end: StreamId, most: int) -> list[Any]:
        """Up to *most* entries between these ids, those included: ``(id, packed fields)``."""
        found: list[Any] = []
        at = self._entries.seek(">=", start.key())
        while len(found) < most and at.next():
            entry_id = stream_id.from_key(at.current_key())
            if stream_id.compare(entry_id, end) > 0:
                break
            found.append((entry_id, at.value))
        return found

    # ------------------------------------------------------------------ jobs

    def put(self, job: Job) -> None:
        """Have *job* run when it says; one with its name is forgotten."""
        self.drop(job.name)
        self.jobs[job.name] = job
        self._weigh(_weight_of(job))
        self._expect(job)

    def drop(self, name: bytes) -> bool:
        """Forget a job. False if there is none with that name."""
        job = self.jobs.pop(name, None)
        if job is None:
            return False
        self._weigh(-_weight_of(job))
        self._runs.remove(_run_key(job))
        return True

    def move(self, job: Job, next_ms: int) -> None:
        """Have the next run of *job*, which is one of these, be at *next_ms*."""
        self._runs.remove(_run_key(job))
        job.next_ms = next_ms
        self._expect(job)

    def _expect(self, job: Job) -> None:
        if job.next_ms < _NEVER:
            self._runs.insert(_run_key(job), job)

    def first_job(self, now_ms: int) -> Job | None:
        """The job whose next run is due first, if it is by *now_ms*."""
        at = self._runs.seek("^")
        if not at.valid:
            return None
        job: Job = at.value
        return job if job.next_ms <= now_ms else None

    # ------------------------------------------------------------------ all

    def parts(self) -> int:
        """How many entries, deadlines and jobs it has that take time to be freed."""
        return self._entries.size + self.deadlines.in_trees() + len(self.jobs)

    def shed(self, most: int) -> bool:
        """Forget *most* of the parts. True if none is left.

        O(log N) for each.
        """
        for _ in range(most):
            if self._entries.size:
                at = self._entries.seek("^")
                self.discard(stream_id.from_key(at.current_key()))
            elif self.deadlines.in_trees():
                self.deadlines.forget_in_trees()
            elif self.jobs:
                _, job = self.jobs.popitem()
                self._weigh(-_weight_of(job))
                self._runs.remove(_run_key(job))
            else:
                return True
        return False

    def memory(self) -> int:
        """About how many bytes it takes."""
        trees = (self._entries.size + self._runs.size) * PLACE
        return self._weight + trees + self.deadlines.memory()

    def copy(self) -> Schedule:
        """An equal one of its own. O(N)."""
        copy = Schedule()
        at = self._entries.seek("^")
        while at.next():
            entry_id = stream_id.from_key(at.current_key())
            copy.add(entry_id.ms, at.value, entry_id.seq)
        copy.last = self.last
        for job in self.jobs.values():
            copy.put(Job(job.name, job.every_ms, job.cron, job.zone, job.next_ms, job.fields))
        for deadline_ms, entry_id in self.deadlines.by_id():
            copy.deadlines.put(entry_id, deadline_ms)
        return copy

    def write(self, writer: RdbWriter) -> None:
        """Write all of it: equal bytes for equal ones. O(N)."""
        writer.length(self.last)
        writer.length(self._entries.size)
        at = self._entries.seek("^")
        while at.next():
            writer.plain(at.current_key())
            writer.string(at.value)
        writer.length(len(self.jobs))
        for name in sorted(self.jobs):
            job = self.jobs[name]
            writer.string(name)
            writer.length(job.every_ms)
            writer.string(job.cron)
            writer.string(job.zone)
            writer.length(job.next_ms)
            writer.string(job.fields)
        writer.length(self.deadlines.count())
        for deadline_ms, entry_id in self.deadlines.by_id():
            writer.plain(entry_id.key())
            writer.length(deadline_ms)


def _weight_of(job: Job) -> int:
    size = JOB + allocation.of_bytes(job.name) + allocation.of_bytes(job.fields)
    return size + allocation.of_bytes(job.cron) + allocation.of_bytes(job.zone)


def _run_key(job: Job) -> bytes:
    return octets.id_key(job.next_ms, 0)[:8] + job.name


def read(data: bytes) -> Schedule:
    """The schedule whose bytes these are. Raises Corrupt. O(N)."""
    reader, made = RdbReader(data), Schedule()
    last = reader.length()
    if last > _MOST_NUMBERS:
        raise Corrupt("a schedule that has no numbers left")
    for _ in range(reader.count(17)):
        due_ms, number = _u64_be(reader), _u64_be(reader)
        fields = reader.string()
        unpacked(fields)
        if due_ms > _LATEST_MS or not 0 < number <= last:
            raise Corrupt("a scheduled entry with no place in time, or no number")
        made.add(due_ms, fields, number)
    made.last = last
    for _ in range(reader.count(6)):
        made.put(_read_job(reader))
    for _ in range(reader.count(17)):
        ms, seq = _u64_be(reader), _u64_be(reader)
        deadline_ms = reader.length()
        if deadline_ms > _LATEST_MS:
            raise Corrupt("a deadline beyond all time")
        made.deadlines.put(stream_id.make_id(ms, seq), deadline_ms)
    if reader.left():
        raise Corrupt("bytes after a schedule")
    return made


def _read_job(reader: RdbReader) -> Job:
    name = reader.string()
    every_ms = reader.length()
    cron, zone = reader.string(), reader.string()
    next_ms = reader.length()
    fields = reader.string()
    unpacked(fields)
    if every_ms > _LATEST_MS or (next_ms > _LATEST_MS and next_ms != _NEVER):
        raise Corrupt("a job that runs beyond all time")
    if len(zone) > LONGEST_ZONE:
        raise Corrupt("a job in a time zone of no such name")
    return Job(name, every_ms, cron, zone, next_ms, fields)


def _u64_be(reader: RdbReader) -> int:
    return octets.u64_be(reader.plain(8), 0)


class ScheduleKind(SideKind):
    """The row of the kind."""

    def copy(self, value: Schedule) -> Schedule:
        return value.copy()

    def dump(self, value: Schedule) -> bytes:
        writer = RdbWriter(compress=False)
        value.write(writer)
        return writer.take()

    def load(self, data: bytes) -> Schedule:
        return read(data)

    def memory(self, value: Schedule) -> int:
        return value.memory()

    def is_large(self, value: Schedule) -> bool:
        return value.parts() > FREED_AT_ONCE

    def commands(self, key: bytes, group: bytes | None, value: Schedule) -> Iterator[Words]:
        """XADD for each entry, with its number; XSCHEDULE for each job; XEXPIREAT for deadlines.

        If the greatest number is of no entry any more, one with it is scheduled and unscheduled.
        """
        greatest = 0
        for entry_id, fields in value.entries(ZERO, MAX, len(value)):
            greatest = max(greatest, entry_id.seq)
            when = [b"AT", entry_id.encode(), *expire_words(fields)]
            yield [b"XADD", key, *when, b"*", *unpacked(fields)]
        if greatest < value.last:
            last = stream_id.make_id(0, value.last).encode()
            yield [b"XADD", key, b"AT", last, b"*", b"", b""]
            yield [b"XUNSCHEDULE", key, last]
        for name in sorted(value.jobs):
            job = value.jobs[name]
            when = [*job.words(), b"NEXT", b"%d" % job.next_ms, *expire_words(job.fields)]
            yield [b"XSCHEDULE", key, name, *when, b"*", *unpacked(job.fields)]
        for deadline_ms, entry_id in value.deadlines.all():
            yield [b"XEXPIREAT", key, b"%d" % deadline_ms, entry_id.encode()]


def expire_words(fields: bytes) -> list[bytes]:
    """The words of a command that say when an entry with these packed fields expires."""
    expire_ms = expires_after(fields)
    return [b"EXPIRE", b"%d" % expire_ms] if expire_ms else []


SCHEDULE = ScheduleKind(b"schedule")
