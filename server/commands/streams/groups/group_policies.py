"""XGROUP CFGSET, CFGGET, PAUSE and RESUME, XEXTEND: what a group does by itself.

The policy is side data of the group: storage/side_data/group_policy.py has its words. Who carries
it out: group_serving.py (visibility, limits, pauses), and dead_letters.py.
"""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.shared import side_rights
from server.commands.streams import stream_args
from server.commands.streams.groups import (
    dead_letters,
    group_orders,
    group_steps,
    stream_groups,  # noqa: F401  (which declares XGROUP)
)
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, INSERT, RO, RW, UPDATE, KeyAfter, KeyRange
from storage.rax.rax import Rax
from storage.side_data.group_policy import (
    ACTIVE,
    ACTIVECONSUMER,
    BACKOFF,
    DEADLETTER,
    FENCE,
    FIRST,
    FLAGS,
    GROUP_POLICY,
    LONGEST_FIELD,
    MOST,
    MOST_WAITS,
    NUMBERS,
    ORDERBY,
    RELEASED,
    GroupPolicy,
)
from storage.side_data.side_data import SideData
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.redeliveries import Redeliveries
from storage.stream.stream import Stream

NO_DEADLETTER = ErrorReply(
    "ERR", "MAXDELIVERIES needs DEADLETTER: entries that are dead must go somewhere"
)
IN_A_CIRCLE = ErrorReply("ERR", "DEADLETTER would lead dead entries back to this stream")
NO_SUCH_STREAM = ErrorReply("ERR", "the DEADLETTER stream does not exist: MKSTREAM makes it")
NO_VISIBILITY = ErrorReply("ERR", "the group has no VISIBILITY: nobody takes what a consumer has")
MOST_MS = 2**40  # that an entry may be extended by: more than thirty years
BAD_TIME = ErrorReply("ERR", f"milliseconds must be between 1 and {MOST_MS}")


TURN = {ACTIVECONSUMER, FENCE, FIRST}  # words of the log, not of clients
KNOWN = {*NUMBERS, *FLAGS, BACKOFF, DEADLETTER, ORDERBY} - TURN


def _bad_value(word: bytes) -> ErrorReply:
    if word == BACKOFF:
        what = f"1 to {MOST_WAITS} numbers from 0 to {MOST}"
        return ErrorReply("ERR", f"{word.decode()} takes {what}")
    if word == ACTIVE:
        return ErrorReply("ERR", "ACTIVE takes 0 (all consumers) or 1")
    if word == ORDERBY:
        return ErrorReply("ERR", f"ORDERBY takes a name of {LONGEST_FIELD} bytes at most")
    what = f"a number from 0 to {MOST}" if word in NUMBERS else "yes or no"
    return ErrorReply("ERR", f"{word.decode()} takes {what}")


@command(
    "XGROUP CFGSET",
    arity=-6,
    flags=Flags.WRITE,
    group="stream",
    since="0.1.0",
    keys=(KeyRange(RW | UPDATE, first=2), KeyAfter(RW | INSERT, DEADLETTER, 4)),
    types={"stream": "key"},
)
def xgroup_cfgset(call: Call) -> Reply:
    """Sets what a group does by itself.

    XGROUP CFGSET key group [VISIBILITY ms] [BACKOFF ms [ms ...]] [MAXDELIVERIES n]
    [DEADLETTER stream [MKSTREAM]] [MAXPENDING n] [MAXPENDINGPERCONSUMER n] [ACTIVE <0 | 1>]
    [TIMEOUT ms] [CONSUMERTIMEOUT ms] [ORDERBY field] [MAXPENDINGPERVALUE n]
    [RELEASED <yes | no>] [PAUSED <yes | no>]

    What is not named stays as it is. 0, an empty name and no end what was set. When ORDERBY ends,
    what waits for its turn is released, and RELEASED is yes, so that somebody is given it.
    """
    key, name = call.argv[2], call.argv[3]
    group = _group_of(call)
    present = group_steps.policy_of(call, key, name)
    policy = GroupPolicy() if present is None else present.copy()
    makes = _take(policy, Args(call.argv, 4), call.is_replayed(), group.pel)
    if not policy.active:
        policy.active_consumer = b""
    if not call.is_replayed():
        named = b"" if present is None else present.dead_letter
        _check(call, key, policy, makes, makes or policy.dead_letter != named)
    log = None
    ends_order = present is not None and present.order_by and not policy.order_by
    if ends_order and not call.is_replayed():
        policy.released = True
        log = [*call.argv, RELEASED, b"yes"]  # and then what is released
    if makes and policy.dead_letter and call.db.find(policy.dead_letter, Stream) is None:
        call.db.add(policy.dead_letter, Stream())
    _put(call, key, name, group, policy)
    call.db.group_changed(key, b"xgroup-cfgset", changes=1, log=log, wakes=True)
    if ends_order:
        group_orders.end(call, key, name, group)
    return OK


