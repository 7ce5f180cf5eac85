"""The list commands that wait for an element: BLPOP, BRPOP, BLMPOP, BLMOVE, BRPOPLPUSH.

The AOF gets the command without the wait: LPOP for a BLPOP.
"""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, Reply
from server.commands.lists import list_steps
from server.commands.shared.count_args import take_keys_end_count
from server.dispatch.call import Call
from server.table import args
from server.table.args import Args
from server.table.command import Block, Flags, command, new_block
from server.table.documentation import Deprecated
from server.table.keys import ACCESS, DELETE, INSERT, RW, CountedKeys, KeyRange
from storage.lists.quicklist import QuickList

WAITING_WRITE = Flags.WRITE | Flags.BLOCKING


@command(
    "BLPOP",
    arity=-3,
    flags=WAITING_WRITE,
    group="list",
    since="2.0.0",
    complexity="O(N) where N is the number of provided keys.",
    keys=KeyRange(RW | ACCESS | DELETE, last=-2),
    history=[("6.0.0", "The timeout may have a fraction.")],
)
def blpop(call: Call) -> Reply | Block:
    """LPOP on the first of several lists that is not empty; waits until there is one.

    BLPOP key [key ...] timeout
    """
    return _pop(call, left=True)


@command(
    "BRPOP",
    arity=-3,
    flags=WAITING_WRITE,
    group="list",
    since="2.0.0",
    complexity="O(N) where N is the number of provided keys.",
    keys=KeyRange(RW | ACCESS | DELETE, last=-2),
    history=[("6.0.0", "The timeout may have a fraction.")],
)
def brpop(call: Call) -> Reply | Block:
    """RPOP on the first of several lists that is not empty; waits until there is one.

    BRPOP key [key ...] timeout
    """
    return _pop(call, left=False)


def _pop(call: Call, left: bool) -> Reply | Block:
    argv = call.argv
    last = len(argv) - 1
    timeout_ms = args.to_timeout_s(argv[last], call.now_ms)
    for at in range(1, last):
        key = argv[at]
        values = list_steps.find_list(call, key)
        if values is not None:
            log = (b"LPOP" if left else b"RPOP", key) if call.is_logged else None
            return key, list_steps.pop(call, key, values, left, log)
    return new_block(argv[1:last], QuickList, timeout_ms, NULL_ARRAY, NULL_ARRAY)


@command(
    "BLMPOP",
    arity=-5,
    flags=WAITING_WRITE | Flags.MOVABLEKEYS,
    group="list",
    since="7.0.0",
    complexity="O(N+M) where N is the number of provided keys and M is the number of elements "
    "returned.",
    keys=CountedKeys(RW | ACCESS | DELETE, count_at=2),
)
def blmpop(call: Call) -> Reply | Block:
    """LMPOP that waits until one of the lists has elements.

    BLMPOP timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]
    """
    words = Args(call.argv, 2)
    keys, left, count = take_keys_end_count(words, list_steps.LEFT, list_steps.RIGHT)
    timeout_ms = args.to_timeout_s(call.argv[1], call.now_ms)
    found = list_steps.first_with_elements(call, keys)
    if found is None:
        return new_block(keys, QuickList, timeout_ms, NULL_ARRAY, NULL_ARRAY)
    key, values = found
    return [key, list(list_steps.pop_first(call, key, values, left, count))]


@command(
    "BLMOVE",
    arity=6,
    flags=WAITING_WRITE | Flags.DENYOOM,
    group="list",
    since="6.2.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
)
def blmove(call: Call) -> Reply | Block:
    """LMOVE that waits until the source has an element.

    BLMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout
    """
    words = Args(call.argv, 3)
    from_left, to_left = list_steps.take_end(words), list_steps.take_end(words)
    timeout_ms = args.to_timeout_s(words.take(), call.now_ms)
    source, target = call.argv[1], call.argv[2]
    log = (b"LMOVE", source, target, call.argv[3], call.argv[4])
    element = list_steps.move(call, source, target, from_left, to_left, log)
    if element is None:
        return new_block([source], QuickList, timeout_ms, NULL_ARRAY)
    return element


@command(
    "BRPOPLPUSH",
    arity=4,
    flags=WAITING_WRITE | Flags.DENYOOM,
    group="list",
    since="2.2.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
    deprecated=Deprecated("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments"),
    history=[("6.0.0", "The timeout may have a fraction.")],
)
def brpoplpush(call: Call) -> Reply | Block:
    """RPOPLPUSH that waits until the source has an element.

    BRPOPLPUSH source destination timeout
    """
    _, source, target, timeout = call.argv
    timeout_ms = args.to_timeout_s(timeout, call.now_ms)
    log = (b"RPOPLPUSH", source, target)
    element = list_steps.move(call, source, target, from_left=False, to_left=True, log=log)
    if element is None:
        return new_block([source], QuickList, timeout_ms, NULL_ARRAY)
    return element
