"""XDELEX and XACKDEL: delete entries by their IDs, with regard to the groups that refer to them."""

from __future__ import annotations

from protocol.replies import Reply
from server.commands.streams.adding import stream_steps
from server.commands.streams.groups import group_steps
from server.commands.streams.stream_args import Doomed, read_doomed
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import DELETE, RW, UPDATE, KeyRange
from storage.stream import deletions
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.deletions import Deletion, Done
from storage.stream.stream import Stream

WRITE = Flags.WRITE | Flags.FAST


@command(
    "XDELEX",
    arity=-5,
    flags=WRITE,
    group="stream",
    since="8.2.0",
    complexity="O(1) for each id, whatever the size of the stream.",
    keys=KeyRange(RW | DELETE),
)
def xdelex(call: Call) -> Reply:
    """Deletes entries, and what groups know of them, or only those that no group needs.

    XDELEX key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]
    """
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    doomed = read_doomed(call.argv, 2)
    if stream is None:
        return [deletions.MISSING] * doomed.count
    ids = doomed.ids()
    done = _done(call)
    deletion = Deletion(stream, doomed.policy, done)
    results: list[Reply] = [deletion.delete(entry_id) for entry_id in ids]
    deletion.end()
    _tell(call, deletion, done)
    return results


@command(
    "XACKDEL",
    arity=-6,
    flags=WRITE,
    group="stream",
    since="8.2.0",
    complexity="O(1) for each id, whatever the size of the stream.",
    keys=KeyRange(RW | UPDATE | DELETE),
)
def xackdel(call: Call) -> Reply:
    """Acknowledges entries for a group, and deletes them as XDELEX does.

    XACKDEL key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]
    """
    key, name = call.argv[1], call.argv[2]
    stream = call.db.read(key, Stream)
    doomed = read_doomed(call.argv, 3)
    group = None if stream is None else stream.find_group(name)
    if stream is None or group is None:
        return [deletions.MISSING] * doomed.count
    return _ack_all(call, stream, group, doomed)


def _ack_all(call: Call, stream: Stream, group: ConsumerGroup, doomed: Doomed) -> list[Reply]:
    """Acknowledge and delete each entry; return what became of them."""
    name, ids = call.argv[2], doomed.ids()
    done = _done(call)
    deletion = Deletion(stream, doomed.policy, done)
    results: list[Reply] = []
    for entry_id in ids:
        results.append(deletion.ack(name, group, entry_id))  # noqa: PERF401 - compiled, it is as fast
    deletion.end()
    _tell(call, deletion, done)
    return results


def _done(call: Call) -> Done | None:
    """Where to note what is done, if anybody wants to know: a log, or who keeps the deadlines."""
    return Done() if call.is_logged or call.db.side else None


def _tell(call: Call, deletion: Deletion, done: Done | None) -> None:
    """Say what has been deleted. References that are gone are changes, too.

    The log has it in words that every server knows.
    """
    key, changes = call.argv[1], deletion.acked + deletion.dropped + deletion.deleted
    if done is not None:
        stream_steps.log_done(call, done)
    if deletion.deleted:
        stream_steps.note_sparse(call, deletion.stream)
        call.db.changed(key, b"xdel", changes=changes)
    elif changes:
        call.db.group_changed(key, None, changes=changes)
    if call.db.side:
        group_steps.left(call, key)
