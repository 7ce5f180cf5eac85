"""XSCHEDULED and XUNSCHEDULE, XSCHEDULE and XSCHEDULES, XEXPIREAT: what comes later, and goes.

The schedule is side data of the key: storage/side_data/schedule.py. XADD DELAY and AT are in
stream_delays.py; who adds the entries is server/lifecycle/due_entries.py.
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.streams import stream_args
from server.commands.streams.adding import add_options, stream_delays
from server.dispatch.call import Call
from server.parts.scheduling import recurrence
from server.parts.scheduling.recurrence import BadTime
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, DELETE, RO, RW, UPDATE, KeyRange
from storage.side_data.schedule import (
    LATEST_MS,
    LONGEST_ZONE,
    NEVER,
    Job,
    expire_words,
    expires_after,
    packed,
    unpacked,
)
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO

AT_ONCE = 100  # entries that XSCHEDULED shows, unless it is told how many
COUNT_NOT_POSITIVE = ErrorReply("ERR", "COUNT must be > 0")
BAD_EVERY = ErrorReply("ERR", f"EVERY takes milliseconds from 1 to {LATEST_MS}")
BAD_NEXT = ErrorReply("ERR", f"NEXT takes unix time in milliseconds from 0 to {LATEST_MS}")
BAD_DEADLINE = ErrorReply("ERR", f"XEXPIREAT takes milliseconds from 0 to {LATEST_MS}")
BAD_ZONE = ErrorReply("ERR", recurrence.NO_ZONE)
NEVER_TRUE = ErrorReply("ERR", "the cron expression never comes true")
ZONE_WITHOUT_CRON = ErrorReply("ERR", "TZ is the time zone of a CRON expression")


@command(
    "XSCHEDULED",
    arity=-2,
    flags=Flags.READONLY,
    group="stream",
    since="0.1.0",
    complexity="O(log(N)+M) with N being the number of scheduled entries and M that of those "
    "returned.",
    keys=KeyRange(RO | ACCESS),
    types={"start": "string", "end": "string"},
)
def xscheduled(call: Call) -> Reply:
    """Returns the entries that XADD DELAY and AT have scheduled, what is due first first.

    XSCHEDULED key [start end] [COUNT count]

    *start* and *end* are IDs of scheduled entries, or their first numbers, which are unix times in
    ms. Without COUNT there are 100 entries at most.
    """
    args = Args(call.argv, 2)
    start, end, most = ZERO, MAX, AT_ONCE
    if args.left() > 1 and args.argv[args.at].upper() != b"COUNT":
        start, end = stream_args.range_start(args.take()), stream_args.range_end(args.take())
    if args.left():
        if not args.skip(b"COUNT"):
            raise errors.SYNTAX
        most = args.take_positive(COUNT_NOT_POSITIVE)
        if args.left():
            raise errors.SYNTAX
    call.db.read(call.argv[1], Stream)
    schedule = stream_delays.schedule_of(call, call.argv[1])
    if schedule is None:
        return []
    rows: list[Reply] = []
    for entry_id, fields in schedule.entries(start, end, most):
        words: list[Reply] = [*unpacked(fields)]
        rows.append([entry_id.encode(), words])
    return rows


@command(
    "XUNSCHEDULE",
    arity=-3,
    flags=Flags.WRITE | Flags.FAST,
    group="stream",
    since="0.1.0",
    complexity="O(log(N)) for each ID or name, with N being the number of scheduled entries.",
    keys=KeyRange(RW | DELETE),
)
def xunschedule(call: Call) -> Reply:
    """Forgets scheduled entries, or jobs; returns how many there were.

    XUNSCHEDULE key <id [id ...] | NAMES name [name ...]>
    """
    key, args = call.argv[1], Args(call.argv, 2)
    names = args.rest() if args.skip(b"NAMES") else []
    ids = stream_args.entry_ids(call.argv, args.at)
    if not names and not ids:
        raise errors.SYNTAX
    call.db.find(key, Stream)
    schedule = stream_delays.schedule_of(call, key)
    if schedule is None:
        return 0
    gone = sum(map(schedule.discard, ids)) + sum(map(schedule.drop, names))
    if gone:
        stream_delays.changed(call, key, schedule)
        call.db.group_changed(key, b"xunschedule", changes=gone)
    return gone


# ---------------------------------------------------------------------- jobs


@command(
    "XSCHEDULE",
    arity=-5,
    flags=Flags.WRITE | Flags.DENYOOM,
    group="stream",
    since="0.1.0",
    complexity="O(log(N)) with N being the number of jobs.",
    keys=KeyRange(RW | UPDATE),
    types={"expression": "string", "zone": "string"},
)
def xschedule(call: Call) -> Reply:
    """Has an entry added again and again; returns when the first time is, as unix time in ms.

    XSCHEDULE key name <<EVERY ms | CRON expression [TZ zone]> [NEXT unix-ms] [EXPIRE ms] *
    field value [field value ...] | NEXT unix-ms>

    A job of that name is replaced; if it runs as often, its next run stays. With NEXT alone one
    that is there runs next at that time; null if there is none.
    """
    argv, key, name = call.argv, call.argv[1], call.argv[2]
    args = Args(argv, 3)
    job, expire_ms = _take_times(call, args)
    if not args.left() and not job.every_ms and not job.cron and not expire_ms:
        return _move(call, job.next_ms)
    if not args.skip(b"*") or not (job.every_ms or job.cron):
        raise errors.SYNTAX
    stream_delays.check_fields(argv, args.at, "xschedule")
    if job.next_ms < 0:
        job.next_ms = _first_run(call, job)
    schedule = stream_delays.schedule_for(call, key)
    assert schedule is not None
    made = Job(
        name, job.every_ms, job.cron, job.zone, job.next_ms, packed(argv, args.at, expire_ms)
    )
    schedule.put(made)
    stream_delays.changed(call, key, schedule)
    when = (*made.words(), b"NEXT", b"%d" % made.next_ms, *expire_words(made.fields))
    log = (argv[0], key, name, *when, *argv[args.at - 1 :])
    call.db.group_changed(key, b"xschedule", changes=1, log=log)
    return made.next_ms


def _take_times(call: Call, args: Args) -> tuple[Job, int]:
    """When it runs, a job without a name and fields; and after how many ms its entries expire.

    If no next run is given, that is negative. Raises ErrorReply.
    """
    every_ms, cron, zone, next_ms, expire_ms = 0, b"", b"", -1, 0
    while args.left() and args.argv[args.at] != b"*":
        if not (every_ms or cron) and args.skip(b"EVERY"):
            every_ms = to_int(args.take(), BAD_EVERY)
            if not 1 <= every_ms <= LATEST_MS:
                raise BAD_EVERY
        elif not (every_ms or cron) and args.skip(b"CRON"):
            cron = args.take()
        elif not zone and args.skip(b"TZ"):
            zone = args.take()
            if len(zone) > LONGEST_ZONE:  # also of the log: it could not be saved
                raise BAD_ZONE
        elif not expire_ms and args.skip(b"EXPIRE"):
            expire_ms = add_options.expiry_of(args.take())
        elif next_ms < 0 and args.skip(b"NEXT"):
            next_ms = to_int(args.take(), BAD_NEXT)
            if not 0 <= next_ms <= LATEST_MS and not (call.is_replayed() and next_ms == NEVER):
                raise BAD_NEXT
        else:
            raise errors.SYNTAX
    if zone and not cron:
        raise ZONE_WITHOUT_CRON
    if cron and not call.is_replayed():
        _check_cron(call, cron, zone)
    return Job(b"", every_ms, cron, zone, next_ms, b""), expire_ms


def _check_cron(call: Call, cron: bytes, zone: bytes) -> None:
    try:
        if recurrence.next_of_cron(cron, zone, call.now_ms) == NEVER:
            raise NEVER_TRUE
    except BadTime as error:
        raise ErrorReply("ERR", str(error)) from None


def _first_run(call: Call, job: Job) -> int:
    """When *job* runs first; one of its name that runs as often goes on as it would have."""
    schedule = stream_delays.schedule_of(call, call.argv[1])
    present = None if schedule is None else schedule.jobs.get(call.argv[2])
    if present is not None and present.next_ms < NEVER and present.words() == job.words():
        return present.next_ms
    if job.every_ms:
        return min(call.now_ms + job.every_ms, LATEST_MS)
    return recurrence.next_run(job, call.now_ms)


def _move(call: Call, next_ms: int) -> Reply:
    """Have a job that is there run next at *next_ms*."""
    key, name = call.argv[1], call.argv[2]
    call.db.find(key, Stream)
    schedule = stream_delays.schedule_of(call, key)
    job = None if schedule is None else schedule.jobs.get(name)
    if schedule is None or job is None:
        return None
    schedule.move(job, next_ms)
    stream_delays.changed(call, key, schedule)
    call.db.group_changed(key, b"xschedule", changes=1)
    return next_ms


@command(
    "XSCHEDULES",
    arity=2,
    flags=Flags.READONLY,
    group="stream",
    since="0.1.0",
    complexity="O(N) with N being the number of jobs.",
    keys=KeyRange(RO | ACCESS),
)
def xschedules(call: Call) -> Reply:
    """Shows the jobs of a stream, in the order of their names.

    XSCHEDULES key
    """
    call.db.read(call.argv[1], Stream)
    schedule = stream_delays.schedule_of(call, call.argv[1])
    if schedule is None:
        return []
    return [_shown(schedule.jobs[name]) for name in sorted(schedule.jobs)]


def _shown(job: Job) -> Reply:
    when: dict[bytes, Reply] = {b"every": job.every_ms}
    if not job.every_ms:
        when = {b"cron": job.cron, b"zone": job.zone or b"UTC"}
    next_ms = job.next_ms if job.next_ms < NEVER else None
    fields: list[Reply] = [*unpacked(job.fields)]
    if expires_after(job.fields):
        when[b"expire"] = expires_after(job.fields)
    return {b"name": job.name, **when, b"next": next_ms, b"fields": fields}


# ---------------------------------------------------------------------- deadlines


@command(
    "XEXPIREAT",
    arity=-4,
    flags=Flags.WRITE | Flags.FAST,
    group="stream",
    since="0.1.0",
    complexity="O(log(N)) for each ID, with N being the number of entries.",
    keys=KeyRange(RW | UPDATE),
)
def xexpireat(call: Call) -> Reply:
    """Sets when entries expire, as XADD EXPIRE does; returns how many of them there are.

    XEXPIREAT key unix-ms id [id ...]

    0 has them never expire.
    """
    key = call.argv[1]
    deadline_ms = to_int(call.argv[2], BAD_DEADLINE)
    if not 0 <= deadline_ms <= LATEST_MS:
        raise BAD_DEADLINE
    ids = stream_args.entry_ids(call.argv, 3)
    stream = call.db.find(key, Stream)
    found = [] if stream is None else list(filter(stream.contains, ids))
    if stream is None or not found:
        return 0
    schedule = stream_delays.schedule_for(call, key)
    assert schedule is not None  # there is a stream
    schedule.deadlines.prune(stream.first_id)
    for entry_id in found:
        if deadline_ms:
            schedule.deadlines.put(entry_id, deadline_ms)
        else:
            schedule.deadlines.discard(entry_id)
    stream_delays.changed(call, key, schedule)
    call.db.group_changed(key, b"xexpireat", changes=len(found))
    return len(found)
