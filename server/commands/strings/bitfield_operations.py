"""The operations of BITFIELD: how they are read from the words of a command, and done.

What they work on: storage/strings/bit_field.py.
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.strings import string_steps
from server.dispatch.call import Call
from server.table import args as words
from server.table import errors
from server.table.args import Args
from storage.keyspace.key_lookups import STRING
from storage.strings.bit_field import FAIL, SATURATE, WIDEST, WRAP, BitField

BAD_TYPE = ErrorReply(
    "ERR",
    "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
)
BAD_OVERFLOW = ErrorReply("ERR", "Invalid OVERFLOW type specified")

GET, SET, INCRBY = 0, 1, 2
OVERFLOWS = {b"WRAP": WRAP, b"SAT": SATURATE, b"FAIL": FAIL}


class Operation:
    """One GET, SET or INCRBY."""

    __slots__ = ("field", "kind", "number", "overflow")

    def __init__(self, kind: int, field: BitField, number: int, overflow: int) -> None:
        self.kind = kind
        self.field = field
        self.number = number
        self.overflow = overflow


def of(call: Call) -> list[Operation]:
    """Those that a command asks for. Raises SYNTAX, and errors of their parts."""
    args = Args(call.argv, 2)
    found: list[Operation] = []
    overflow = WRAP
    left = len(call.argv) - 2
    while left > 0:
        if left > 1 and args.skip(b"OVERFLOW"):
            overflow = OVERFLOWS.get(args.take().upper(), -1)
            if overflow < 0:
                raise BAD_OVERFLOW
        else:
            found.append(_operation(call, args, left, overflow))
        left = len(call.argv) - args.at
    return found


def _operation(call: Call, args: Args, left: int, overflow: int) -> Operation:
    """Take the words of one GET, SET or INCRBY; *left* are there."""
    kind = GET
    if not args.skip(b"GET"):
        kind = SET if args.skip(b"SET") else INCRBY
        if kind == INCRBY and not args.skip(b"INCRBY"):
            raise errors.SYNTAX
    if left < (3 if kind == GET else 4):
        raise errors.SYNTAX
    encoding = args.take()
    signed = encoding.startswith(b"i")
    width = words.to_int(encoding[1:], BAD_TYPE)
    if not (signed or encoding.startswith(b"u")) or not 1 <= width <= WIDEST - (not signed):
        raise BAD_TYPE
    offset = string_steps.to_bit_offset(call, args.take(), width)
    number = 0 if kind == GET else args.take_int()
    return Operation(kind, BitField(signed, width, offset), number, overflow)


def change_any(operations: list[Operation]) -> bool:
    """Whether one of them is not GET."""
    for operation in operations:  # noqa: SIM110  compiled, this is faster
        if operation.kind != GET:
            return True
    return False


def read(call: Call, operations: list[Operation]) -> Reply:
    """Do them; all are GET."""
    value = call.db.read(call.argv[1], STRING)
    text = b"" if value is None else string_steps.octets_of(value)
    replies: list[Reply] = []
    for operation in operations:
        replies.append(operation.field.read(text))  # noqa: PERF401  compiled, this is faster
    return replies


def change(call: Call, operations: list[Operation]) -> Reply:
    """Do them; not all are GET."""
    key = call.argv[1]
    value = call.db.find(key, STRING)
    size = 0 if value is None else string_steps.length_of(value)
    needed = 0
    for operation in operations:
        if operation.kind != GET:
            needed = max(needed, operation.field.end())
    text = string_steps.padded(call, key, value, needed)
    grown = value is None or needed > size
    replies: list[Reply] = []
    changes = 0
    for operation in operations:
        old = operation.field.read(text)
        if operation.kind == GET:
            replies.append(old)
            continue
        if operation.kind == INCRBY:
            new = operation.field.increased(old, operation.number, operation.overflow)
        else:
            new = operation.field.replaced(operation.number, operation.overflow)
        if new is None:
            replies.append(None)
            continue
        operation.field.write(text, new)
        replies.append(old if operation.kind == SET else new)
        if grown or old != new:
            changes += 1
    if changes:
        call.db.changed(key, b"setbit", changes=changes)
    elif grown:
        call.db.changed(key, None)  # all have failed, but the string is longer now
    return replies
