"""The stream commands without consumer groups: add, read ranges, delete, trim."""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, OK, ErrorReply, Reply
from server.commands.streams import stream_args, stream_reply, stream_retention
from server.commands.streams.adding import (
    add_options,
    stream_delays,
    stream_expiries,
    stream_once,
    stream_steps,
)
from server.commands.streams.groups import group_steps
from server.commands.streams.stream_args import Trim
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.documentation import OwnWords, Tip
from server.table.keys import ACCESS, DELETE, RO, RW, UPDATE, KeyRange
from storage import octets
from storage.stream import stream_id
from storage.stream.deletions import Done
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

READ = Flags.READONLY
WRITE = Flags.WRITE
IDS_ONLY = OwnWords("NOFIELDS", "IDs alone")

NO_STRATEGY = ErrorReply("ERR", "syntax error, XTRIM must be called with a trimming strategy")
ENTRIES_ADDED_NEGATIVE = ErrorReply("ERR", "entries_added must be positive")
BELOW_GIVEN_MAX_DELETED = ErrorReply(
    "ERR", "The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
)


# ---------------------------------------------------------------------- adding


@command(
    "XADD",
    arity=-5,
    flags=WRITE | Flags.DENYOOM | Flags.FAST,
    group="stream",
    since="5.0.0",
    complexity="O(1) when adding a new entry, O(N) when trimming N entries.",
    keys=KeyRange(RW | UPDATE),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[
        ("6.2.0", "NOMKSTREAM, trimming by MINID, and LIMIT."),
        ("7.0.0", "Ids of the form ms-*."),
        ("8.2.0", "KEEPREF, DELREF and ACKED."),
        ("8.6.0", "IDMP and IDMPAUTO."),
    ],
    own=[
        OwnWords("DELAY AT", "the entry is added when it is due"),
        OwnWords("EXPIRE", "the entry is deleted after so many ms"),
        OwnWords("IFLAST", "added only if the last ID is this one; 0-0: to an empty stream"),
    ],
)
def xadd(call: Call) -> Reply:
    """Adds an entry to the end of a stream, which is created if needed; returns the ID.

    XADD key [NOMKSTREAM] [DELAY ms | AT unix-ms] [EXPIRE ms] [IFLAST last-id]
    [KEEPREF | DELREF | ACKED] [IDMPAUTO pid | IDMP pid iid] [<MAXLEN | MINID> [= | ~] threshold
    [LIMIT count]] <* | id> field value [field value ...]

    With DELAY or AT the entry is added when it is due. The answer is its ID in the schedule then,
    which XUNSCHEDULE takes: it is none of the stream. With EXPIRE it is deleted so many ms after it
    was added, and given to no consumer any more.
    """
    argv = call.argv
    if argv[2] == b"*":
        return stream_steps.add_entry(call, 2)
    if octets.same_letters(argv[2], b"EXPIRE") and argv[4] == b"*":
        return stream_expiries.add_simply(call)
    options = add_options.read_add_options(call)
    if options.delay is not None:
        return stream_delays.add_later(call, options, options.delay)
    if options.expire_ms:
        return stream_expiries.add_expiring(call, options)
    if options.once is not None:
        return stream_once.add_once(call, options, options.once)
    if options.last is not None and not stream_steps.ends_with(call, options.id_at, options.last):
        return None
    return stream_steps.add_entry(call, options.id_at, options)


# ---------------------------------------------------------------------- reading


@command("XLEN", arity=2, flags=READ | Flags.FAST, group="stream", since="5.0.0", keys=KeyRange(RO))
def xlen(call: Call) -> Reply:
    """Counts the entries of a stream.

    XLEN key
    """
    stream = call.db.read(call.argv[1], Stream)
    return 0 if stream is None else stream.length


@command(
    "XRANGE",
    arity=-4,
    flags=READ,
    group="stream",
    since="5.0.0",
    complexity="O(N) with N being the number of messages returned.",
    keys=KeyRange(RO | ACCESS),
    types={"start": "string", "end": "string"},
    history=[("6.2.0", "Exclusive ranges: an id with a parenthesis before it.")],
    own=[IDS_ONLY],
)
def xrange(call: Call) -> Reply:
    """Returns the entries whose IDs lie between two, oldest first.

    XRANGE key start end [COUNT count] [NOFIELDS]
    """
    return _range(call, call.argv[2], call.argv[3], reverse=False)


@command(
    "XREVRANGE",
    arity=-4,
    flags=READ,
    group="stream",
    since="5.0.0",
    complexity="O(N) with N being the number of messages returned.",
    keys=KeyRange(RO | ACCESS),
    types={"start": "string", "end": "string"},
    history=[("6.2.0", "Exclusive ranges: an id with a parenthesis before it.")],
    own=[IDS_ONLY],
)
def xrevrange(call: Call) -> Reply:
    """Returns the entries whose IDs lie between two, newest first.

    XREVRANGE key end start [COUNT count] [NOFIELDS]
    """
    return _range(call, call.argv[3], call.argv[2], reverse=True)