def _take(policy: GroupPolicy, args: Args, is_replayed: bool, pel: Rax) -> bool:
    """Set what the words say; return whether MKSTREAM is among them. Raises ErrorReply.

    DEADLETTER may come once: rights are asked for on the first key only. Who is active, and when
    what is in *pel* was delivered first, only the server says.
    """
    known = KNOWN | TURN if is_replayed else KNOWN
    makes = names = False
    while args.left():
        if args.skip(b"MKSTREAM"):
            makes = True
            continue
        word = args.take().upper()
        if not args.left() or word not in known:
            raise errors.SYNTAX
        if word == DEADLETTER and names:
            raise errors.SYNTAX
        names = names or word == DEADLETTER
        values = [args.take()]
        while word == BACKOFF and args.left() and args.argv[args.at].isdigit():
            values.append(args.take())
        value = b" ".join(values)
        if word == FIRST:
            policy.redelivered.add(value.split(), pel)
        elif not policy.set(word, value):
            raise _bad_value(word)
    return makes


def _check(call: Call, key: bytes, policy: GroupPolicy, makes: bool, is_set: bool) -> None:
    """Raise ErrorReply if dead entries had nowhere to go, or the client may not send them there.

    The table has asked for the right on the word after the last DEADLETTER: that may be a field of
    ORDERBY; and there is none if MKSTREAM makes again what was named before.
    """
    if policy.max_deliveries and not policy.dead_letter:
        raise NO_DEADLETTER
    if not policy.dead_letter:
        return
    if is_set:
        side_rights.check_written(call, [policy.dead_letter])
    if dead_letters.leads_to(call, policy.dead_letter, key):
        raise IN_A_CIRCLE
    if call.db.find(policy.dead_letter, Stream) is None and not makes:
        raise NO_SUCH_STREAM


def _put(call: Call, key: bytes, name: bytes, group: ConsumerGroup, policy: GroupPolicy) -> None:
    side = call.db.side.get(key) or SideData()
    if not policy.max_deliveries:
        policy.redelivered = Redeliveries()
    if policy.words():
        side.set(GROUP_POLICY, policy, name)
    else:
        side.discard(GROUP_POLICY, name)
    call.db.put_side(key, side, of_groups=False)
    group.note_first(policy.redelivered if policy.max_deliveries else None)


def _group_of(call: Call) -> ConsumerGroup:
    key, name = call.argv[2], call.argv[3]
    stream = call.db.find(key, Stream)
    group = None if stream is None else stream.find_group(name)
    if group is None:
        raise errors.no_such_key_or_group(key, name)
    return group


@command(
    "XGROUP CFGGET",
    arity=4,
    flags=Flags.READONLY,
    group="stream",
    since="0.1.0",
    keys=KeyRange(RO | ACCESS, first=2),
)
def xgroup_cfgget(call: Call) -> Reply:
    """Shows what a group does by itself.

    XGROUP CFGGET key group
    """
    _group_of(call)
    policy = group_steps.policy_of(call, call.argv[2], call.argv[3]) or GroupPolicy()
    return {word.lower(): _shown(word, value) for word, value in policy.settings()}


