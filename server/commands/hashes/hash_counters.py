"""The hash commands that count: values of fields as integers and as floats."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.hashes import hash_steps, live_fields
from server.commands.shared import long_double
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, INT64_MIN, to_int
from server.table.command import Flags, command
from server.table.keys import ACCESS, RW, UPDATE, KeyRange
from storage.hashes.timed_fields import NO_EXPIRY

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
    hash_steps.tell_fields(call, key, b"hincrby", [field])
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
    _, key, field, text = call.argv
    if not long_double.is_plain(text):
        _check_increment(text)
    value = live_fields.find_hash(call, key, [field])
    old = None if value is None else value.get(field)
    try:
        new = long_double.sum_text(b"0" if old is None else old, text)
    except ValueError:
        raise VALUE_NOT_A_FLOAT from None
    if new is None:
        raise SUM_NOT_FINITE
    hash_steps.put_one(call, key, value, field, new)
    call.db.changed(key, b"hincrbyfloat", changes=1, log=(b"HSET", key, field, new))
    hash_steps.tell_fields(call, key, b"hincrbyfloat", [field])
    when_ms = NO_EXPIRY if value is None else value.expiry(field)
    if when_ms != NO_EXPIRY:
        times = (b"HPEXPIREAT", key, b"%d" % when_ms, b"FIELDS", b"1", field)
        call.db.changed(key, None, changes=0, log=times)
    return new


def _check_increment(text: bytes) -> None:
    """Raise the error of an increment that is no float, or no finite one."""
    try:
        increment = long_double.parse(text)
    except ValueError:
        raise errors.NOT_A_FLOAT from None
    if increment is None:
        raise INCREMENT_NOT_FINITE
