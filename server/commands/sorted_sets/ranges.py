"""The commands that return, store or remove a range of a sorted set: by rank, score or member."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.sorted_sets import range_args, zset_reply, zset_steps
from server.commands.sorted_sets.range_args import RangeArgs
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.documentation import Deprecated
from server.table.keys import ACCESS, DELETE, OW, RO, RW, UPDATE, KeyRange
from storage.sorted_sets.sorted_set import SortedSet

READ = Flags.READONLY
OF_RANGES = "O(log(N)+M) where N is the number of members and M the number of those in the range."


@command(
    "ZRANGE",
    arity=-4,
    flags=READ,
    group="sorted-set",
    since="1.2.0",
    complexity=OF_RANGES,
    keys=KeyRange(RO | ACCESS),
    types={"start": "string", "stop": "string"},
    history=[("6.2.0", "The REV, BYSCORE, BYLEX and LIMIT options.")],
)
def zrange(call: Call) -> Reply:
    """Returns a range of the members of a sorted set, by rank, by score or by member.

    ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]
    """
    return _answer(call, range_args.of_any_kind(call.argv, 2))


@command(
    "ZREVRANGE",
    arity=-4,
    flags=READ,
    group="sorted-set",
    since="1.2.0",
    complexity=OF_RANGES,
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("6.2.0", "`ZRANGE` with the `REV` argument"),
)
def zrevrange(call: Call) -> Reply:
    """Returns a range of the members of a sorted set by rank, from the last one on.

    ZREVRANGE key start stop [WITHSCORES]
    """
    return _answer(call, range_args.of_kind(range_args.BY_RANK, call.argv, True))


@command(
    "ZRANGEBYSCORE",
    arity=-4,
    flags=READ,
    group="sorted-set",
    since="1.0.5",
    complexity=OF_RANGES,
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("6.2.0", "`ZRANGE` with the `BYSCORE` argument"),
    types={"min": "double", "max": "double"},
    history=[("2.0.0", "The WITHSCORES option.")],
)
def zrangebyscore(call: Call) -> Reply:
    """Returns the members of a sorted set that have a score in a range.

    ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]
    """
    return _answer(call, range_args.of_kind(range_args.BY_SCORE, call.argv, False))


@command(
    "ZREVRANGEBYSCORE",
    arity=-4,
    flags=READ,
    group="sorted-set",
    since="2.2.0",
    complexity=OF_RANGES,
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments"),
    types={"min": "double", "max": "double"},
    history=[("2.1.6", "The range may exclude its ends.")],
)
def zrevrangebyscore(call: Call) -> Reply:
    """Returns the members of a sorted set that have a score in a range, the highest first.

    ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count]
    """
    return _answer(call, range_args.of_kind(range_args.BY_SCORE, call.argv, True))


@command(
    "ZRANGEBYLEX",
    arity=-4,
    flags=READ,
    group="sorted-set",
    since="2.8.9",
    complexity=OF_RANGES,
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("6.2.0", "`ZRANGE` with the `BYLEX` argument"),
)
def zrangebylex(call: Call) -> Reply:
    """Returns a range of a sorted set by member; all must have the same score.

    ZRANGEBYLEX key min max [LIMIT offset count]
    """
    return _answer(call, range_args.of_kind(range_args.BY_MEMBER, call.argv, False))


@command(
    "ZREVRANGEBYLEX",
    arity=-4,
    flags=READ,
    group="sorted-set",
    since="2.8.9",
    complexity=OF_RANGES,
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments"),
)
def zrevrangebylex(call: Call) -> Reply:
    """Returns a range of a sorted set by member, the last first; all must have the same score.

    ZREVRANGEBYLEX key max min [LIMIT offset count]
    """
    return _answer(call, range_args.of_kind(range_args.BY_MEMBER, call.argv, True))


def _answer(call: Call, wanted: RangeArgs) -> Reply:
    values: SortedSet | None = call.db.read(call.argv[1], SortedSet)
    out: Encoder = call.client.out.another()
    if values is None:
        out.array(0)
        return out
    wanted.find_places(values)
    count = wanted.end - wanted.first
    rank = wanted.end - 1 if wanted.reverse else wanted.first
    in_pairs = out.resp == 3
    zset_reply.write_range(out, values, rank, count, wanted.reverse, wanted.with_scores, in_pairs)
    return out


@command(
    "ZRANGESTORE",
    arity=-5,
    flags=Flags.WRITE | Flags.DENYOOM,
    group="sorted-set",
    since="6.2.0",
    complexity="O(log(N)+M) where N is the number of members and M the number of those stored.",
    keys=(KeyRange(OW | UPDATE), KeyRange(RO | ACCESS, first=2)),
    types={"dst": "key", "src": "key"},
)
def zrangestore(call: Call) -> Reply:
    """Stores a range of a sorted set as another one; returns how many members it has.

    ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]
    """
    wanted = range_args.of_any_kind(call.argv, 3)
    values: SortedSet | None = call.db.read(call.argv[2], SortedSet)
    limits = call.server.node_limits.sorted_set
    made = SortedSet()
    if values is not None:
        wanted.find_places(values)
        if wanted.end - wanted.first > limits.entries:
            made.as_tree()
        walk = values.walk(wanted.first, False)
        for _ in range(wanted.end - wanted.first):
            walk.next()
            made.put(walk.member(), walk.score, limits)
        made.shrink()
    return zset_steps.store(call, call.argv[1], made, b"zrangestore")


# ---------------------------------------------------------------------- removing


@command(
    "ZREMRANGEBYRANK",
    arity=4,
    flags=Flags.WRITE,
    group="sorted-set",
    since="2.0.0",
    complexity=OF_RANGES,
    keys=KeyRange(RW | DELETE),
)
def zremrangebyrank(call: Call) -> Reply:
    """Removes the members of a sorted set in a range by rank; returns how many they were.

    ZREMRANGEBYRANK key start stop
    """
    return _remove(
        call, range_args.of_kind(range_args.BY_RANK, call.argv, False), b"zremrangebyrank"
    )


@command(
    "ZREMRANGEBYSCORE",
    arity=4,
    flags=Flags.WRITE,
    group="sorted-set",
    since="1.2.0",
    complexity=OF_RANGES,
    keys=KeyRange(RW | DELETE),
    types={"min": "double", "max": "double"},
)
def zremrangebyscore(call: Call) -> Reply:
    """Removes the members of a sorted set with a score in a range; returns how many they were.

    ZREMRANGEBYSCORE key min max
    """
    return _remove(
        call, range_args.of_kind(range_args.BY_SCORE, call.argv, False), b"zremrangebyscore"
    )


@command(
    "ZREMRANGEBYLEX",
    arity=4,
    flags=Flags.WRITE,
    group="sorted-set",
    since="2.8.9",
    complexity=OF_RANGES,
    keys=KeyRange(RW | DELETE),
)
def zremrangebylex(call: Call) -> Reply:
    """Removes the members of a sorted set in a range by member; returns how many they were.

    ZREMRANGEBYLEX key min max
    """
    return _remove(
        call, range_args.of_kind(range_args.BY_MEMBER, call.argv, False), b"zremrangebylex"
    )


def _remove(call: Call, wanted: RangeArgs, event: bytes) -> Reply:
    key: bytes = call.argv[1]
    values: SortedSet | None = call.db.find(key, SortedSet)
    if values is None:
        return 0
    wanted.find_places(values)
    count = wanted.end - wanted.first
    if count:
        values.remove_range(wanted.first, wanted.end)
        zset_steps.removed(call, key, values, event, count)
    return count
