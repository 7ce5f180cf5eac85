"""XCFGSET and XIDMPRECORD: what a stream knows of producers that add each entry once."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.streams import stream_once
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import RW, UPDATE, KeyRange
from storage.stream import stream_id
from storage.stream.producers import MOST_IDS, MOST_SECONDS
from storage.stream.stream import Stream

WRITE = Flags.WRITE | Flags.FAST

BAD_SECONDS = ErrorReply("ERR", f"IDMP-DURATION must be between 1 and {MOST_SECONDS} seconds")
BAD_IDS = ErrorReply("ERR", f"IDMP-MAXSIZE must be between 1 and {MOST_IDS} entries")
SECONDS_TWICE = ErrorReply("ERR", "IDMP-DURATION specified multiple times")
IDS_TWICE = ErrorReply("ERR", "IDMP-MAXSIZE specified multiple times")
NO_LIMITS = ErrorReply("ERR", "At least one parameter must be specified")
EMPTY_PRODUCER = ErrorReply("ERR", "producer ID must be non-empty")
EMPTY_NAME = ErrorReply("ERR", "idempotent ID must be non-empty")
NO_SUCH_ENTRY = ErrorReply("ERR", "No such message in stream")
OTHER_ENTRY = ErrorReply("ERR", "IID already exists for this producer with a different stream ID")
NOT_GIVEN = 0


@command(
    "XCFGSET",
    arity=-2,
    flags=WRITE,
    group="stream",
    since="8.6.0",
    complexity="O(1)",
    keys=KeyRange(RW | UPDATE),
)
def xcfgset(call: Call) -> Reply:
    """Sets how long, and how many, ids of producers are known; if that changes, none is known.

    XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE count]
    """
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    seconds, ids = _limits(call.argv)
    known = stream.producers
    if known is None:
        limits = call.server.node_limits.stream.producers
        present = limits.seconds, limits.ids
    else:
        present = known.seconds, known.ids
    seconds, ids = seconds or present[0], ids or present[1]
    if (seconds, ids) != present:
        stream_once.producers_of(call, stream).set_limits(seconds, ids)
        call.db.group_changed(key, None)
    return OK


def _limits(argv: list[bytes]) -> tuple[int, int]:
    """The seconds and the number of ids; NOT_GIVEN for what is not given. Raises ErrorReply."""
    seconds = ids = NOT_GIVEN
    args = Args(argv, 2)
    while args.left:
        if args.left > 1 and args.skip(b"IDMP-DURATION"):
            if seconds:
                raise SECONDS_TWICE
            seconds = args.take_int()
            if not 1 <= seconds <= MOST_SECONDS:
                raise BAD_SECONDS
        elif args.left > 1 and args.skip(b"IDMP-MAXSIZE"):
            if ids:
                raise IDS_TWICE
            ids = args.take_int()
            if not 1 <= ids <= MOST_IDS:
                raise BAD_IDS
        else:
            raise errors.SYNTAX
    if not seconds and not ids:
        raise NO_LIMITS
    return seconds, ids


@command(
    "XIDMPRECORD",
    arity=5,
    flags=WRITE | Flags.DENYOOM,
    group="stream",
    since="8.6.2",
    complexity="O(1)",
    keys=KeyRange(RW | UPDATE),
)
def xidmprecord(call: Call) -> Reply:
    """Records by which id a producer has added an entry that is there; for the AOF.

    XIDMPRECORD key pid iid stream-id
    """
    key, producer, name, text = call.argv[1:]
    entry_id = stream_id.parse_id(text)
    if not producer:
        raise EMPTY_PRODUCER
    if not name:
        raise EMPTY_NAME
    stream = call.db.find(key, Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    if not stream.contains(entry_id):
        raise NO_SUCH_ENTRY
    known = stream.producers
    earlier = None if known is None else known.find(producer, name, 0)
    if earlier is None:
        stream_once.producers_of(call, stream).record(producer, name, entry_id)
        call.db.group_changed(key, None)
    elif earlier != entry_id:
        raise OTHER_ENTRY
    return OK
