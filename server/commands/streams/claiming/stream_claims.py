"""XCLAIM and XAUTOCLAIM: make pending entries those of another consumer."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.streams import stream_args
from server.commands.streams.adding import stream_expiries
from server.commands.streams.claiming.claim import Claim
from server.commands.streams.groups import group_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import DELETE, RW, UPDATE, KeyRange
from storage.errors import BadStreamId
from storage.stream import stream_id
from storage.stream.stream_id import ZERO, StreamId

WRITE = Flags.WRITE | Flags.FAST

BAD_CLAIM_IDLE = ErrorReply("ERR", "Invalid min-idle-time argument for XCLAIM")
BAD_AUTOCLAIM_IDLE = ErrorReply("ERR", "Invalid min-idle-time argument for XAUTOCLAIM")
BAD_OPTION = {
    word: ErrorReply("ERR", f"Invalid {word.decode()} option argument for XCLAIM")
    for word in (b"IDLE", b"TIME", b"RETRYCOUNT")
}
COUNT_NOT_POSITIVE = ErrorReply("ERR", "COUNT must be > 0")

DEFAULT_COUNT = 100
MAX_COUNT = (2**63 - 1) // 16
MAX_TIME = 2**62  # unix ms


# ---------------------------------------------------------------------- XCLAIM


class ClaimOptions:
    """The options of XCLAIM, which follow the ids."""

    __slots__ = ("delivery_time", "force", "just_id", "last_id", "retry_count")

    def __init__(self) -> None:
        self.force = False
        self.just_id = False
        self.delivery_time: int | None = None  # unix ms
        self.retry_count: int | None = None
        self.last_id = ZERO

    def take(self, args: Args, now_ms: int) -> None:
        """Take all that is left. Raises ErrorReply, BadStreamId."""
        while args.left():
            if args.take_word(b"FORCE"):
                self.force = True
            elif args.take_word(b"JUSTID"):
                self.just_id = True
            elif args.left() == 1 or not self._take_value(args, now_ms):
                text = errors.text_of(args.take())
                raise ErrorReply("ERR", f"Unrecognized XCLAIM option '{text}'")

    def _take_value(self, args: Args, now_ms: int) -> bool:
        word = args.take_word(b"IDLE", b"TIME", b"RETRYCOUNT", b"LASTID")
        if word is None:
            return False
        if word == b"LASTID":
            self.last_id = stream_id.parse_id(args.take())
            return True
        number = args.take_int(BAD_OPTION[word])
        if word == b"RETRYCOUNT":
            self.retry_count = number if number >= 0 else None
        else:
            self.delivery_time = now_ms - number if word == b"IDLE" else number
        return True


@command(
    "XCLAIM",
    arity=-6,
    flags=WRITE,
    group="stream",
    since="5.0.0",
    complexity="O(log N) with N being the number of messages in the PEL of the consumer group.",
    keys=KeyRange(RW | UPDATE),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def xclaim(call: Call) -> Reply:
    """Makes a consumer the owner of pending entries that another has held for too long.

    XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds]
    [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]
    """
    stream, group = group_steps.stream_and_group(call, call.argv[1], call.argv[2])
    min_idle = max(0, to_int(call.argv[4], BAD_CLAIM_IDLE))
    wanted, options_at = _leading_ids(call.argv, 5)
    options = ClaimOptions()
    options.take(Args(call.argv, options_at), call.now_ms)
    if call.db.side:
        if not _may_claim(call):
            return []
        stream_expiries.settle(call, call.argv[1], stream_expiries.MOST_AT_ONCE)
    is_ahead = stream_id.compare(options.last_id, group.last_id) > 0
    if is_ahead:
        group.move_to(options.last_id)
    claim = Claim(call, stream, group, min_idle, options.just_id)
    given, now_ms = options.delivery_time, call.now_ms
    latest = MAX_TIME if call.is_replayed() else now_ms  # XEXTEND gives one that is still to come
    claim.delivery_time = now_ms if given is None or not 0 <= given <= latest else given
    claim.retry_count = options.retry_count
    mark = claim.out.open_array()
    for entry_id in wanted:
        claim.claim_one(entry_id, options.force)
    claim.out.close_array(mark, claim.claimed)
    claim.end()
    if is_ahead and not claim.changes:
        read = b"%d" % group.entries_read
        setid = (b"XGROUP", b"SETID", *call.argv[1:3], group.last_id.encode(), b"ENTRIESREAD", read)
        call.db.group_changed(call.argv[1], None, changes=1, log=setid)
    return claim.out


def _may_claim(call: Call) -> bool:
    """Whether the group is not paused, and its active consumer claims, if it has one (ACTIVE).

    Who stands by takes over when it reads, and has all that is pending then.
    """
    policy = group_steps.policy_of(call, call.argv[1], call.argv[2])
    if policy is None or call.is_replayed():
        return True
    return not policy.paused and (not policy.active or policy.active_consumer == call.argv[3])


def _leading_ids(argv: list[bytes], at: int) -> tuple[list[StreamId], int]:
    """The ids from ``argv[at]`` on, and the index of the first word that is not an id."""
    found = []
    while at < len(argv):
        try:
            found.append(stream_id.parse_id(argv[at]))
        except BadStreamId:
            break
        at += 1
    return found, at


# ---------------------------------------------------------------------- XAUTOCLAIM


@command(
    "XAUTOCLAIM",
    arity=-6,
    flags=WRITE,
    group="stream",
    since="6.2.0",
    complexity="O(1) if COUNT is small.",
    keys=KeyRange(RW | DELETE),
    types={"start": "string"},
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("7.0.0", "Answers deleted ids too, and drops them from the pending list.")],
)
def xautoclaim(call: Call) -> Reply:
    """Searches for entries that have been pending for long, and claims them as XCLAIM does.

    XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]

    As in Redis, ten times COUNT pending entries are looked at, by id. If that does not find COUNT
    of them, those after these that have been due for longest are found by their time of delivery.
    So who always begins at 0-0 gets them, too. The cursor is the next one that is due, or 0-0; if
    more than ten times COUNT, and than 100, are due, it is the ID at which the search by id has
    stopped, as in Redis.
    """
    argv = call.argv
    min_idle = max(0, to_int(argv[4], BAD_AUTOCLAIM_IDLE))
    start = stream_args.range_start(argv[5])
    count, just_id = _autoclaim_options(argv)
    stream, group = group_steps.stream_and_group(call, call.argv[1], call.argv[2])
    if call.db.side:
        if not _may_claim(call):
            return [ZERO.encode(), [], []]
        stream_expiries.settle(call, argv[1], stream_expiries.MOST_AT_ONCE)
    claim = Claim(call, stream, group, min_idle, just_id)
    mark = claim.out.open_array()
    cursor, deleted = claim.claim_from(start, count)
    claim.end()
    claim.out.close_array(mark, claim.claimed)
    out = claim.out.another()
    out.array(3)
    out.bulk(cursor.encode())
    out.append(claim.out)
    out.write([entry_id.encode() for entry_id in deleted])
    return out


def _autoclaim_options(argv: list[bytes]) -> tuple[int, bool]:
    args = Args(argv, 6)
    count, just_id = DEFAULT_COUNT, False
    while args.left():
        if args.take_word(b"JUSTID"):
            just_id = True
        elif args.left() > 1 and args.take_word(b"COUNT"):
            count = args.take_int(COUNT_NOT_POSITIVE)
            if not 0 < count <= MAX_COUNT:
                raise COUNT_NOT_POSITIVE
        else:
            raise errors.SYNTAX
    return count, just_id
