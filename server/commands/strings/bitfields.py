"""BITFIELD: integers of any width that stand anywhere in the bits of a string.

    BITFIELD k SET u5 3 19           bits     01000000 10000001
                                          ->  01010011 10000001      bits 3 to 7 are 10011

The highest bit of an integer comes first. Bits beyond the end of the string are 0.
"""

from __future__ import annotations

from typing import NamedTuple

from protocol.replies import ErrorReply, Reply
from server.commands.strings import string_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, Args, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, RW, UPDATE, VARIABLE_FLAGS, KeyRange, KeyUse

BAD_TYPE = ErrorReply(
    "ERR",
    "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
)
BAD_OVERFLOW = ErrorReply("ERR", "Invalid OVERFLOW type specified")
ONLY_GET = ErrorReply("ERR", "BITFIELD_RO only supports the GET subcommand")

WRAP, SAT, FAIL = b"WRAP", b"SAT", b"FAIL"
GET, SET, INCRBY, OVERFLOW = b"GET", b"SET", b"INCRBY", b"OVERFLOW"
READING = {GET: 3, OVERFLOW: 2}  # the words of operations that change nothing
WIDEST = 64  # bits of a signed integer; one less of an unsigned one
BITS_64 = (1 << 64) - 1


class Field(NamedTuple):
    """Where an integer is: *width* bits from *offset* on."""

    signed: bool
    width: int
    offset: int

    @property
    def least(self) -> int:
        return -1 << self.width - 1 if self.signed else 0

    @property
    def most(self) -> int:
        return (1 << self.width - self.signed) - 1

    @property
    def end(self) -> int:
        """How many bytes a string has that has all of it."""
        return (self.offset + self.width + 7) >> 3

    def read(self, text: bytes | bytearray) -> int:
        """The integer in *text*."""
        start = self.offset >> 3
        window = bytes(text[start : self.end]).ljust(self.end - start, b"\0")
        number = int.from_bytes(window, "big") >> self._below & (1 << self.width) - 1
        return number - (1 << self.width) if number > self.most else number

    def write(self, raw: bytearray, number: int) -> None:
        """Put *number*, which fits, into *raw*, which is long enough."""
        mask = (1 << self.width) - 1
        start = self.offset >> 3
        window = int.from_bytes(raw[start : self.end], "big")
        window = window & ~(mask << self._below) | (number & mask) << self._below
        raw[start : self.end] = window.to_bytes(self.end - start, "big")

    @property
    def _below(self) -> int:
        """How many bits of its last byte come after it."""
        return 8 * self.end - self.offset - self.width

    def fitted(self, number: int, overflow: bytes) -> int | None:
        """*number* as it can be written; None if it cannot, and *overflow* is FAIL."""
        if self.least <= number <= self.most:
            return number
        if overflow == FAIL:
            return None
        if overflow == SAT:
            return self.most if number > self.most else self.least
        number &= (1 << self.width) - 1
        return number - (1 << self.width) if number > self.most else number


class Operation(NamedTuple):
    """One GET, SET or INCRBY."""

    name: bytes
    field: Field
    number: int
    overflow: bytes


def _bitfield_keys(argv: list[bytes]) -> list[KeyUse]:
    """The key of BITFIELD, which is only read if all operations are GET."""
    at = 2
    while at < len(argv) and argv[at].upper() in READING:
        at += READING[argv[at].upper()]
    return [KeyUse(argv[1], RW | ACCESS | UPDATE if at < len(argv) else RO | ACCESS)]


@command(
    "BITFIELD",
    arity=-2,
    flags=Flags.WRITE | Flags.DENYOOM,
    group="bitmap",
    since="3.2.0",
    complexity="O(1) for each operation.",
    keys=KeyRange(RW | ACCESS | UPDATE | VARIABLE_FLAGS),
    get_keys=_bitfield_keys,
)
def bitfield(call: Call) -> Reply:
    """Reads, sets and increments integers of any width in a string, any number of them.

    BITFIELD key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>]
    <SET encoding offset value | INCRBY encoding offset increment>]
    """
    operations = _operations(call)
    if all(operation.name == GET for operation in operations):
        return _read(call, operations)
    return _change(call, operations)


@command(
    "BITFIELD_RO",
    arity=-2,
    flags=Flags.READONLY | Flags.FAST,
    group="bitmap",
    since="6.0.0",
    complexity="O(1) for each operation.",
    keys=KeyRange(RO | ACCESS),
)
def bitfield_ro(call: Call) -> Reply:
    """Reads integers of any width in a string.

    BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]
    """
    operations = _operations(call)
    if any(operation.name != GET for operation in operations):
        raise ONLY_GET
    return _read(call, operations)


def _operations(call: Call) -> list[Operation]:
    args = Args(call.argv, 2)
    found: list[Operation] = []
    overflow = WRAP
    while args.left:
        name = args.take().upper()
        if name == OVERFLOW and args.left:
            overflow = args.take().upper()
            if overflow not in (WRAP, SAT, FAIL):
                raise BAD_OVERFLOW
            continue
        if args.left < {GET: 2, SET: 3, INCRBY: 3}.get(name, args.left + 1):
            raise errors.SYNTAX
        signed, width = _encoding(args.take())
        offset = string_steps.to_bit_offset(call, args.take(), width)
        number = 0 if name == GET else to_int(args.take())
        found.append(Operation(name, Field(signed, width, offset), number, overflow))
    return found


def _encoding(text: bytes) -> tuple[bool, int]:
    """Whether an integer is signed, and its width, of a text such as ``i16``."""
    sign, signed = text[:1], text[:1] == b"i"
    width = to_int(text[1:], BAD_TYPE)
    if sign not in (b"i", b"u") or not 1 <= width <= WIDEST - (not signed):
        raise BAD_TYPE
    return signed, width


def _read(call: Call, operations: list[Operation]) -> Reply:
    value = call.db.read_string(call.argv[1])
    text = b"" if value is None else string_steps.octets_of(value)
    return [operation.field.read(text) for operation in operations]


def _change(call: Call, operations: list[Operation]) -> Reply:
    key = call.argv[1]
    value = call.db.find_string(key)
    size = 0 if value is None else string_steps.length_of(value)
    needed = max(operation.field.end for operation in operations if operation.name != GET)
    raw = string_steps.padded(call, key, value, needed)
    grown = value is None or needed > size
    replies: list[Reply] = []
    changes = 0
    for operation in operations:
        old = operation.field.read(raw)
        new = _new(operation, old)
        if operation.name == GET or new is None:
            replies.append(old if operation.name == GET else None)
            continue
        operation.field.write(raw, new)
        replies.append(old if operation.name == SET else new)
        changes += grown or old != new
    if changes:
        call.db.changed(key, b"setbit", changes)
    elif grown:
        call.db.changed(key, None)  # all have failed, but the string is longer now
    return replies


def _new(operation: Operation, old: int) -> int | None:
    """What *operation* would write; None if it must not."""
    field, number = operation.field, operation.number
    if operation.name == INCRBY:
        return field.fitted(old + number, operation.overflow)
    if not field.signed:
        number &= BITS_64  # a negative one is taken for a huge one
    elif operation.overflow == SAT and field.most - number > INT64_MAX and field.width < WIDEST:
        return field.most  # as in Redis, where this difference overflows
    return field.fitted(number, operation.overflow)
