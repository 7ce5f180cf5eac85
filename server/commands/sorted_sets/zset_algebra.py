"""Unions, intersections and differences of sorted sets and sets, answered or stored."""

from __future__ import annotations

from protocol.replies import Reply
from server.commands.sorted_sets import zset_operations, zset_reply, zset_steps
from server.commands.sorted_sets.algebra_args import AlgebraArgs
from server.commands.sorted_sets.zset_operations import Scores
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import ACCESS, OW, RO, UPDATE, CountedKeys, KeyRange
from storage.sorted_sets.sorted_set import SortedSet

READ = Flags.READONLY | Flags.MOVABLEKEYS
WRITE = Flags.WRITE | Flags.DENYOOM | Flags.MOVABLEKEYS
SOURCES = CountedKeys(RO | ACCESS, count_at=1)
STORED = (KeyRange(OW | UPDATE), CountedKeys(RO | ACCESS, count_at=2))
OF_UNIONS = "O(N)+O(M*log(M)) where N is the number of all members and M of those in the result."
OF_INTERSECTIONS = (
    "O(N*K)+O(M*log(M)) where N is the size of the smallest set, K the number of sets and M the"
    " size of the result."
)

# ---------------------------------------------------------------------- unions


@command(
    "ZUNION",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="6.2.0",
    complexity=OF_UNIONS,
    keys=SOURCES,
    types={"weight": "integer"},
    history=[("8.8.0", "COUNT as an aggregate.")],
)
def zunion(call: Call) -> Reply:
    """Returns the members of several sorted sets, with scores made of those that each has there.

    ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX | COUNT>]
    [WITHSCORES]
    """
    wanted = AlgebraArgs(call, 1, weighted=True)
    return _answer(call, wanted, _union(wanted))


@command(
    "ZUNIONSTORE",
    arity=-4,
    flags=WRITE,
    group="sorted-set",
    since="2.0.0",
    complexity=OF_UNIONS,
    keys=STORED,
    types={"destination": "key", "weight": "integer"},
    history=[("8.8.0", "COUNT as an aggregate.")],
)
def zunionstore(call: Call) -> Reply:
    """Stores what ZUNION returns; returns how many members there are.

    ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
    [AGGREGATE <SUM | MIN | MAX | COUNT>]
    """
    wanted = AlgebraArgs(call, 2, weighted=True)
    return _store(call, _union(wanted), b"zunionstore")


# ---------------------------------------------------------------------- intersections


@command(
    "ZINTER",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="6.2.0",
    complexity=OF_INTERSECTIONS,
    keys=SOURCES,
    types={"weight": "integer"},
    history=[("8.8.0", "COUNT as an aggregate.")],
)
def zinter(call: Call) -> Reply:
    """Returns the members that several sorted sets have in common, with scores made of all theirs.

    ZINTER numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX | COUNT>]
    [WITHSCORES]
    """
    wanted = AlgebraArgs(call, 1, weighted=True)
    return _answer(call, wanted, _intersection(wanted))


@command(
    "ZINTERSTORE",
    arity=-4,
    flags=WRITE,
    group="sorted-set",
    since="2.0.0",
    complexity=OF_INTERSECTIONS,
    keys=STORED,
    types={"destination": "key", "weight": "integer"},
    history=[("8.8.0", "COUNT as an aggregate.")],
)
def zinterstore(call: Call) -> Reply:
    """Stores what ZINTER returns; returns how many members there are.

    ZINTERSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
    [AGGREGATE <SUM | MIN | MAX | COUNT>]
    """
    wanted = AlgebraArgs(call, 2, weighted=True)
    return _store(call, _intersection(wanted), b"zinterstore")


@command(
    "ZINTERCARD",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="7.0.0",
    complexity="O(N*K) where N is the size of the smallest set and K the number of sets.",
    keys=SOURCES,
)
def zintercard(call: Call) -> Reply:
    """Counts the members that several sorted sets have in common, up to a limit.

    ZINTERCARD numkeys key [key ...] [LIMIT limit]
    """
    wanted = AlgebraArgs(call, 1, counting=True)
    return zset_operations.intersection_size(wanted.sources, wanted.limit)


# ---------------------------------------------------------------------- differences


@command(
    "ZDIFF",
    arity=-3,
    flags=READ,
    group="sorted-set",
    since="6.2.0",
    complexity="O(N) where N is the number of all members.",
    keys=SOURCES,
)
def zdiff(call: Call) -> Reply:
    """Returns the members of the first sorted set that none of the others has.

    ZDIFF numkeys key [key ...] [WITHSCORES]
    """
    wanted = AlgebraArgs(call, 1)
    return _answer(call, wanted, zset_operations.difference(wanted.sources))


@command(
    "ZDIFFSTORE",
    arity=-4,
    flags=WRITE,
    group="sorted-set",
    since="6.2.0",
    complexity="O(N) where N is the number of all members.",
    keys=STORED,
    types={"destination": "key"},
)
def zdiffstore(call: Call) -> Reply:
    """Stores what ZDIFF returns; returns how many members there are.

    ZDIFFSTORE destination numkeys key [key ...]
    """
    wanted = AlgebraArgs(call, 2)
    return _store(call, zset_operations.difference(wanted.sources), b"zdiffstore")


# ---------------------------------------------------------------------- results


def _union(wanted: AlgebraArgs) -> Scores:
    sources = wanted.weighted_sources()
    if wanted.counts_sources:
        return zset_operations.union_counts(sources)
    return zset_operations.union(sources)


def _intersection(wanted: AlgebraArgs) -> Scores:
    sources = wanted.weighted_sources()
    if wanted.counts_sources:
        return zset_operations.intersection_counts(sources)
    return zset_operations.intersection(sources)


def _answer(call: Call, wanted: AlgebraArgs, scores: Scores) -> Reply:
    """The members in order."""
    out = call.client.out.another()
    pairs = _in_order(scores)
    zset_reply.write_pairs(out, pairs, len(pairs), wanted.with_scores, out.resp == 3)
    return out


def _store(call: Call, scores: Scores, event: bytes) -> Reply:
    limits = call.server.node_limits.sorted_set
    made = SortedSet()
    if len(scores) > limits.entries:
        made.as_tree()
    for member, score in _in_order(scores):
        made.put(member, score, limits)
    made.shrink()
    return zset_steps.store(call, call.argv[1], made, event)


def _in_order(scores: Scores) -> list[tuple[bytes, float]]:
    """Members with their scores, by score, and by member where scores are equal."""
    pairs = [(score, member) for member, score in scores.items()]
    pairs.sort()
    return [(member, score) for score, member in pairs]
