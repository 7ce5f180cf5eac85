"""SPOP, SRANDMEMBER and SSCAN: some members of a set, at random or page by page."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply
from server.commands.sets import set_steps
from server.commands.shared.scan_args import NOVALUES_OF_HSCAN, ScanOptions, to_cursor
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, INT64_MIN, Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, DELETE, RO, RW, KeyRange
from storage.sets.member_set import MemberSet

LOGGED_AT_ONCE = 1024  # members in an SREM of the AOF, as in Redis 7.2

NO_SUCH_COUNT = ErrorReply(
    "ERR", f"value is out of range, value must between {-INT64_MAX} and {INT64_MAX}"
)


@command(
    "SPOP",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="set",
    since="1.0.0",
    complexity="O(1) without count, otherwise O(N) where N is the count.",
    keys=KeyRange(RW | ACCESS | DELETE),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("3.2.0", "The count argument.")],
)
def spop(call: Call) -> Reply:
    """Takes a random member out of a set, or so many.

    SPOP key [count]
    """
    key = call.argv[1]
    if len(call.argv) > 2:
        return _pop_many(call)
    values: MemberSet | None = call.db.find(key, MemberSet)
    if values is None:
        return None
    member = values.pop(call.db.events.chance)
    set_steps.removed(call, key, values, b"spop", 1, (b"SREM", key, member))
    return member


def _pop_many(call: Call) -> Reply:
    key = call.argv[1]
    if len(call.argv) > 3:
        raise errors.SYNTAX
    count = to_int(call.argv[2], errors.NOT_POSITIVE)
    if count < 0:
        raise errors.NOT_POSITIVE
    values: MemberSet | None = call.db.find(key, MemberSet)
    out: Encoder = call.client.out.another()
    if values is None or count == 0:
        out.set(0)
        return out
    if count >= values.size():
        set_steps.write_set(out, values)
        call.db.changed(key, b"spop", changes=values.size(), log=(b"DEL", key))
        set_steps.delete(call, key, 0)
        return out
    members = [values.pop(call.db.events.chance) for _ in range(count)]
    out.set(count)
    for member in members:
        out.bulk(member)
    for at in range(0, count, LOGGED_AT_ONCE):
        some = members[at : at + LOGGED_AT_ONCE]
        event = None if at else b"spop"  # that is told once
        call.db.changed(key, event, changes=len(some), log=(b"SREM", key, *some))
    return out


@command(
    "SRANDMEMBER",
    arity=-2,
    flags=Flags.READONLY,
    group="set",
    since="1.0.0",
    complexity="O(1) without count, otherwise O(N) where N is the absolute value of the count.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("2.6.0", "The count argument.")],
)
def srandmember(call: Call) -> Reply:
    """Returns a random member of a set, or so many: different ones, or any if count is negative.

    SRANDMEMBER key [count]
    """
    if len(call.argv) > 2:
        return _sample(call)
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    return None if values is None else values.random_member(call.db.events.chance)


def _sample(call: Call) -> Reply:
    if len(call.argv) > 3:
        raise errors.SYNTAX
    count = to_int(call.argv[2])
    if count == INT64_MIN:
        raise NO_SUCH_COUNT
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    out: Encoder = call.client.out.another()
    if values is None or count == 0:
        out.array(0)
    elif count >= values.size():
        out.array(values.size())
        set_steps.write_members(out, values)
    elif count > 0:
        out.array(count)
        for member in values.sample(call.db.events.chance, count):
            out.bulk(member)
    else:
        out.array(-count)
        for member in values.draws(call.db.events.chance, -count):
            out.bulk(member)
            if out.overflown:
                break
    return out


@command(
    "SSCAN",
    arity=-3,
    flags=Flags.READONLY,
    group="set",
    since="2.8.0",
    complexity="O(1) a page, O(N) for all pages, where N is the number of members.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def sscan(call: Call) -> Reply:
    """Lists the members of a set, one page for each call; a small set is one page.

    SSCAN key cursor [MATCH pattern] [COUNT count]
    """
    cursor = to_cursor(call.argv[2])
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    if values is None:
        return [b"0", []]
    options = ScanOptions(Args(call.argv, 3), b"NOVALUES")
    if options.no_values:
        raise NOVALUES_OF_HSCAN
    following, page = values.scan(cursor, min(options.count, values.size()))
    return [b"%d" % following, [member for member in page if options.matches(member)]]
