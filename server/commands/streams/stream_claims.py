"""XCLAIM and XAUTOCLAIM: make pending entries those of another consumer."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.streams import (
    dead_letters,
    group_orders,
    group_steps,
    stream_args,
    stream_expiries,
    stream_reply,
)
from server.commands.streams.dead_letters import DELIVERIES
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import DELETE, RW, UPDATE, KeyRange
from storage.errors import BadStreamId
from storage.side_data.group_policy import GroupPolicy
from storage.stream import pending as pendings
from storage.stream import stream_id
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.pending import NOBODY, Pending
from storage.stream.stream import Stream
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
ATTEMPTS = 10  # pending entries XAUTOCLAIM examines for each it may return
LEAST_DUE = 100  # so many may be due, at least, for those that it finds by time


class Claim:
    """One call of XCLAIM or XAUTOCLAIM: consumer, conditions, and the reply so far."""

    __slots__ = (
        "call",
        "changes",
        "claimed",
        "consumer",
        "dead",
        "delivery_time",
        "forced",
        "group",
        "is_new",
        "just_id",
        "min_idle",
        "out",
        "policy",
        "retry_count",
        "stream",
    )

    def __init__(
        self, call: Call, stream: Stream, group: ConsumerGroup, min_idle: int, just_id: bool
    ) -> None:
        self.call = call
        self.stream = stream
        self.group = group
        self.is_new = group.find_consumer(call.argv[3]) is None
        self.consumer = _consumer(call, group)
        self.min_idle = min_idle
        self.just_id = just_id
        self.delivery_time = call.now_ms
        self.retry_count: int | None = None
        self.out = call.client.out.another()
        self.claimed = 0
        self.changes = 0  # claimed, or dropped because the entry has gone
        self.policy: GroupPolicy | None = None
        if call.db.side:
            key, name = call.argv[1], call.argv[2]
            self.policy = dead_letters.policy_of(call, key, name)
            group_orders.order_of(call, key, name, self.policy, stream, group)
        self.dead: list[Pending] = []  # what was delivered too often to be claimed
        self.forced: list[Pending] = []  # what was not pending before

    def is_idle(self, pending: Pending) -> bool:
        """Whether it was last delivered as long ago as the claim demands, and it is its turn."""
        if self.min_idle and not self.group.is_idle(pending, self.min_idle, self.call.now_ms):
            return False
        if self.group.order is None or self.call.is_replayed():
            return True
        return group_orders.may_claim(self.group, pending, self.consumer.index)

    def take(self, pending: Pending) -> None:
        """Give *pending*, whose entry exists, to the consumer, and write it to the reply.

        That is a delivery, unless only the id is asked for; what is dead by the group's policy has
        had its last one.
        """
        if self._is_dead(pending):
            self.dead.append(pending)
            return
        self.group.claim(pending, self.consumer, self.delivery_time, self.call.now_ms)
        if self.retry_count is not None:
            pendings.set_count(pending, self.retry_count)
        elif not self.just_id:
            self.group.count_delivery(pending)
        entry_id = pendings.id_of(pending)
        if self.just_id:
            self.out.bulk(entry_id.encode())
        else:
            stream_reply.write_entry(self.out, self.stream, entry_id)
        self.claimed += 1
        self.consumer.active_time = self.call.now_ms
        self.changed(pending, entry_id)
        if self.group.order is not None:
            group_orders.claimed(
                self.call, self.call.argv[1], self.call.argv[2], self.group, pending
            )

    def _is_dead(self, pending: Pending) -> bool:
        if self.policy is None or self.just_id or self.retry_count is not None:
            return False
        return self.policy.is_dead(pendings.count_of(pending))

    def drop(self, pending: Pending, entry_id: StreamId) -> None:
        """Forget *pending*, whose entry has been deleted."""
        self.changed(pending, entry_id)
        self.group.ack(entry_id)

    def end(self) -> None:
        """All has been claimed. A consumer that was made and given nothing must be logged too."""
        if self.dead:
            dead_letters.bury(
                self.call, self.call.argv[1], self.call.argv[2], self.dead, DELIVERIES
            )
            self._forget_forced()
        if self.claimed:
            self.call.server.blocking.delivered(self.call.db.index, self.call.argv[1])
        if self.is_new and not self.claimed:
            argv = self.call.argv
            made = (b"XGROUP", b"CREATECONSUMER", argv[1], argv[2], argv[3])
            self.call.db.group_changed(argv[1], None, changes=0, log=made)

    def _forget_forced(self) -> None:
        """What was made pending, is dead and could not move is not pending, as before.

        It has no owner, and was not released either: no file can say so.
        """
        for pending in self.forced:
            if pending.consumer_index == NOBODY:
                self.group.ack(pendings.id_of(pending))

    def changed(self, pending: Pending, entry_id: StreamId) -> None:
        """Say that *pending* was claimed, or dropped; a replica drops it for the same reason."""
        self.changes += 1
        argv, call = self.call.argv, self.call
        if not call.is_logged:
            call.db.group_changed(argv[1], None)
            return
        owner = self.group.owner(pending)
        if owner is None:  # it was released, and its entry has been deleted
            ack = (b"XACK", argv[1], argv[2], entry_id.encode())
            call.db.group_changed(argv[1], None, changes=1, log=ack)
            return
        claim = group_steps.claim_words(argv[1], argv[2], owner.name, pending, self.group)
        call.db.group_changed(argv[1], None, changes=1, log=claim)


def _consumer(call: Call, group: ConsumerGroup) -> Consumer:
    """The consumer that claims, made if needed."""
    name = call.argv[3]
    consumer = group.find_consumer(name)
    if consumer is None:
        consumer = group.create_consumer(name, call.now_ms)
        call.db.group_changed(call.argv[1], b"xgroup-createconsumer")
    consumer.seen_time = call.now_ms
    return consumer


def _stream_and_group(call: Call) -> tuple[Stream, ConsumerGroup]:
    key, name = call.argv[1], call.argv[2]
    stream = call.db.read(key, Stream)
    group = None if stream is None else stream.find_group(name)
    if stream is None or group is None:
        raise errors.no_such_key_or_group(key, name)
    return stream, group


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
        while args.left:
            if args.take_word(b"FORCE"):
                self.force = True
            elif args.take_word(b"JUSTID"):
                self.just_id = True
            elif args.left == 1 or not self._take_value(args, now_ms):
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
    stream, group = _stream_and_group(call)
    min_idle = max(0, to_int(call.argv[4], BAD_CLAIM_IDLE))
    wanted, options_at = _leading_ids(call.argv, 5)
    options = ClaimOptions()
    options.take(Args(call.argv, options_at), call.now_ms)
    if call.db.side:
        stream_expiries.settle(call, call.argv[1], stream_expiries.MOST_AT_ONCE)
    is_ahead = options.last_id > group.last_id
    if is_ahead:
        group.move_to(options.last_id)
    claim = Claim(call, stream, group, min_idle, options.just_id)
    given, now_ms = options.delivery_time, call.now_ms
    latest = MAX_TIME if call.is_replayed() else now_ms  # XEXTEND gives one that is still to come
    claim.delivery_time = now_ms if given is None or not 0 <= given <= latest else given
    claim.retry_count = options.retry_count
    mark = claim.out.open_array()
    for entry_id in wanted:
        _claim_one(claim, entry_id, options.force)
    claim.out.close_array(mark, claim.claimed)
    claim.end()
    if is_ahead and not claim.changes:
        read = b"%d" % group.entries_read
        setid = (b"XGROUP", b"SETID", *call.argv[1:3], group.last_id.encode(), b"ENTRIESREAD", read)
        call.db.group_changed(call.argv[1], None, changes=1, log=setid)
    return claim.out


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


def _claim_one(claim: Claim, entry_id: StreamId, force: bool) -> None:
    pending = claim.group.find(entry_id)
    if not claim.stream.contains(entry_id):
        if pending is not None:
            claim.drop(pending, entry_id)
    elif pending is not None:
        if claim.is_idle(pending):
            claim.take(pending)
    elif force:
        forced = claim.group.force(entry_id, claim.call.now_ms)
        claim.forced.append(forced)
        claim.take(forced)


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
    of them, those behind that have been due for longest are found by their time of delivery. So
    who always begins at 0-0 gets them, too. The cursor is the next one that is due, or 0-0; if
    more than ten times COUNT, and than 100, are due, it is the ID at which the search by id has
    stopped, as in Redis.
    """
    argv = call.argv
    min_idle = max(0, to_int(argv[4], BAD_AUTOCLAIM_IDLE))
    start = stream_args.range_start(argv[5])
    count, just_id = _autoclaim_options(argv)
    stream, group = _stream_and_group(call)
    if call.db.side:
        stream_expiries.settle(call, argv[1], stream_expiries.MOST_AT_ONCE)
    claim = Claim(call, stream, group, min_idle, just_id)
    mark = claim.out.open_array()
    cursor, deleted = _claim_from(claim, start, count)
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
    while args.left:
        if args.take_word(b"JUSTID"):
            just_id = True
        elif args.left > 1 and args.take_word(b"COUNT"):
            count = args.take_int(COUNT_NOT_POSITIVE)
            if not 0 < count <= MAX_COUNT:
                raise COUNT_NOT_POSITIVE
        else:
            raise errors.SYNTAX
    return count, just_id


