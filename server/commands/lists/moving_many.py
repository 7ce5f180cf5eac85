"""LMOVEM, which moves several elements from one list to another, and BLMOVEM, which waits for them.

    source a b c d, target x, two elements            OBO        BULK
    LEFT LEFT                                        b a x      a b x
    LEFT RIGHT                                       x a b      x a b
    RIGHT LEFT                                       c d x      c d x
    RIGHT RIGHT                                      x d c      x c d

The log has what was pushed and how many were popped, which older servers know.
"""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, Reply
from server.commands.lists import list_steps
from server.commands.shared.count_args import COUNT_NOT_POSITIVE
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_timeout_s
from server.table.command import Block, Flags, command, new_block
from server.table.keys import ACCESS, DELETE, INSERT, RW, KeyRange
from storage.lists.quicklist import QuickList

WRITE = Flags.WRITE | Flags.DENYOOM


@command(
    "LMOVEM",
    arity=-5,
    flags=WRITE,
    group="list",
    since="8.10.0",
    complexity="O(N) where N is the number of elements moved.",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
)
def lmovem(call: Call) -> Reply:
    """LMOVE of several elements, one by one or as a block; returns them as they lie in the target.

    LMOVEM source destination <LEFT | RIGHT> <LEFT | RIGHT>
    [<COUNT count | EXACTLY exactly> <OBO | BULK>]
    """
    args = Args(call.argv, 3)
    from_left, to_left = list_steps.take_end(args), list_steps.take_end(args)
    count, exactly, in_bulk = _how_many(args)
    source = call.argv[1]
    values = list_steps.find_list(call, source)
    if values is None or (exactly and len(values) < count):
        return NULL_ARRAY
    target = call.argv[2]
    return list(list_steps.move_many(call, source, target, from_left, to_left, count, in_bulk))


@command(
    "BLMOVEM",
    arity=-6,
    flags=WRITE | Flags.BLOCKING,
    group="list",
    since="8.10.0",
    complexity="O(N) where N is the number of elements moved.",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(RW | INSERT, first=2)),
)
def blmovem(call: Call) -> Reply | Block:
    """LMOVEM that waits until the source has an element, or with EXACTLY that many.

    BLMOVEM source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout
    [<COUNT count | EXACTLY exactly> <OBO | BULK>]
    """
    args = Args(call.argv, 3)
    from_left, to_left = list_steps.take_end(args), list_steps.take_end(args)
    timeout_ms = to_timeout_s(args.take(), call.now_ms)
    count, exactly, in_bulk = _how_many(args)
    source = call.argv[1]
    values = list_steps.find_list(call, source)
    if values is None or (exactly and len(values) < count):
        return new_block(
            [source], QuickList, timeout_ms, NULL_ARRAY, NULL_ARRAY, for_more=bool(exactly)
        )
    target = call.argv[2]
    return list(list_steps.move_many(call, source, target, from_left, to_left, count, in_bulk))


def _how_many(args: Args) -> tuple[int, bool, bool]:
    """How many elements, whether exactly so many, and whether as a block. Takes all that is left.

    Raises SYNTAX, or COUNT_NOT_POSITIVE.
    """
    if not args.left():
        return 1, False, False
    word = args.take_word(b"COUNT", b"EXACTLY")
    if word is None:
        raise errors.SYNTAX
    count = args.take_positive(COUNT_NOT_POSITIVE)
    order = args.take_word(b"OBO", b"BULK")
    if order is None or args.left():
        raise errors.SYNTAX
    return count, word == b"EXACTLY", order == b"BULK"
