"""XNACK: consumers give pending entries back to their group."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.streams import dead_letters, group_steps, stream_args
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import RW, UPDATE, KeyRange
from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.pending import Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

BAD_MODE = ErrorReply("ERR", "mode must be SILENT, FAIL, or FATAL")
NO_IDS = ErrorReply("ERR", "syntax error, expected IDS keyword")
IDS_NOT_POSITIVE = ErrorReply("ERR", "numids must be a positive integer")
IDS_TOO_FEW = ErrorReply("ERR", "number of IDs doesn't match numids")
BAD_COUNT = ErrorReply("ERR", "Invalid RETRYCOUNT value, must be >= 0")

SILENT, FAIL, FATAL = b"SILENT", b"FAIL", b"FATAL"


class Release:
    """One call of XNACK: which entries, and what becomes of their delivery counts."""

    __slots__ = ("count", "force", "ids", "mode")

    def __init__(self, argv: list[bytes]) -> None:
        """Read ``argv[3:]``. Raises ErrorReply, BadStreamId."""
        args = Args(argv, 3)
        mode = args.take_word(SILENT, FAIL, FATAL)
        if mode is None:
            raise BAD_MODE
        self.mode = mode
        if not args.skip(b"IDS"):
            raise NO_IDS
        number = args.take_positive(IDS_NOT_POSITIVE)
        if number > args.left:
            raise IDS_TOO_FEW
        self.ids = stream_args.entry_ids(argv[: args.at + number], args.at)
        args.at += number
        self.count: int | None = None  # RETRYCOUNT
        self.force = False
        while args.left:
            if args.left > 1 and args.take_word(b"RETRYCOUNT"):
                self.count = args.take_int(BAD_COUNT)
                if self.count < 0:
                    raise BAD_COUNT
            elif args.take_word(b"FORCE"):
                self.force = True
            else:
                text = errors.text_of(args.take())
                raise ErrorReply("ERR", f"Unrecognized XNACK option '{text}'")

    def of(self, stream: Stream, group: ConsumerGroup, entry_id: StreamId) -> Pending | None:
        """Release one entry. None if it is not pending, and not made so."""
        pending = group.find(entry_id)
        if pending is not None:
            group.release(pending)
            if self.mode == SILENT and self.count is None:
                pendings.count_down(pending)
        elif self.force and stream.contains(entry_id):
            pending = group.force_released(entry_id)
        else:
            return None
        if self.count is not None:
            pendings.set_count(pending, self.count)
        elif self.mode == FATAL:
            pendings.set_count(pending, pendings.MANY)
        return pending


@command(
    "XNACK",
    arity=-7,
    flags=Flags.WRITE | Flags.FAST,
    group="stream",
    since="8.8.0",
    complexity="O(1) for each id.",
    keys=KeyRange(RW | UPDATE),
)
def xnack(call: Call) -> Reply:
    """Gives pending entries back to their group: they are the next that it gives to who claims.

    XNACK key group <SILENT | FAIL | FATAL> IDS numids id [id ...] [RETRYCOUNT count] [FORCE]
    """
    key, name = call.argv[1], call.argv[2]
    stream = call.db.read(key, Stream)
    group = None if stream is None else stream.find_group(name)
    if stream is None or group is None:
        raise errors.no_such_key_or_group(key, name)
    release = Release(call.argv)
    policy = dead_letters.policy_of(call, key, name) if call.db.side else None
    if policy is not None and policy.dead_letter and release.mode == FATAL:
        found = (group.find(entry_id) for entry_id in dict.fromkeys(release.ids))
        dead = [pending for pending in found if pending is not None]
        return dead_letters.bury(call, key, name, dead, dead_letters.FATAL)
    released: list[Pending] = []
    for entry_id in release.ids:
        pending = release.of(stream, group, entry_id)
        if pending is not None:
            released.append(pending)
    if released:
        if call.is_logged:
            group_steps.log_released(call, key, name, released)
        call.db.group_changed(key, None, changes=len(released))
        call.server.blocking.delivered(call.db.index, key)
    return len(released)
