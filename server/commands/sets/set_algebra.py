"""Intersections, unions and differences of sets, answered or stored."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply
from server.commands.sets import set_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, OW, RO, UPDATE, CountedKeys, KeyRange
from storage.sets import set_operations
from storage.sets.member_set import MemberSet
from storage.strings import hyperloglog

READ = Flags.READONLY
WRITE = Flags.WRITE | Flags.DENYOOM
SOURCES = KeyRange(RO | ACCESS, last=-1)
STORED = (KeyRange(OW | UPDATE), KeyRange(RO | ACCESS, first=2, last=-1))
ORDER = [Tip.NONDETERMINISTIC_OUTPUT_ORDER]
OF_INTERSECTIONS = (
    "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets."
)
OF_ALL = "O(N) where N is the total number of members in all given sets."

NUMKEYS_NOT_POSITIVE = ErrorReply("ERR", "numkeys should be greater than 0")
TOO_MANY_KEYS = ErrorReply("ERR", "Number of keys can't be greater than number of args")
LIMIT_NEGATIVE = ErrorReply("ERR", "LIMIT can't be negative")


# ---------------------------------------------------------------------- intersections


@command(
    "SINTER",
    arity=-2,
    flags=READ,
    group="set",
    since="1.0.0",
    complexity=OF_INTERSECTIONS,
    keys=SOURCES,
    tips=ORDER,
)
def sinter(call: Call) -> Reply:
    """Returns the members that several sets have in common.

    SINTER key [key ...]
    """
    sets = set_steps.read_all(call, call.argv[1:])
    out: Encoder = call.client.out.another()
    set_steps.write_found(out, set_operations.intersection(sets))
    return out


@command(
    "SINTERSTORE",
    arity=-3,
    flags=WRITE,
    group="set",
    since="1.0.0",
    complexity=OF_INTERSECTIONS,
    keys=STORED,
)
def sinterstore(call: Call) -> Reply:
    """Stores the members that several sets have in common; returns how many they are.

    SINTERSTORE destination key [key ...]
    """
    sets = set_steps.read_all(call, call.argv[2:])
    return _store(call, set_operations.intersection(sets), b"sinterstore")


@command(
    "SINTERCARD",
    arity=-3,
    flags=READ | Flags.MOVABLEKEYS,
    group="set",
    since="7.0.0",
    complexity=OF_INTERSECTIONS,
    keys=CountedKeys(RO | ACCESS, count_at=1),
)
def sintercard(call: Call) -> Reply:
    """Counts the members that several sets have in common, up to a limit.

    SINTERCARD numkeys key [key ...] [LIMIT limit]
    """
    args = Args(call.argv)
    keys = _counted_keys(args)
    limit = _limit(args)
    return set_operations.intersection_size(set_steps.read_all(call, keys), limit)


def _counted_keys(args: Args) -> list[bytes]:
    """Take ``numkeys key [key ...]``."""
    number = to_int(args.take(), NUMKEYS_NOT_POSITIVE)
    if number <= 0:
        raise NUMKEYS_NOT_POSITIVE
    if number > args.left():
        raise TOO_MANY_KEYS
    return [args.take() for _ in range(number)]


def _limit(args: Args) -> int:
    """Take ``[LIMIT limit]``, any number of times; 0 means no limit."""
    limit = 0
    while args.left():
        if args.take_word(b"LIMIT") is None or not args.left():
            raise errors.SYNTAX
        limit = to_int(args.take(), LIMIT_NEGATIVE)
        if limit < 0:
            raise LIMIT_NEGATIVE
    return limit


# ---------------------------------------------------------------------- unions


@command(
    "SUNION",
    arity=-2,
    flags=READ,
    group="set",
    since="1.0.0",
    complexity=OF_ALL,
    keys=SOURCES,
    tips=ORDER,
)
def sunion(call: Call) -> Reply:
    """Returns the members of several sets, each once.

    SUNION key [key ...]
    """
    sets = set_steps.read_all(call, call.argv[1:])
    out: Encoder = call.client.out.another()
    set_steps.write_found(out, set_operations.union(sets))
    return out


@command(
    "SUNIONSTORE",
    arity=-3,
    flags=WRITE,
    group="set",
    since="1.0.0",
    complexity=OF_ALL,
    keys=STORED,
)
def sunionstore(call: Call) -> Reply:
    """Stores the members of several sets, each once; returns how many they are.

    SUNIONSTORE destination key [key ...]
    """
    sets = set_steps.read_all(call, call.argv[2:])
    return _store(call, set_operations.union(sets), b"sunionstore")


@command(
    "SUNIONCARD",
    arity=-3,
    flags=READ | Flags.MOVABLEKEYS,
    group="set",
    since="8.10.0",
    complexity=OF_ALL,
    keys=CountedKeys(RO | ACCESS, count_at=1),
)
def sunioncard(call: Call) -> Reply:
    """Counts the members of several sets, each once, up to a limit; or estimates how many they are.

    SUNIONCARD numkeys key [key ...] [APPROX] [LIMIT limit]
    """
    args = Args(call.argv)
    keys = _counted_keys(args)
    approximate = False
    limit = 0
    while args.left():
        if args.skip(b"APPROX"):
            approximate = True
        elif args.left() > 1 and args.skip(b"LIMIT"):
            limit = to_int(args.take(), LIMIT_NEGATIVE)
            if limit < 0:
                raise LIMIT_NEGATIVE
        else:
            raise errors.SYNTAX
    sets = set_steps.read_all(call, keys)
    if not approximate:
        return set_operations.union_size(sets, limit)
    size = _estimated(sets)
    return limit if 0 < limit < size else size


def _estimated(sets: list[MemberSet | None]) -> int:
    """How many members *sets* have, by a HyperLogLog: off by 0.81 %, in 16 KB of memory."""
    registers = hyperloglog.no_registers()
    data = hyperloglog.new()
    hyperloglog.to_dense(data)
    for values in sets:
        if values is not None:
            for member in values:
                hyperloglog.add(data, member, 0)
    hyperloglog.merge_into(registers, data)
    return hyperloglog.estimate(registers)


# ---------------------------------------------------------------------- differences


@command(
    "SDIFF",
    arity=-2,
    flags=READ,
    group="set",
    since="1.0.0",
    complexity=OF_ALL,
    keys=SOURCES,
    tips=ORDER,
)
def sdiff(call: Call) -> Reply:
    """Returns the members of the first set that none of the others has.

    SDIFF key [key ...]
    """
    sets = set_steps.read_all(call, call.argv[1:])
    out: Encoder = call.client.out.another()
    set_steps.write_found(out, set_operations.difference(sets))
    return out


@command(
    "SDIFFSTORE",
    arity=-3,
    flags=WRITE,
    group="set",
    since="1.0.0",
    complexity=OF_ALL,
    keys=STORED,
)
def sdiffstore(call: Call) -> Reply:
    """Stores the members of the first set that none of the others has; returns how many they are.

    SDIFFSTORE destination key [key ...]
    """
    sets = set_steps.read_all(call, call.argv[2:])
    made = set_operations.difference_as_set(sets, call.server.node_limits.sets)
    return set_steps.store(call, call.argv[1], made, b"sdiffstore")


@command(
    "SDIFFCARD",
    arity=-3,
    flags=READ | Flags.MOVABLEKEYS,
    group="set",
    since="8.10.0",
    complexity=OF_ALL,
    keys=CountedKeys(RO | ACCESS, count_at=1),
)
def sdiffcard(call: Call) -> Reply:
    """Counts the members of the first set that none of the others has, up to a limit.

    SDIFFCARD numkeys key [key ...] [LIMIT limit]
    """
    args = Args(call.argv)
    keys = _counted_keys(args)
    limit = _limit(args)
    return set_operations.difference_size(set_steps.read_all(call, keys), limit)


def _store(call: Call, members: list[bytes], event: bytes) -> Reply:
    made = set_operations.as_set(members, call.server.node_limits.sets)
    return set_steps.store(call, call.argv[1], made, event)
