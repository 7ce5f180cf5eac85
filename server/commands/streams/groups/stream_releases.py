"""XNACK: consumers give pending entries back to their group."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.streams import stream_args
from server.commands.streams.groups import dead_letters, group_orders, group_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import OwnWords
from server.table.keys import RW, UPDATE, KeyRange
from storage.side_data.group_policy import GroupPolicy
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
LATEST = 2**53  # unix ms until which an entry may be held, so that no sum with it overflows
BAD_TIME = ErrorReply("ERR", f"DELAY and AT take milliseconds up to {LATEST}")
ONE_TIME = ErrorReply("ERR", "DELAY and AT are one time: one of them may be given, once")
MOST_REASON = 1024  # bytes, which a dead letter keeps
LONG_REASON = ErrorReply("ERR", f"REASON takes a text of at most {MOST_REASON} bytes")

SILENT, FAIL, FATAL = b"SILENT", b"FAIL", b"FATAL"


class Release:
    """One call of XNACK: which entries, what becomes of their delivery counts, and until when."""

    __slots__ = ("count", "force", "ids", "mode", "now_ms", "policy", "reason", "until_ms")

    def __init__(self, argv: list[bytes], now_ms: int, policy: GroupPolicy | None) -> None:
        """Read ``argv[3:]``. Raises ErrorReply, BadStreamId.

        *policy* is the group's, if its BACKOFF is to be asked.
        """
        self.now_ms = now_ms
        self.policy = policy
        args = Args(argv, 3)
        mode = args.take_word(SILENT, FAIL, FATAL)
        if mode is None:
            raise BAD_MODE
        self.mode = mode
        if not args.skip(b"IDS"):
            raise NO_IDS
        number = args.take_positive(IDS_NOT_POSITIVE)
        if number > args.left():
            raise IDS_TOO_FEW
        self.ids = stream_args.entry_ids(argv[: args.at + number], args.at)
        args.at += number
        self.count: int | None = None  # RETRYCOUNT
        self.force = False
        self.until_ms = -1  # DELAY, AT: unix ms; -1: as BACKOFF says
        self.reason = b""
        while args.left():
            if args.left() > 1 and args.take_word(b"RETRYCOUNT"):
                self.count = args.take_int(BAD_COUNT)
                if self.count < 0:
                    raise BAD_COUNT
            elif args.take_word(b"FORCE"):
                self.force = True
            elif args.left() > 1 and args.skip(b"DELAY"):
                self._hold(args, now_ms)
            elif args.left() > 1 and args.skip(b"AT"):
                self._hold(args, 0)
            elif args.left() > 1 and args.skip(b"REASON"):
                self.reason = args.take()
                if len(self.reason) > MOST_REASON:
                    raise LONG_REASON
            else:
                text = errors.text_of(args.take())
                raise ErrorReply("ERR", f"Unrecognized XNACK option '{text}'")

    def _hold(self, args: Args, from_ms: int) -> None:
        if self.until_ms >= 0:
            raise ONE_TIME
        ms = args.take_int(BAD_TIME)
        if not 0 <= ms <= LATEST - from_ms:
            raise BAD_TIME
        self.until_ms = from_ms + ms

    def may_end(self) -> bool:
        """Whether what has had its last delivery becomes a dead letter at once."""
        return self.mode == FATAL or bool(self.reason) or (self.mode == FAIL and self.count is None)

    def _held_until(self, pending: Pending) -> int:
        """Until when *pending*, which was released, is held; 0 for not at all."""
        if self.until_ms >= 0:
            return self.until_ms
        if self.policy is None or self.mode != FAIL:
            return 0
        wait_ms = self.policy.wait_ms(pendings.count_of(pending))
        return self.now_ms + wait_ms if wait_ms else 0

    def of(
        self, call: Call, stream: Stream, group: ConsumerGroup, entry_id: StreamId
    ) -> Pending | None:
        """Release one entry. None if it is not pending, and not made so."""
        pending = group.find(entry_id)
        if pending is not None:
            group.release(pending)
            if self.mode == SILENT and self.count is None:
                group.uncount(pending)
        elif self.force and stream.contains(entry_id):
            lane = group_orders.lane_at(call, stream, group, entry_id)
            pending = group.force_released(entry_id, lane)
        else:
            return None
        if self.count is not None:
            group.uncount(pending, self.count)
        elif self.mode == FATAL:
            pendings.set_count(pending, pendings.MANY)
        until_ms = self._held_until(pending)
        # What is replayed is held, as it was where it was done: its time may be over meanwhile.
        if until_ms > self.now_ms or (until_ms > 0 and call.is_replayed()):
            group.hold(pending, until_ms)
        return pending


@command(
    "XNACK",
    arity=-7,
    flags=Flags.WRITE | Flags.FAST,
    group="stream",
    since="8.8.0",
    complexity="O(1) for each id; with ORDERBY O(N) for each value, N entries of it being given.",
    keys=KeyRange(RW | UPDATE),
    own=[
        OwnWords("DELAY AT", "nobody is given the entries before that"),
        OwnWords("REASON", "what a dead letter says of how it failed"),
    ],
)
def xnack(call: Call) -> Reply:
    """Gives pending entries back to their group: they are the next that it gives to who claims.

    XNACK key group <SILENT | FAIL | FATAL> IDS numids id [id ...] [RETRYCOUNT count] [FORCE]
    [DELAY milliseconds | AT unix-time-ms] [REASON text]

    With DELAY or AT nobody may claim them before. A group with BACKOFF sets that time for FAIL by
    itself. An entry that failed and has been delivered as often as MAXDELIVERIES allows becomes a
    dead letter at once, and keeps the text of REASON.
    """
    key, name = call.argv[1], call.argv[2]
    stream, group = group_steps.stream_and_group(call, key, name)
    policy = None
    if call.db.side and not call.is_replayed():
        policy = group_steps.policy_of(call, key, name)
        group_orders.order_of(call, key, name, policy, stream, group)
    release = Release(call.argv, call.now_ms, policy)
    buried, ids = 0, release.ids
    if policy is not None and policy.dead_letter and release.may_end():
        dead = _dead(group, release, policy)
        by_mode = dead_letters.FATAL if release.mode == FATAL else dead_letters.DELIVERIES
        reason = release.reason or by_mode
        buried = dead_letters.bury(call, key, name, dead, reason)
        ids = [entry_id for entry_id in ids if group.find(entry_id) is not None]
        if release.mode == FATAL:
            return buried
    released: list[Pending] = []
    for entry_id in ids:
        pending = release.of(call, stream, group, entry_id)
        if pending is not None:
            released.append(pending)
    if released:
        if call.is_logged:
            group_steps.log_released(call, key, name, released)
        call.db.group_changed(key, None, changes=len(released))
        group_orders.gone_back(call, key, name, group, released)
        call.server.blocking.delivered(call.db.index, key)
    return buried + len(released)


def _dead(group: ConsumerGroup, release: Release, policy: GroupPolicy) -> list[Pending]:
    """Of the entries to be released, those that become dead letters at once."""
    found = [group.find(entry_id) for entry_id in dict.fromkeys(release.ids)]
    return [
        pending
        for pending in found
        if pending is not None
        and (release.mode == FATAL or policy.is_dead(pendings.count_of(pending)))
    ]
