"""The hash commands that count: values of fields as integers and as floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.replies import ErrorReply, Reply
from server.commands.hashes import hash_steps, live_fields
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, INT64_MIN, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, RW, UPDATE, KeyRange
from storage.hashes.timed_fields import NO_EXPIRY

if TYPE_CHECKING:
    from fractions import Fraction

WRITE = Flags.WRITE | Flags.DENYOOM | Flags.FAST

VALUE_NOT_AN_INTEGER = ErrorReply("ERR", "hash value is not an integer")
VALUE_NOT_A_FLOAT = ErrorReply("ERR", "hash value is not a float")
OVERFLOWS = ErrorReply("ERR", "increment or decrement would overflow")
INCREMENT_NOT_FINITE = ErrorReply("ERR", "value is NaN or Infinity")
SUM_NOT_FINITE = ErrorReply("ERR", "increment would produce NaN or Infinity")


@command(
    "HINCRBY",
    arity=4,
    flags=WRITE,
    group="hash",
    since="2.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def hincrby(call: Call) -> Reply:
    """Adds an integer to the value of a field of a hash; a missing field is 0.

    HINCRBY key field increment
    """
    _, key, field, text = call.argv
    increment = to_int(text)
    value = live_fields.find_hash(call, key, [field])
    old = None if value is None else value.get(field)
    new = increment if old is None else to_int(old, VALUE_NOT_AN_INTEGER) + increment
    if not INT64_MIN <= new <= INT64_MAX:
        raise OVERFLOWS
    hash_steps.put_one(call, key, value, field, b"%d" % new)
    call.db.changed(key, b"hincrby")
    return new


@command(
    "HINCRBYFLOAT",
    arity=4,
    flags=WRITE,
    group="hash",
    since="2.6.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
    types={"increment": "double"},
)
def hincrbyfloat(call: Call) -> Reply:
    """Adds a float to the value of a field of a hash; a missing field is 0.

    HINCRBYFLOAT key field increment
    """
    from server.commands.shared import long_double  # noqa: PLC0415  (it brings fractions along)

    _, key, field, text = call.argv
    increment = _float(text, errors.NOT_A_FLOAT)
    if increment is None:
        raise INCREMENT_NOT_FINITE
    value = live_fields.find_hash(call, key, [field])
    old = None if value is None else value.get(field)
    before = _float(b"0" if old is None else old, VALUE_NOT_A_FLOAT)
    total = None if before is None else long_double.sum_of(before, increment)
    if total is None:
        raise SUM_NOT_FINITE
    new = long_double.text_of(total)
    hash_steps.put_one(call, key, value, field, new)
    call.db.changed(key, b"hincrbyfloat", changes=1, log=(b"HSET", key, field, new))
    when_ms = NO_EXPIRY if value is None else value.expiry(field)
    if when_ms != NO_EXPIRY:
        times = (b"HPEXPIREAT", key, b"%d" % when_ms, b"FIELDS", b"1", field)
        call.db.changed(key, None, changes=0, log=times)
    return new


def _float(text: bytes, error: ErrorReply) -> Fraction | None:
    """The number that *text* says; None if it is infinite. Raises *error*."""
    from server.commands.shared import long_double  # noqa: PLC0415  (it brings fractions along)

    try:
        return long_double.parse(text)
    except ValueError:
        raise error from None
