"""The steps that the commands on times of fields are made of."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.replies import ErrorReply
from server.commands.hashes import hash_steps
from server.dispatch.call import Call
from server.table.args import to_int
from storage.hashes.hash import Hash

NEGATIVE_TIME = ErrorReply("ERR", "invalid expire time, must be >= 0")
NO_FIELDS_WORD = ErrorReply(
    "ERR", "Mandatory argument FIELDS is missing or not at the right position"
)
NO_FIELDS_COUNT = ErrorReply("ERR", "Parameter `numFields` should be greater than 0")
NOT_A_COUNT = ErrorReply("ERR", "Number of fields must be a positive integer")
OTHER_COUNT = ErrorReply("ERR", "The `numfields` parameter must match the number of arguments")

GREATEST_MS = 2**46 - 1  # unix ms: no field expires later

IN_SECONDS = (b"EX", b"EXAT")
FROM_NOW = (b"EX", b"PX")


def absolute_ms(call: Call, text: bytes, unit: bytes, name: str) -> int:
    """The unix ms that *text* says, in EX, PX, EXAT or PXAT. Raises ErrorReply, naming the command.

    It is never so late that a sum would overflow.
    """
    number = to_int(text)
    if number < 0:
        raise NEGATIVE_TIME
    when_ms = number * 1000 if unit in IN_SECONDS else number
    if unit in FROM_NOW:
        when_ms += call.now_ms
    if when_ms > GREATEST_MS:
        raise ErrorReply("ERR", f"invalid expire time in '{name}' command")
    return when_ms


def fields_at(argv: list[bytes], at: int, bad_count: ErrorReply) -> list[bytes]:
    """The fields that end a command: ``argv[at]`` is FIELDS, and their number follows it."""
    if argv[at].upper() != b"FIELDS":
        raise NO_FIELDS_WORD
    count = to_int(argv[at + 1], bad_count)
    if count < 1:
        raise bad_count
    if count != len(argv) - at - 2:
        raise OTHER_COUNT
    return argv[at + 2 :]


def has_passed(call: Call, when_ms: int) -> bool:
    """Whether a field that is to expire at *when_ms* is removed at once instead.

    What is replayed waits for the AOF to remove it.
    """
    return when_ms <= call.now_ms and not call.is_replayed()


def set_time(value: Hash, field: bytes, when_ms: int, passed: bool) -> None:
    """Let *field*, which exists, expire at *when_ms*; remove it if that has *passed*."""
    if passed:
        value.remove(field)
    else:
        value.expire_at(field, when_ms)


def tell(call: Call, key: bytes, value: Hash, fields: Sequence[bytes], when_ms: int) -> None:
    """*fields* of the hash at *key* have got the time *when_ms*, or were removed by set_time.

    It is logged as an absolute time, or as a removal.
    """
    db = call.db
    if not fields:
        return
    if has_passed(call, when_ms):
        db.changed(key, b"hdel", changes=len(fields), log=(b"HDEL", key, *fields))
        hash_steps.tell_fields(call, key, b"hdel", fields)
        hash_steps.follow_removal(call, key, value)
        return
    db.expire_fields_at(key, value.next_expiry())
    words = (b"HPEXPIREAT", key, b"%d" % when_ms, b"FIELDS", b"%d" % len(fields), *fields)
    db.changed(key, b"hexpire", changes=len(fields), log=words)
    hash_steps.tell_fields(call, key, b"hexpire", fields)
