"""The commands that take members off an end of a sorted set, and never wait."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import NULL_ARRAY, Reply
from server.commands.shared.count_args import take_keys_end_count
from server.commands.sorted_sets import zset_reply, zset_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, DELETE, RW, CountedKeys, KeyRange
from storage.sorted_sets.sorted_set import SortedSet

OF_POPS = "O(log(N)*M) where N is the number of members and M the number of those taken."


@command(
    "ZPOPMIN",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="sorted-set",
    since="5.0.0",
    complexity=OF_POPS,
    keys=KeyRange(RW | ACCESS | DELETE),
)
def zpopmin(call: Call) -> Reply:
    """Takes the member with the lowest score out of a sorted set, or so many, with their scores.

    ZPOPMIN key [count]
    """
    return _pop(call, True)


@command(
    "ZPOPMAX",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="sorted-set",
    since="5.0.0",
    complexity=OF_POPS,
    keys=KeyRange(RW | ACCESS | DELETE),
)
def zpopmax(call: Call) -> Reply:
    """Takes the member with the highest score out of a sorted set, or so many, with their scores.

    ZPOPMAX key [count]
    """
    return _pop(call, False)


def _pop(call: Call, lowest: bool) -> Reply:
    argv: list[bytes] = call.argv
    if len(argv) > 3:
        raise errors.SYNTAX
    with_count: bool = len(argv) == 3
    count = to_int(argv[2], errors.NOT_POSITIVE) if with_count else 1
    if count < 0:
        raise errors.NOT_POSITIVE
    values: SortedSet | None = call.db.find(argv[1], SortedSet)
    out: Encoder = call.client.out.another()
    if values is None or count == 0:
        out.array(0)
        return out
    size = values.length()
    count = min(count, size)
    rank = 0 if lowest else size - 1
    in_pairs = with_count and out.resp == 3
    zset_reply.write_range(out, values, rank, count, not lowest, True, in_pairs)
    zset_steps.remove_end(call, argv[1], values, lowest, count)
    return out


@command(
    "ZMPOP",
    arity=-4,
    flags=Flags.WRITE | Flags.MOVABLEKEYS,
    group="sorted-set",
    since="7.0.0",
    complexity="O(K)+O(M*log(N)) where K is the number of keys, N the number of members and M the"
    " number of those taken.",
    keys=CountedKeys(RW | ACCESS | DELETE, count_at=1),
)
def zmpop(call: Call) -> Reply:
    """Takes members off an end of the first of several sorted sets that has any.

    ZMPOP numkeys key [key ...] <MIN | MAX> [COUNT count]
    """
    reply = zset_steps.pop_first(call, *take_keys_end_count(Args(call.argv), b"MIN", b"MAX"))
    return NULL_ARRAY if reply is None else reply
