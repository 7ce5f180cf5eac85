"""The commands that let fields of a hash expire, or tell when they do."""

from __future__ import annotations

from collections.abc import Callable

from protocol.replies import Reply
from server.commands.hashes import hash_steps
from server.commands.hashes.field_args import condition_and_fields
from server.commands.hashes.time_steps import (
    NOT_A_COUNT,
    absolute_ms,
    fields_at,
    has_passed,
    set_time,
    tell,
)
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, RO, RW, UPDATE, KeyRange
from storage.hashes.hash import Hash
from storage.hashes.timed_fields import NO_EXPIRY

WRITE = Flags.WRITE | Flags.FAST
READ = Flags.READONLY | Flags.FAST

NO_FIELD = -2  # NO_EXPIRY is the other negative answer
NOT_SET, IS_SET, DELETED = 0, 1, 2


# ---------------------------------------------------------------------- HEXPIRE


@command(
    "HEXPIRE",
    arity=-6,
    flags=WRITE,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | UPDATE),
)
def hexpire(call: Call) -> Reply:
    """Makes fields of a hash expire after some seconds.

    HEXPIRE key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]
    """
    return _expire(call, b"EX", "hexpire")


@command(
    "HPEXPIRE",
    arity=-6,
    flags=WRITE,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | UPDATE),
)
def hpexpire(call: Call) -> Reply:
    """Makes fields of a hash expire after some milliseconds.

    HPEXPIRE key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]
    """
    return _expire(call, b"PX", "hpexpire")


@command(
    "HEXPIREAT",
    arity=-6,
    flags=WRITE,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | UPDATE),
)
def hexpireat(call: Call) -> Reply:
    """Lets fields of a hash expire at a unix time in seconds.

    HEXPIREAT key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]
    """
    return _expire(call, b"EXAT", "hexpireat")


@command(
    "HPEXPIREAT",
    arity=-6,
    flags=WRITE,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | UPDATE),
)
def hpexpireat(call: Call) -> Reply:
    """Lets fields of a hash expire at a unix time in milliseconds.

    HPEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]
    """
    return _expire(call, b"PXAT", "hpexpireat")


def _expire(call: Call, unit: bytes, name: str) -> Reply:
    argv = call.argv
    key = argv[1]
    value: Hash | None = call.db.find(key, Hash)
    when_ms = absolute_ms(call, argv[2], unit, name)
    condition, fields = condition_and_fields(argv)
    if value is None:
        return [NO_FIELD] * len(fields)
    passed = has_passed(call, when_ms)
    value.as_timed()
    replies: list[Reply] = []
    changed: list[bytes] = []
    for field in fields:
        replies.append(_answer(value, field, when_ms, condition, passed))
        if replies[-1] in (IS_SET, DELETED):
            changed.append(field)
            set_time(value, field, when_ms, passed)
    tell(call, key, value, changed, when_ms)
    return replies


def _answer(value: Hash, field: bytes, when_ms: int, condition: bytes, passed: bool) -> int:
    """What HEXPIRE answers for *field*, which may have expired before and is there again then."""
    if not value.has(field):
        return NO_FIELD
    if condition and not _holds(condition, value.expiry(field), when_ms):
        return NOT_SET
    return DELETED if passed else IS_SET


def _holds(condition: bytes, old_ms: int, new_ms: int) -> bool:
    """Whether *condition* allows the change from *old_ms* to *new_ms*. No expiry means never."""
    never = old_ms == NO_EXPIRY
    if condition == b"NX":
        return never
    if condition == b"XX":
        return not never
    if condition == b"GT":
        return not never and new_ms > old_ms
    return never or new_ms < old_ms


@command(
    "HPERSIST",
    arity=-5,
    flags=WRITE,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | UPDATE),
)
def hpersist(call: Call) -> Reply:
    """Takes the times to live of fields away, so that they never expire.

    HPERSIST key FIELDS numfields field [field ...]
    """
    key = call.argv[1]
    value: Hash | None = call.db.find(key, Hash)
    fields = fields_at(call.argv, 2, NOT_A_COUNT)
    if value is None:
        return [NO_FIELD] * len(fields)
    replies: list[Reply] = []
    for field in fields:
        replies.append(_time(call, value, field, lambda _: IS_SET))
        if replies[-1] == IS_SET:
            value.expire_at(field, NO_EXPIRY)
    if IS_SET in replies:
        call.db.expire_fields_at(key, value.next_expiry())
        call.db.changed(key, b"hpersist", changes=replies.count(IS_SET))
        kept = [field for field, is_set in zip(fields, replies, strict=True) if is_set == IS_SET]
        hash_steps.tell_fields(call, key, b"hpersist", kept)
    return replies


# ---------------------------------------------------------------------- HTTL


@command(
    "HTTL",
    arity=-5,
    flags=READ,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def httl(call: Call) -> Reply:
    """Returns in how many seconds fields expire: -1 for never, -2 for no field.

    HTTL key FIELDS numfields field [field ...]
    """
    return _times(call, lambda ms: (ms - call.now_ms + 999) // 1000)


@command(
    "HPTTL",
    arity=-5,
    flags=READ,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def hpttl(call: Call) -> Reply:
    """Returns in how many milliseconds fields expire: -1 for never, -2 for no field.

    HPTTL key FIELDS numfields field [field ...]
    """
    return _times(call, lambda ms: ms - call.now_ms)


@command(
    "HEXPIRETIME",
    arity=-5,
    flags=READ,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RO | ACCESS),
)
def hexpiretime(call: Call) -> Reply:
    """Returns the unix times in seconds when fields expire: -1 for never, -2 for no field.

    HEXPIRETIME key FIELDS numfields field [field ...]
    """
    return _times(call, lambda ms: (ms + 999) // 1000)


@command(
    "HPEXPIRETIME",
    arity=-5,
    flags=READ,
    group="hash",
    since="7.4.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RO | ACCESS),
)
def hpexpiretime(call: Call) -> Reply:
    """Returns the unix times in milliseconds when fields expire: -1 for never, -2 for no field.

    HPEXPIRETIME key FIELDS numfields field [field ...]
    """
    return _times(call, lambda ms: ms)


def _times(call: Call, shown: Callable[[int], int]) -> Reply:
    """When each field expires, *shown* as the command does."""
    value: Hash | None = call.db.read(call.argv[1], Hash)
    fields = fields_at(call.argv, 2, NOT_A_COUNT)
    return [_time(call, value, field, shown) for field in fields]


def _time(call: Call, value: Hash | None, field: bytes, shown: Callable[[int], int]) -> int:
    if value is None or not value.has(field):
        return NO_FIELD
    when_ms = value.expiry(field)
    if when_ms == NO_EXPIRY:
        return NO_EXPIRY
    if when_ms < call.now_ms and not call.is_replayed():
        return NO_FIELD
    return shown(when_ms)
