"""The commands that count: strings as integers and as floats."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.shared import long_double
from server.commands.strings import string_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, INT64_MIN, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, RW, UPDATE, KeyRange
from storage.keyspace.key_lookups import STRING

WRITE = Flags.WRITE | Flags.DENYOOM

INCREMENT_OVERFLOWS = ErrorReply("ERR", "increment or decrement would overflow")
DECREMENT_OVERFLOWS = ErrorReply("ERR", "decrement would overflow")
NOT_FINITE = ErrorReply("ERR", "increment would produce NaN or Infinity")


@command(
    "INCR",
    arity=2,
    flags=WRITE | Flags.FAST,
    group="string",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def incr(call: Call) -> Reply:
    """Adds 1 to an integer; a missing key is 0.

    INCR key
    """
    return _add(call, 1)


@command(
    "DECR",
    arity=2,
    flags=WRITE | Flags.FAST,
    group="string",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def decr(call: Call) -> Reply:
    """Subtracts 1 from an integer; a missing key is 0.

    DECR key
    """
    return _add(call, -1)


@command(
    "INCRBY",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def incrby(call: Call) -> Reply:
    """Adds an integer to an integer; a missing key is 0.

    INCRBY key increment
    """
    return _add(call, to_int(call.argv[2]))


@command(
    "DECRBY",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def decrby(call: Call) -> Reply:
    """Subtracts an integer from an integer; a missing key is 0.

    DECRBY key decrement
    """
    decrement = to_int(call.argv[2])
    if decrement == INT64_MIN:
        raise DECREMENT_OVERFLOWS
    return _add(call, -decrement)


def _add(call: Call, increment: int) -> Reply:
    key = call.argv[1]
    value = call.db.find(key, STRING)
    if value is None:
        old = 0
    else:
        old = value if type(value) is int else to_int(string_steps.text_of(value))
    new = old + increment
    if not INT64_MIN <= new <= INT64_MAX:
        raise INCREMENT_OVERFLOWS
    if value is None:
        call.db.add(key, new)
    else:
        call.db.store_string(key, new)
    call.db.changed(key, b"incrby")  # redis names all four so
    return new


@command(
    "INCRBYFLOAT",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="2.6.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
    types={"increment": "double"},
)
def incrbyfloat(call: Call) -> Reply:
    """Adds a float to a number; a missing key is 0.

    INCRBYFLOAT key increment
    """
    _, key, increment = call.argv
    value = call.db.find(key, STRING)
    text = _float_sum(b"0" if value is None else string_steps.text_of(value), increment)
    if value is None:
        call.db.add(key, text)
    else:
        call.db.store_string(key, text)
    call.db.changed(key, b"incrbyfloat", changes=1, log=(b"SET", key, text, b"KEEPTTL"))
    return text


def _float_sum(left: bytes, right: bytes) -> bytes:
    try:
        total = long_double.sum_text(left, right)
    except ValueError:
        raise errors.NOT_A_FLOAT from None
    if total is None:
        raise NOT_FINITE
    return total
