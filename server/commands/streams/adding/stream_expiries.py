"""XADD EXPIRE: entries that go, and are given to nobody, when their time is over.

    1. What has expired is looked for when the first deadline comes, by
       server/lifecycle/due_entries.py, and before anything is given of a group.
    2. A group that has dead letters, and has the entry pending or has not read it yet, moves a copy
       there, with the reason ``expired``.
    3. The entry is no longer pending in any group, and is deleted.

It is logged in words that every Redis knows: XADD for the dead letters, XACK, XDEL. The deadlines
are in the schedule of the key, and go with XDEL on replicas, too; XEXPIREAT sets them there.
"""

from __future__ import annotations

from server.commands.streams.adding import add_options, stream_delays, stream_once, stream_steps
from server.commands.streams.adding.add_options import AddOptions
from server.commands.streams.groups import dead_letters
from server.dispatch.call import Call
from storage.side_data.group_policy import GROUP_POLICY
from storage.side_data.schedule import LATEST_MS, Schedule
from storage.stream import deletions
from storage.stream.deletions import Deletion, Done
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

_LATEST_MS = LATEST_MS  # as a C number
MOST_AT_ONCE = 1000  # entries that a claim removes before it looks: some milliseconds
EXPIRED = b"expired"  # a reason of a dead letter


# ---------------------------------------------------------------------- setting deadlines


def add_simply(call: Call) -> bytes | None:
    """``XADD key EXPIRE ms * field value ...``, which is what most say."""
    argv = call.argv
    key, expire_ms, id_at = argv[1], add_options.expiry_of(argv[3]), 4
    if call.is_logged:  # without EXPIRE
        plain = argv[2:]
        plain[0], plain[1] = argv[0], key
        call.argv, id_at = plain, 2
    # Looked for once; but what is no field and value is refused before what is no stream.
    fields = len(argv) - 5
    stream = None
    if fields >= 2 and not fields & 1:
        stream = call.db.find(key, Stream)
    text = stream_steps.add_entry(call, id_at, None, stream)
    if stream is None:
        stream = call.db.find(key, Stream)
    if stream is not None:
        deadline_ms = min(call.now_ms + expire_ms, _LATEST_MS)
        schedule = stream_delays.schedule_beside(call, key)
        set_deadline(call, key, stream, schedule, stream.last_id, deadline_ms)
    return text


def add_expiring(call: Call, options: AddOptions) -> bytes | None:
    """As XADD without EXPIRE, which is no word of argv any more; and the entry expires."""
    key, trim, once = call.argv[1], options.trim, options.once
    stream = call.db.find(key, Stream)
    added = 0 if stream is None else stream.entries_added
    if once is not None:
        text = stream_once.add_once(call, options, once)
    elif options.last is not None and not stream_steps.ends_with(call, options.id_at, options.last):
        return None
    else:
        text = stream_steps.add_entry(call, options.id_at, options)
    if stream is None:
        stream = call.db.find(key, Stream)
    if stream is None or stream.entries_added == added:
        return text
    is_id_given = options.wanted is not None and not call.argv[options.id_at].endswith(b"*")
    if is_id_given and (trim is None or trim.is_as_it_was_given()):
        # It was logged as it came: it is one of several commands now.
        call.db.changed(key, None, changes=0, log=call.argv, wakes=False, watched=False)
    deadline_ms = min(call.now_ms + options.expire_ms, _LATEST_MS)
    if trim is None or stream.contains(stream.last_id):
        schedule = stream_delays.schedule_beside(call, key)
        set_deadline(call, key, stream, schedule, stream.last_id, deadline_ms)
    return text


def set_deadline(
    call: Call, key: bytes, stream: Stream, schedule: Schedule, entry_id: StreamId, deadline_ms: int
) -> None:
    """Let an entry that was just added expire."""
    deadlines = schedule.deadlines
    deadlines.prune(stream.first_id)
    if deadlines.put(entry_id, deadline_ms):
        stream_delays.changed(call, key, schedule)
    if call.is_logged:
        log = (b"XEXPIREAT", key, b"%d" % deadline_ms, entry_id.encode())
        call.db.group_changed(key, None, changes=0, log=log)


# ---------------------------------------------------------------------- deadlines that have come


def settle(call: Call, key: bytes, most: int) -> bool:
    """Remove up to *most* entries that have expired; whether that were all. O(log N) for each.

    *most* counts what may be written: each group with dead letters takes a copy of each entry.
    What is replayed has no say: the primary, or the log, tells what it has removed.
    """
    schedule = stream_delays.schedule_of(call, key)
    if schedule is None or call.is_replayed() or schedule.deadlines.first() > call.now_ms:
        return True
    stream = call.db.peek(key)
    if isinstance(stream, Stream):
        most = max(1, most // max(1, _copies(call, key)))
        ids = [entry_id for _, entry_id in schedule.deadlines.up_to(call.now_ms, most)]
        _remove(call, key, stream, ids)
        for entry_id in ids:
            schedule.deadlines.discard(entry_id)
        stream_delays.changed(call, key, schedule)
    return schedule.deadlines.first() > call.now_ms


def _copies(call: Call, key: bytes) -> int:
    """How many groups of the stream at *key* have dead letters. O(groups with a policy)."""
    side = call.db.side_of(key)
    policies = [] if side is None else side.of_kind(GROUP_POLICY)
    return len([name for name, policy in policies if policy.dead_letter])


def _remove(call: Call, key: bytes, stream: Stream, ids: list[StreamId]) -> None:
    for name, group in stream.sorted_groups():
        dead_letters.bury_expired(call, key, stream, name, group, ids, EXPIRED)
    # Counted before they are deleted: a bug while that goes on must end the server.
    call.db.group_changed(key, None, changes=len(ids))
    done = Done()
    deletion = Deletion(stream, deletions.DELREF, done)
    for entry_id in ids:
        deletion.delete(entry_id)
    deletion.end()
    for name, acked in done.acked.items():
        call.db.group_changed(key, None, changes=0, log=(b"XACK", key, name, *acked))
    if stream.is_noted():
        call.server.stream_compaction.note(call.db.index, key)
    log = (b"XDEL", key, *[entry_id.encode() for entry_id in ids])
    event = b"xdel" if deletion.deleted else None
    call.db.changed(key, event, changes=0, log=log)
    call.server.blocking.delivered(call.db.index, key)
