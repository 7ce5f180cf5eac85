"""The sorted set commands that wait for a member: BZPOPMIN, BZPOPMAX, BZMPOP.

The AOF gets the command without the wait: ZPOPMIN for a BZPOPMIN.
"""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, Reply
from server.commands.shared.count_args import take_keys_end_count
from server.commands.sorted_sets import zset_steps
from server.dispatch.call import Call
from server.table import args
from server.table.args import Args
from server.table.command import Block, Flags, command, new_block
from server.table.keys import ACCESS, DELETE, RW, CountedKeys, KeyRange
from storage.sorted_sets.sorted_set import SortedSet

WAITING_WRITE = Flags.WRITE | Flags.BLOCKING


@command(
    "BZPOPMIN",
    arity=-3,
    flags=WAITING_WRITE | Flags.FAST,
    group="sorted-set",
    since="5.0.0",
    complexity="O(log(N)) where N is the number of members.",
    keys=KeyRange(RW | ACCESS | DELETE, last=-2),
    history=[("6.0.0", "The timeout may have a fraction.")],
)
def bzpopmin(call: Call) -> Reply | Block:
    """ZPOPMIN on the first of several sorted sets that is not empty; waits until there is one.

    BZPOPMIN key [key ...] timeout
    """
    return _pop(call, True)


@command(
    "BZPOPMAX",
    arity=-3,
    flags=WAITING_WRITE | Flags.FAST,
    group="sorted-set",
    since="5.0.0",
    complexity="O(log(N)) where N is the number of members.",
    keys=KeyRange(RW | ACCESS | DELETE, last=-2),
    history=[("6.0.0", "The timeout may have a fraction.")],
)
def bzpopmax(call: Call) -> Reply | Block:
    """ZPOPMAX on the first of several sorted sets that is not empty; waits until there is one.

    BZPOPMAX key [key ...] timeout
    """
    return _pop(call, False)


def _pop(call: Call, lowest: bool) -> Reply | Block:
    argv = call.argv
    last = len(argv) - 1
    timeout_ms = args.to_timeout_s(argv[last], call.now_ms)
    found = zset_steps.first_with_members(call, argv[1:last])
    if found is None:
        return new_block(argv[1:last], SortedSet, timeout_ms, NULL_ARRAY, NULL_ARRAY)
    key, values = found
    log = (b"ZPOPMIN" if lowest else b"ZPOPMAX", key)
    [(member, score)] = zset_steps.pop(call, key, values, lowest, 1, log)
    return [key, member, score]


@command(
    "BZMPOP",
    arity=-5,
    flags=WAITING_WRITE | Flags.MOVABLEKEYS,
    group="sorted-set",
    since="7.0.0",
    complexity="O(K)+O(M*log(N)) where K is the number of keys, N the number of members and M the"
    " number of those taken.",
    keys=CountedKeys(RW | ACCESS | DELETE, count_at=2),
)
def bzmpop(call: Call) -> Reply | Block:
    """ZMPOP that waits until one of the sorted sets has members.

    BZMPOP timeout numkeys key [key ...] <MIN | MAX> [COUNT count]
    """
    keys, lowest, count = take_keys_end_count(Args(call.argv, 2), b"MIN", b"MAX")
    timeout_ms = args.to_timeout_s(call.argv[1], call.now_ms)
    reply = zset_steps.pop_first(call, keys, lowest, count)
    if reply is None:
        return new_block(keys, SortedSet, timeout_ms, NULL_ARRAY, NULL_ARRAY)
    return reply
