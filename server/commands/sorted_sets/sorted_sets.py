"""The sorted set commands on members by name, and those that only count."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import NULL_ARRAY, Reply
from server.commands.sorted_sets import addition, score_args, zset_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.keys import ACCESS, DELETE, RO, RW, UPDATE, KeyRange
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.sorted_set import SortedSet

READ = Flags.READONLY | Flags.FAST
WRITE = Flags.WRITE | Flags.DENYOOM | Flags.FAST
LOGARITHMIC = "O(log(N)) where N is the number of members."


# ---------------------------------------------------------------------- changing


@command(
    "ZADD",
    arity=-4,
    flags=WRITE,
    group="sorted-set",
    since="1.2.0",
    complexity="O(log(N)) for each member added, where N is the number of members.",
    keys=KeyRange(RW | UPDATE),
    types={"score": "double"},
    history=[
        ("2.4.0", "More than one member at a time."),
        ("3.0.5", "The XX, NX, CH and INCR options."),
        ("6.2.0", "The GT and LT options."),
    ],
)
def zadd(call: Call) -> Reply:
    """Adds members to a sorted set or changes their scores; returns how many are new.

    ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]
    """
    return addition.with_options(call)


@command(
    "ZINCRBY",
    arity=4,
    flags=WRITE,
    group="sorted-set",
    since="1.2.0",
    complexity=LOGARITHMIC,
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def zincrby(call: Call) -> Reply:
    """Adds to the score of a member of a sorted set; returns the new score. A new one has 0 before.

    ZINCRBY key increment member
    """
    return addition.increment(call)


@command(
    "ZREM",
    arity=-3,
    flags=Flags.WRITE | Flags.FAST,
    group="sorted-set",
    since="1.2.0",
    complexity="O(M*log(N)) where N is the number of members and M the number to be removed.",
    keys=KeyRange(RW | DELETE),
    history=[("2.4.0", "More than one member at a time.")],
)
def zrem(call: Call) -> Reply:
    """Removes members from a sorted set; returns how many of them were in it.

    ZREM key member [member ...]
    """
    key = call.argv[1]
    values: SortedSet | None = call.db.find(key, SortedSet)
    if values is None:
        return 0
    count: int = 0
    for member in call.argv[2:]:
        count += values.remove(member)
    if count:
        zset_steps.removed(call, key, values, b"zrem", count)
    return count


# ---------------------------------------------------------------------- reading


@command("ZCARD", arity=2, flags=READ, group="sorted-set", since="1.2.0", keys=KeyRange(RO))
def zcard(call: Call) -> Reply:
    """Counts the members of a sorted set.

    ZCARD key
    """
    values: SortedSet | None = call.db.read(call.argv[1], SortedSet)
    return 0 if values is None else values.length()


@command(
    "ZSCORE", arity=3, flags=READ, group="sorted-set", since="1.2.0", keys=KeyRange(RO | ACCESS)
)
def zscore(call: Call) -> Reply:
    """Returns the score of a member of a sorted set; null if it is not in it.

    ZSCORE key member
    """
    values: SortedSet | None = call.db.read(call.argv[1], SortedSet)
    return None if values is None else values.score_of(call.argv[2])


@command(
    "ZMSCORE",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="6.2.0",
    complexity="O(N) where N is the number of members asked for.",
    keys=KeyRange(RO | ACCESS),
)
def zmscore(call: Call) -> Reply:
    """Returns the scores of several members of a sorted set; null where there is none.

    ZMSCORE key member [member ...]
    """
    values: SortedSet | None = call.db.read(call.argv[1], SortedSet)
    out: Encoder = call.client.out.another()
    out.array(len(call.argv) - 2)
    for member in call.argv[2:]:
        out.write(None if values is None else values.score_of(member))
    return out


@command(
    "ZRANK",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="2.0.0",
    complexity=LOGARITHMIC,
    keys=KeyRange(RO | ACCESS),
    history=[("7.2.0", "The WITHSCORE option.")],
)
def zrank(call: Call) -> Reply:
    """Returns the rank of a member of a sorted set: how many have lower scores.

    ZRANK key member [WITHSCORE]
    """
    return _rank(call, False)


@command(
    "ZREVRANK",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="2.0.0",
    complexity=LOGARITHMIC,
    keys=KeyRange(RO | ACCESS),
    history=[("7.2.0", "The WITHSCORE option.")],
)
def zrevrank(call: Call) -> Reply:
    """Returns the rank of a member of a sorted set from the end: how many have higher scores.

    ZREVRANK key member [WITHSCORE]
    """
    return _rank(call, True)


def _rank(call: Call, reverse: bool) -> Reply:
    argv: list[bytes] = call.argv
    if len(argv) > 4:
        raise errors.wrong_arity("zrevrank" if reverse else "zrank")
    with_score: bool = len(argv) == 4
    if with_score and argv[3].upper() != b"WITHSCORE":
        raise errors.SYNTAX
    values: SortedSet | None = call.db.read(argv[1], SortedSet)
    rank: int = -1 if values is None else values.rank_of(argv[2])
    if values is None or rank < 0:
        return NULL_ARRAY if with_score else None
    if reverse:
        rank = values.length() - 1 - rank
    return [rank, values.score_of(argv[2])] if with_score else rank


@command(
    "ZCOUNT",
    arity=4,
    flags=READ,
    group="sorted-set",
    since="2.0.0",
    complexity=LOGARITHMIC,
    keys=KeyRange(RO | ACCESS),
    types={"min": "double", "max": "double"},
)
def zcount(call: Call) -> Reply:
    """Counts the members of a sorted set that have a score in a range.

    ZCOUNT key min max
    """
    _, key, low, high = call.argv
    return _count(call, key, score_args.score_bound(low, False), score_args.score_bound(high, True))


@command(
    "ZLEXCOUNT",
    arity=4,
    flags=READ,
    group="sorted-set",
    since="2.8.9",
    complexity=LOGARITHMIC,
    keys=KeyRange(RO | ACCESS),
)
def zlexcount(call: Call) -> Reply:
    """Counts the members of a sorted set in a range by member; all must have the same score.

    ZLEXCOUNT key min max
    """
    _, key, low, high = call.argv
    begin = score_args.member_bound(low, False)
    return _count(call, key, begin, score_args.member_bound(high, True))


def _count(call: Call, key: bytes, begin: Bound, end: Bound) -> int:
    values: SortedSet | None = call.db.read(key, SortedSet)
    return 0 if values is None else max(0, values.rank(end) - values.rank(begin))
