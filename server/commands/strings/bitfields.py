"""BITFIELD: integers of any width that stand anywhere in the bits of a string.

    BITFIELD k SET u5 3 19           bits     01000000 10000001
                                          ->  01010011 10000001      bits 3 to 7 are 10011

How they are taken from the words and done: bitfield_operations.py.
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.strings import bitfield_operations
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, RW, UPDATE, VARIABLE_FLAGS, KeyRange, KeyUse

ONLY_GET = ErrorReply("ERR", "BITFIELD_RO only supports the GET subcommand")

READING = {b"GET": 3, b"OVERFLOW": 2}  # the words of operations that change nothing


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
    operations = bitfield_operations.of(call)
    if bitfield_operations.change_any(operations):
        return bitfield_operations.change(call, operations)
    return bitfield_operations.read(call, operations)


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
    operations = bitfield_operations.of(call)
    if bitfield_operations.change_any(operations):
        raise ONLY_GET
    return bitfield_operations.read(call, operations)