def _shown(word: bytes, value: bytes) -> Reply:
    return int(value) if word in NUMBERS else value


@command(
    "XGROUP PAUSE",
    arity=4,
    flags=Flags.WRITE,
    group="stream",
    since="0.1.0",
    keys=KeyRange(RW | UPDATE, first=2),
)
def xgroup_pause(call: Call) -> Reply:
    """Delivers nothing of a group until XGROUP RESUME; its readers wait, or get nothing.

    XGROUP PAUSE key group
    """
    return _pause(call, True)


@command(
    "XGROUP RESUME",
    arity=4,
    flags=Flags.WRITE,
    group="stream",
    since="0.1.0",
    keys=KeyRange(RW | UPDATE, first=2),
)
def xgroup_resume(call: Call) -> Reply:
    """Ends XGROUP PAUSE.

    XGROUP RESUME key group
    """
    return _pause(call, False)


def _pause(call: Call, paused: bool) -> Reply:
    """Answers 1 if that changes anything, else 0."""
    key, name = call.argv[2], call.argv[3]
    group = _group_of(call)
    present = group_steps.policy_of(call, key, name)
    policy = GroupPolicy() if present is None else present.copy()
    if policy.paused == paused:
        return 0
    policy.paused = paused
    _put(call, key, name, group, policy)
    log = (b"XGROUP", b"CFGSET", key, name, b"PAUSED", b"yes" if paused else b"no")
    call.db.group_changed(key, b"xgroup-cfgset", changes=1, log=log, wakes=True)
    return 1


# ---------------------------------------------------------------------- XEXTEND


@command(
    "XEXTEND",
    arity=-6,
    flags=Flags.WRITE | Flags.FAST,
    group="stream",
    since="0.1.0",
    complexity="O(log N) for each id; O(N) if the time is shorter than VISIBILITY.",
    keys=KeyRange(RW | UPDATE),
)
def xextend(call: Call) -> Reply:
    """Gives a consumer more time for entries, before VISIBILITY makes them anyone's.

    XEXTEND key group consumer milliseconds id [id ...]

    Answers until when the consumer has each entry (unix time in ms), and null for an entry that it
    has no more, or that has been deleted. Without VISIBILITY nobody takes it: the answer is an
    error.
    """
    key, name, owner = call.argv[1], call.argv[2], call.argv[3]
    stream, group = group_steps.stream_and_group(call, key, name)
    more_ms = to_int(call.argv[4], BAD_TIME)
    ids = stream_args.entry_ids(call.argv, 5)
    policy = group_steps.policy_of(call, key, name)
    if policy is None or not policy.visibility_ms:
        raise NO_VISIBILITY
    if not 0 < more_ms <= MOST_MS:
        raise BAD_TIME
    consumer = group.find_consumer(owner)
    until_ms = call.now_ms + more_ms
    answers: list[Reply] = []
    for entry_id in ids:
        # What has been deleted a replica would acknowledge: to XCLAIM it is not there.
        pending = group.find(entry_id) if stream.contains(entry_id) else None
        if pending is None or consumer is None or group.owner(pending) is not consumer:
            answers.append(None)
            continue
        # No XCLAIM takes a time before 1970: with a longer VISIBILITY the consumer has it longer.
        delivered_ms = max(0, until_ms - policy.visibility_ms)
        group.claim(pending, consumer, delivered_ms, call.now_ms)
        log = group_steps.claim_words(key, name, owner, pending, group)
        call.db.group_changed(key, None, changes=1, log=log)
        answers.append(delivered_ms + policy.visibility_ms)
    if consumer is not None:
        consumer.seen_time = call.now_ms
    call.server.blocking.delivered(call.db.index, key)
    return answers