def _range(call: Call, first: bytes, last: bytes, reverse: bool) -> Reply:
    start, end = stream_args.range_start(first), stream_args.range_end(last)
    count, ids_only = _range_options(call.argv)
    stream = call.db.read(call.argv[1], Stream)
    if stream is None:
        return []
    if count == 0:
        return NULL_ARRAY
    out = call.client.out.another()
    stream_reply.write_range(out, stream, start, end, max(count, 0), reverse, ids_only)
    return out


def _range_options(argv: list[bytes]) -> tuple[int, bool]:
    """COUNT's value, 0 for a negative one, -1 if there is none; whether NOFIELDS is said."""
    count, ids_only = -1, False
    args = Args(argv, 4)
    while args.left():
        if args.left() > 1 and args.skip(b"COUNT"):
            count = max(args.take_int(), 0)
        elif args.skip(b"NOFIELDS"):
            ids_only = True
        else:
            raise errors.SYNTAX
    return count, ids_only


# ---------------------------------------------------------------------- deleting


@command(
    "XDEL",
    arity=-3,
    flags=WRITE | Flags.FAST,
    group="stream",
    since="5.0.0",
    complexity="O(1) for each single item to delete in the stream, regardless of the stream size.",
    keys=KeyRange(RW | DELETE),
)
def xdel(call: Call) -> Reply:
    """Deletes the entries with these IDs; returns how many there were.

    XDEL key id [id ...]
    """
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    if stream is None:
        return 0
    ids = stream_args.entry_ids(call.argv, 2)
    deleted = stream.delete_all(ids)
    had_deadline = bool(call.db.side) and call.server.agenda.entries_gone(call.db, key, ids)
    if deleted:
        stream_steps.note_sparse(call, stream)
        call.db.changed(key, b"xdel", changes=deleted)
    elif had_deadline:
        call.db.group_changed(key, None)
    return deleted


@command(
    "XTRIM",
    arity=-4,
    flags=WRITE,
    group="stream",
    since="5.0.0",
    complexity="O(N), with N being the number of evicted entries.",
    keys=KeyRange(RW | DELETE),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[
        ("6.2.0", "Trimming by MINID, and LIMIT."),
        ("8.2.0", "KEEPREF, DELREF and ACKED."),
    ],
)
def xtrim(call: Call) -> Reply:
    """Deletes the oldest entries until a stream is short enough or begins late enough.

    XTRIM key <MAXLEN | MINID> [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]
    """
    trim = _take_trim(call)
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    if stream is None:
        return 0
    if trim.drops_references() and call.is_logged:
        trim.done = Done()
    deleted = trim.apply(stream, call.server.node_limits.stream)
    if deleted:
        stream_steps.note_sparse(call, stream)
        log = None
        if call.is_logged and not trim.is_as_it_was_given():
            if trim.done is not None:
                stream_steps.log_done(call, trim.done)
            log = (call.argv[0], key, *trim.as_exact(stream))
        call.db.changed(key, b"xtrim", changes=deleted, log=log)
        if trim.done is not None:
            stream_steps.log_greatest(call, trim.done, stream)
        if call.db.side and trim.drops_references():
            group_steps.left(call, key)
    return deleted


def _take_trim(call: Call) -> Trim:
    args = Args(call.argv, 2)
    trim = Trim()
    while args.left():
        if not trim.take(args):
            raise errors.SYNTAX
    trim.check()
    if not trim.strategy:
        raise NO_STRATEGY
    trim.check_limit(call)
    return trim


# ---------------------------------------------------------------------- counters


@command(
    "XSETID",
    arity=-3,
    flags=WRITE | Flags.DENYOOM | Flags.FAST,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RW | UPDATE),
    history=[("7.0.0", "ENTRIESADDED and MAXDELETEDID.")],
)
def xsetid(call: Call) -> Reply:
    """Sets the last ID and the counters of a stream, for replication and the AOF.

    XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]
    """
    key = call.argv[1]
    last_id = stream_id.parse_id(call.argv[2])
    entries_added, max_deleted_id = _setid_options(call.argv, last_id)
    stream = call.db.find(key, Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    is_set_back = last_id < stream.last_id
    stream.set_id(last_id, entries_added, max_deleted_id)
    if is_set_back:
        stream_retention.forget_newest(call, key)
        if call.db.side:
            call.server.agenda.set_back(call.db, key, last_id)
    call.db.group_changed(key, b"xsetid")
    return OK


def _setid_options(argv: list[bytes], last_id: StreamId) -> tuple[int | None, StreamId]:
    entries_added: int | None = None
    max_deleted_id = ZERO
    for at in range(3, len(argv), 2):
        word = argv[at].upper()
        if at + 1 == len(argv) or word not in (b"ENTRIESADDED", b"MAXDELETEDID"):
            raise errors.SYNTAX
        if word == b"ENTRIESADDED":
            entries_added = to_int(argv[at + 1])
            if entries_added < 0:
                raise ENTRIES_ADDED_NEGATIVE
        else:
            max_deleted_id = stream_id.parse_id(argv[at + 1])
            if last_id < max_deleted_id:
                raise BELOW_GIVEN_MAX_DELETED
    return entries_added, max_deleted_id
