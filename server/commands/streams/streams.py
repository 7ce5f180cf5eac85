"""The stream commands that know of no consumer group: add, read ranges, delete, trim."""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, OK, ErrorReply, Reply
from server.commands.streams import stream_args, stream_reply, stream_steps
from server.commands.streams.stream_args import Trim
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, Keys, command
from storage.stream import stream_id
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

READ = Flags.READONLY
WRITE = Flags.WRITE
KEY = Keys(1, 1)
READ_KEY = Keys(1, 1, access="RO")

NO_STRATEGY = ErrorReply("ERR", "syntax error, XTRIM must be called with a trimming strategy")
ENTRIES_ADDED_NEGATIVE = ErrorReply("ERR", "entries_added must be positive")
BELOW_GIVEN_MAX_DELETED = ErrorReply(
    "ERR", "The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
)


# ---------------------------------------------------------------------- adding


@command(
    "XADD", arity=-5, flags=WRITE | Flags.DENYOOM | Flags.FAST, group="stream", since="5.0.0",
    keys=KEY, complexity="O(1) when adding a new entry, O(N) when trimming N entries.",
)  # fmt: skip
def xadd(call: Call) -> Reply:
    """Appends a new message to a stream. Creates the key if it doesn't exist.

    XADD key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id>
    field value [field value ...]
    """
    argv = call.argv
    if argv[2] == b"*":
        return stream_steps.add(call, 2)
    args = Args(argv, 2)
    trim = Trim()
    may_create = True
    while args.at < len(argv) and argv[args.at] != b"*":
        if trim.take(args):
            continue
        if not args.skip(b"NOMKSTREAM"):
            break
        may_create = False
    id_at = args.at
    wanted = stream_args.wanted_id(argv, id_at)
    trim.check()
    trim.check_limit(call)
    return stream_steps.add(call, id_at, wanted, trim if trim.strategy else None, may_create)


# ---------------------------------------------------------------------- reading


@command("XLEN", arity=2, flags=READ | Flags.FAST, group="stream", since="5.0.0", keys=READ_KEY)
def xlen(call: Call) -> Reply:
    """Returns the number of messages in a stream.

    XLEN key
    """
    stream = call.db.read(call.argv[1], Stream)
    return 0 if stream is None else stream.length


@command(
    "XRANGE", arity=-4, flags=READ, group="stream", since="5.0.0", keys=READ_KEY,
    complexity="O(N) with N being the number of messages returned.",
)  # fmt: skip
def xrange(call: Call) -> Reply:
    """Returns the messages from a stream within a range of IDs.

    XRANGE key start end [COUNT count]
    """
    return _range(call, call.argv[2], call.argv[3], reverse=False)


@command(
    "XREVRANGE", arity=-4, flags=READ, group="stream", since="5.0.0", keys=READ_KEY,
    complexity="O(N) with N being the number of messages returned.",
)  # fmt: skip
def xrevrange(call: Call) -> Reply:
    """Returns the messages from a stream within a range of IDs in reverse order.

    XREVRANGE key end start [COUNT count]
    """
    return _range(call, call.argv[3], call.argv[2], reverse=True)


def _range(call: Call, first: bytes, last: bytes, reverse: bool) -> Reply:
    start, end = stream_args.range_start(first), stream_args.range_end(last)
    count = _range_count(call.argv)
    stream = call.db.read(call.argv[1], Stream)
    if stream is None:
        return []
    if count == 0:
        return NULL_ARRAY
    out = call.client.out.another()
    stream_reply.write_range(out, stream, start, end, max(count, 0), reverse)
    return out


def _range_count(argv: list[bytes]) -> int:
    """COUNT's value, 0 for a negative one; -1 if there is none."""
    count = -1
    args = Args(argv, 4)
    while args.left:
        if args.left < 2 or not args.take_word(b"COUNT"):
            raise errors.SYNTAX
        count = max(args.take_int(), 0)
    return count


# ---------------------------------------------------------------------- deleting


@command(
    "XDEL", arity=-3, flags=WRITE | Flags.FAST, group="stream", since="5.0.0", keys=KEY,
    complexity="O(1) for each single item to delete in the stream, regardless of the stream size.",
)  # fmt: skip
def xdel(call: Call) -> Reply:
    """Returns the number of messages after removing them from a stream.

    XDEL key id [id ...]
    """
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    if stream is None:
        return 0
    deleted = stream.delete_all(stream_args.entry_ids(call.argv, 2))
    if deleted:
        call.db.changed(key, b"xdel", deleted)
    return deleted


@command(
    "XTRIM", arity=-4, flags=WRITE, group="stream", since="5.0.0", keys=KEY,
    complexity="O(N), with N being the number of evicted entries.",
)  # fmt: skip
def xtrim(call: Call) -> Reply:
    """Deletes messages from the beginning of a stream.

    XTRIM key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]
    """
    trim = _take_trim(call)
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    if stream is None:
        return 0
    deleted = trim.apply(stream, call.server.stream_config)
    if deleted:
        done = None
        if trim.approximate and call.is_logged:
            done = (call.argv[0], key, *trim.as_done(stream))
        call.db.changed(key, b"xtrim", deleted, done)
    return deleted


def _take_trim(call: Call) -> Trim:
    args = Args(call.argv, 2)
    trim = Trim()
    while args.left:
        if not trim.take(args):
            raise errors.SYNTAX
    trim.check()
    if not trim.strategy:
        raise NO_STRATEGY
    trim.check_limit(call)
    return trim


# ---------------------------------------------------------------------- counters


@command(
    "XSETID", arity=-3, flags=WRITE | Flags.DENYOOM | Flags.FAST, group="stream", since="5.0.0",
    keys=KEY,
)  # fmt: skip
def xsetid(call: Call) -> Reply:
    """An internal command for replicating stream values.

    XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]
    """
    key = call.argv[1]
    last_id = stream_id.parse_id(call.argv[2])
    entries_added, max_deleted_id = _setid_options(call.argv, last_id)
    stream = call.db.find(key, Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    stream.set_id(last_id, entries_added, max_deleted_id)
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
