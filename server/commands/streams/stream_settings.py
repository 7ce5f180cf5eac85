"""XCFGSET, XCFGGET, XIDMPRECORD: what is set of a stream, and known of its producers."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.streams import stream_retention
from server.commands.streams.adding import stream_once
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import OwnWords
from server.table.keys import ACCESS, RO, RW, UPDATE, KeyRange
from storage.side_data.stream_policy import StreamPolicy
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
    own=[
        OwnWords("RETAIN-AGE RETAIN-LENGTH RETAIN-BYTES RETAIN-ACKED", "the oldest entries go"),
        OwnWords("COMPACT MIN-AGE", "entries go that newer ones of the same value replace"),
        OwnWords("DEFAULTS", "what the configuration says holds again"),
    ],
)
def xcfgset(call: Call) -> Reply:
    """Sets which entries a stream gives up by itself, and how long ids of producers are known.

    XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE count] [RETAIN-AGE age] [RETAIN-LENGTH count]
    [RETAIN-BYTES bytes] [RETAIN-ACKED <yes | no>] [COMPACT field [MIN-AGE age]] [DEFAULTS]

    What is not named stays as it is. The oldest entries go while they are older than RETAIN-AGE (in
    ms, or with a unit: 7d), or more than RETAIN-LENGTH, or while the nodes have more than
    RETAIN-BYTES; RETAIN-ACKED has those go that every group has acknowledged, and COMPACT those
    that a newer entry with the same value of the field replaces, once that one is as old as
    MIN-AGE. 0, no and an empty field end that.
    DEFAULTS forgets all of it: what the configuration says for the name of the stream holds again.
    If what is set of producers changes, no id of theirs is known.
    """
    key = call.argv[1]
    stream = call.db.find(key, Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    policy = StreamPolicy()
    seconds, ids, forgets = _settings(call.argv, policy)
    if policy or forgets:
        stream_retention.put(call, key, policy, forgets)
    if not seconds and not ids:
        return OK
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


def _settings(argv: list[bytes], policy: StreamPolicy) -> tuple[int, int, bool]:
    """The seconds, the number of ids (NOT_GIVEN: not given), and whether there is DEFAULTS.

    *policy*, an empty one, is given what the words say. Raises ErrorReply.
    """
    seconds = ids = NOT_GIVEN
    forgets = False
    args = Args(argv, 2)
    while args.left():
        if args.left() > 1 and args.skip(b"IDMP-DURATION"):
            if seconds:
                raise SECONDS_TWICE
            seconds = args.take_int()
            if not 1 <= seconds <= MOST_SECONDS:
                raise BAD_SECONDS
        elif args.left() > 1 and args.skip(b"IDMP-MAXSIZE"):
            if ids:
                raise IDS_TWICE
            ids = args.take_int()
            if not 1 <= ids <= MOST_IDS:
                raise BAD_IDS
        elif args.skip(b"DEFAULTS"):
            forgets = True
        else:
            stream_retention.take(args, policy)
    if not seconds and not ids and not forgets and not policy:
        raise NO_LIMITS
    return seconds, ids, forgets


@command(
    "XCFGGET",
    arity=2,
    flags=Flags.READONLY | Flags.FAST,
    group="stream",
    since="0.1.0",
    complexity="O(N) with N being the number of patterns of stream-policy.",
    keys=KeyRange(RO | ACCESS),
)
def xcfgget(call: Call) -> Reply:
    """Shows what holds for a stream: by XCFGSET, or by the configuration for its name.

    XCFGGET key
    """
    stream = call.db.read(call.argv[1], Stream)
    if stream is None:
        raise errors.NO_SUCH_KEY
    limits = call.server.node_limits.stream.producers
    known = stream.producers
    shown: dict[bytes, Reply] = {
        b"idmp-duration": limits.seconds if known is None else known.seconds,
        b"idmp-maxsize": limits.ids if known is None else known.ids,
    }
    shown.update(stream_retention.shown(call, call.argv[1]))
    return shown


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