def _claim_from(claim: Claim, start: StreamId, count: int) -> tuple[StreamId, list[StreamId]]:
    """Claim what is idle from *start* on; the id to continue from, and the ids of deleted entries.

    Both claimed and deleted ones use up *count*. The walk is by id; if it ends before it has found
    them, those that are due behind are found by time. If these are all that are due, the next of
    them is where to continue, else the entry at which the walk has stopped.
    """
    deleted: list[StreamId] = []
    attempts = most_due = count * ATTEMPTS
    place = claim.group.pel.seek(">=", start.key())
    while attempts and count and place.next():
        attempts -= 1
        count -= _claim_idle(claim, place.value, deleted)
    if not place.next():
        return ZERO, deleted
    cursor = stream_id.from_key(place.key)
    if not count:
        return cursor, deleted
    most_due = max(most_due, LEAST_DUE)
    due = claim.group.due(claim.min_idle, claim.call.now_ms, most_due)
    for pending in due:
        entry_id = pendings.id_of(pending)
        if entry_id < cursor:
            continue
        if not count:
            return cursor if len(due) == most_due else entry_id, deleted
        count -= _claim_idle(claim, pending, deleted)
    return cursor if len(due) == most_due else ZERO, deleted


def _claim_idle(claim: Claim, pending: Pending, deleted: list[StreamId]) -> bool:
    """Claim *pending* if it is idle, drop it if its entry has been deleted; False if neither."""
    entry_id = pendings.id_of(pending)
    if not claim.stream.contains(entry_id):
        claim.drop(pending, entry_id)
        deleted.append(entry_id)
        return True
    if not claim.is_idle(pending):
        return False
    claim.take(pending)
    return True
