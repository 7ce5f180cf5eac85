"""The list commands that wait for an element: BLPOP, BRPOP, BLMPOP, BLMOVE, BRPOPLPUSH.

What is logged is what was done in the end, without the wait.
"""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, Reply
from server.commands.lists import list_steps
from server.dispatch.call import Call
from server.table import args
from server.table.args import Args
from server.table.command import Block, Flags, Keys, NumberedKeys, command
from storage.lists.quicklist import QuickList

WAITING_WRITE = Flags.WRITE | Flags.BLOCKING


@command(
    "BLPOP", arity=-3, flags=WAITING_WRITE, group="list", since="2.0.0", keys=Keys(1, -2),
    complexity="O(N) where N is the number of provided keys.",
)  # fmt: skip
def blpop(call: Call) -> Reply | Block:
    """Removes and returns the first element in a list. Blocks until there is one.

    BLPOP key [key ...] timeout
    """
    return _pop(call, left=True)


@command(
    "BRPOP", arity=-3, flags=WAITING_WRITE, group="list", since="2.0.0", keys=Keys(1, -2),
    complexity="O(N) where N is the number of provided keys.",
)  # fmt: skip
def brpop(call: Call) -> Reply | Block:
    """Removes and returns the last element in a list. Blocks until there is one.

    BRPOP key [key ...] timeout
    """
    return _pop(call, left=False)


def _pop(call: Call, left: bool) -> Reply | Block:
    argv = call.argv
    last = len(argv) - 1
    timeout_ms = args.to_timeout_s(argv[last], call.now_ms)
    for at in range(1, last):
        key = argv[at]
        values = list_steps.find(call, key)
        if values is not None:
            element = list_steps.pop(call, key, values, left)
            if call.is_logged:
                call.log_as(b"LPOP" if left else b"RPOP", key)
            return key, element
    return Block(argv[1:last], QuickList, timeout_ms, NULL_ARRAY, NULL_ARRAY)


@command(
    "BLMPOP", arity=-5, flags=WAITING_WRITE | Flags.MOVABLEKEYS, group="list", since="7.0.0",
    keys=NumberedKeys(2),
    complexity="O(N+M) where N is the number of provided keys and M is the number of elements "
    "returned.",
)  # fmt: skip
def blmpop(call: Call) -> Reply | Block:
    """Pops elements from the first list that has any. Blocks until there is one.

    BLMPOP timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]
    """
    keys, left, count = list_steps.take_keys_end_count(Args(call.argv, 2))
    timeout_ms = args.to_timeout_s(call.argv[1], call.now_ms)
    found = list_steps.first_with_elements(call, keys)
    if found is None:
        return Block(keys, QuickList, timeout_ms, NULL_ARRAY, NULL_ARRAY)
    key, values = found
    elements = list_steps.pop_many(call, key, values, left, count)
    call.log_as(b"LPOP" if left else b"RPOP", key, b"%d" % len(elements))
    return [key, list(elements)]


@command(
    "BLMOVE", arity=6, flags=WAITING_WRITE | Flags.DENYOOM, group="list", since="6.2.0",
    keys=Keys(1, 2),
)  # fmt: skip
def blmove(call: Call) -> Reply | Block:
    """Moves an element between lists and returns it. Blocks until there is one.

    BLMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout
    """
    words = Args(call.argv, 3)
    from_left, to_left = list_steps.take_end(words), list_steps.take_end(words)
    timeout_ms = args.to_timeout_s(words.take(), call.now_ms)
    source, target = call.argv[1], call.argv[2]
    element = list_steps.move(call, source, target, from_left, to_left)
    if element is None:
        return Block([source], QuickList, timeout_ms, NULL_ARRAY)
    call.log_as(b"LMOVE", source, target, call.argv[3], call.argv[4])
    return element


@command(
    "BRPOPLPUSH", arity=4, flags=WAITING_WRITE | Flags.DENYOOM, group="list", since="2.2.0",
    keys=Keys(1, 2),
)  # fmt: skip
def brpoplpush(call: Call) -> Reply | Block:
    """Moves an element between lists and returns it. Blocks until there is one.

    BRPOPLPUSH source destination timeout
    """
    _, source, target, timeout = call.argv
    timeout_ms = args.to_timeout_s(timeout, call.now_ms)
    element = list_steps.move(call, source, target, from_left=False, to_left=True)
    if element is None:
        return Block([source], QuickList, timeout_ms, NULL_ARRAY)
    call.log_as(b"RPOPLPUSH", source, target)
    return element
