"""The commands on the members of one set, and SMOVE."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.sets import set_steps
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, DELETE, INSERT, RO, RW, KeyRange
from storage.sets.member_set import MemberSet

READ = Flags.READONLY
WRITE = Flags.WRITE


@command(
    "SADD",
    arity=-3,
    flags=WRITE | Flags.DENYOOM | Flags.FAST,
    group="set",
    since="1.0.0",
    complexity="O(1) for each member added.",
    keys=KeyRange(RW | INSERT),
    history=[("2.4.0", "More than one member at a time.")],
)
def sadd(call: Call) -> Reply:
    """Adds members to a set, which is made if there is none; returns how many are new.

    SADD key member [member ...]
    """
    return set_steps.add_members(call, call.argv[1], call.argv, 2)


@command(
    "SREM",
    arity=-3,
    flags=WRITE | Flags.FAST,
    group="set",
    since="1.0.0",
    complexity="O(1) for each member removed.",
    keys=KeyRange(RW | DELETE),
    history=[("2.4.0", "More than one member at a time.")],
)
def srem(call: Call) -> Reply:
    """Removes members from a set; returns how many of them were in it.

    SREM key member [member ...]
    """
    key = call.argv[1]
    values: MemberSet | None = call.db.find(key, MemberSet)
    if values is None:
        return 0
    count = 0
    for member in call.argv[2:]:
        if values.remove(member):
            count += 1
    if count:
        set_steps.removed(call, key, values, b"srem", count)
    return count


@command(
    "SMOVE",
    arity=4,
    flags=WRITE | Flags.FAST,
    group="set",
    since="1.0.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
)
def smove(call: Call) -> Reply:
    """Moves a member from one set to another; returns whether it was in the first.

    SMOVE source destination member
    """
    _, source, target, member = call.argv
    db = call.db
    is_there, _ = source in db, target in db  # looks at both: what has expired is removed
    if not is_there:
        return 0
    values: MemberSet | None = db.find(source, MemberSet)
    other: MemberSet | None = db.find(target, MemberSet)
    assert values is not None
    if values is other:
        return 1 if values.has(member) else 0
    if not values.remove(member):
        return 0
    set_steps.removed(call, source, values, b"srem", 1)
    set_steps.add_members(call, target, [member], 0)
    return 1


@command("SCARD", arity=2, flags=READ | Flags.FAST, group="set", since="1.0.0", keys=KeyRange(RO))
def scard(call: Call) -> Reply:
    """Counts the members of a set.

    SCARD key
    """
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    return 0 if values is None else values.size()


@command(
    "SISMEMBER",
    arity=3,
    flags=READ | Flags.FAST,
    group="set",
    since="1.0.0",
    keys=KeyRange(RO),
)
def sismember(call: Call) -> Reply:
    """Tells whether a member is in a set.

    SISMEMBER key member
    """
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    return 1 if values is not None and values.has(call.argv[2]) else 0


@command(
    "SMISMEMBER",
    arity=-3,
    flags=READ | Flags.FAST,
    group="set",
    since="6.2.0",
    complexity="O(N) where N is the number of members asked for.",
    keys=KeyRange(RO | ACCESS),
)
def smismember(call: Call) -> Reply:
    """Tells of each of several members whether it is in a set.

    SMISMEMBER key member [member ...]
    """
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    out: Encoder = call.client.out.another()
    out.array(len(call.argv) - 2)
    for member in call.argv[2:]:
        out.integer(1 if values is not None and values.has(member) else 0)
    return out


@command(
    "SMEMBERS",
    arity=2,
    flags=READ,
    group="set",
    since="1.0.0",
    complexity="O(N) where N is the number of members.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def smembers(call: Call) -> Reply:
    """Returns all members of a set.

    SMEMBERS key
    """
    values: MemberSet | None = call.db.read(call.argv[1], MemberSet)
    out: Encoder = call.client.out.another()
    if values is None:
        out.set(0)
    else:
        set_steps.write_set(out, values)
    return out
