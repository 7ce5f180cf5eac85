"""Times to live: the EXPIRE family, the TTL family, PERSIST."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.parts.expiry import expire_times
from server.table import errors
from server.table.args import to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, RO, RW, UPDATE, KeyRange
from storage.keyspace.expiring_keys import NO_EXPIRY

WRITE = Flags.WRITE | Flags.FAST
READ = Flags.READONLY | Flags.FAST

NO_KEY = -2  # what the TTL family answers; NO_EXPIRY is the other negative answer

CONDITIONS = (b"NX", b"XX", b"GT", b"LT")
NX_WITH_OTHERS = ErrorReply(
    "ERR", "NX and XX, GT or LT options at the same time are not compatible"
)
GT_WITH_LT = ErrorReply("ERR", "GT and LT options at the same time are not compatible")


# ---------------------------------------------------------------------- EXPIRE


@command(
    "EXPIRE",
    arity=-3,
    flags=WRITE,
    group="generic",
    since="1.0.0",
    keys=KeyRange(RW | UPDATE),
    history=[("7.0.0", "NX, XX, GT and LT.")],
)
def expire(call: Call) -> Reply:
    """Makes a key expire after some seconds.

    EXPIRE key seconds [NX | XX | GT | LT]
    """
    return _expire(call, b"EX", "expire")


@command(
    "PEXPIRE",
    arity=-3,
    flags=WRITE,
    group="generic",
    since="2.6.0",
    keys=KeyRange(RW | UPDATE),
    history=[("7.0.0", "NX, XX, GT and LT.")],
)
def pexpire(call: Call) -> Reply:
    """Makes a key expire after some milliseconds.

    PEXPIRE key milliseconds [NX | XX | GT | LT]
    """
    return _expire(call, b"PX", "pexpire")


@command(
    "EXPIREAT",
    arity=-3,
    flags=WRITE,
    group="generic",
    since="1.2.0",
    keys=KeyRange(RW | UPDATE),
    history=[("7.0.0", "NX, XX, GT and LT.")],
)
def expireat(call: Call) -> Reply:
    """Lets a key expire at a unix time in seconds.

    EXPIREAT key unix-time-seconds [NX | XX | GT | LT]
    """
    return _expire(call, b"EXAT", "expireat")


@command(
    "PEXPIREAT",
    arity=-3,
    flags=WRITE,
    group="generic",
    since="2.6.0",
    keys=KeyRange(RW | UPDATE),
    history=[("7.0.0", "NX, XX, GT and LT.")],
)
def pexpireat(call: Call) -> Reply:
    """Lets a key expire at a unix time in milliseconds.

    PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]
    """
    return _expire(call, b"PXAT", "pexpireat")


def _expire(call: Call, unit: bytes, name: str) -> Reply:
    key = call.argv[1]
    conditions = _conditions(call.argv[3:]) if len(call.argv) > 3 else None
    when_ms = expire_times.checked_ms(to_int(call.argv[2]), unit, call.now_ms, name)
    if key not in call.db:
        return 0
    if conditions is not None and not _hold(conditions, call.db.expiry(key), when_ms):
        return 0
    expire_times.expire(call.db, key, when_ms, call.now_ms, call.is_replayed())
    return 1


def _conditions(words: list[bytes]) -> set[bytes]:
    """The options of EXPIRE. Raises ErrorReply for an unknown one and for two that contradict."""
    conditions = {word.upper() for word in words}
    for word in words:
        if word.upper() not in CONDITIONS:
            raise ErrorReply("ERR", f"Unsupported option {errors.text_of(word)}")
    if b"NX" in conditions and len(conditions) > 1:
        raise NX_WITH_OTHERS
    if {b"GT", b"LT"} <= conditions:
        raise GT_WITH_LT
    return conditions


def _hold(conditions: set[bytes], old_ms: int, new_ms: int) -> bool:
    """Whether the options allow the change from *old_ms* to *new_ms*. No expiry means never."""
    never = old_ms == NO_EXPIRY
    return not (
        (b"NX" in conditions and not never)
        or (b"XX" in conditions and never)
        or (b"GT" in conditions and (never or new_ms <= old_ms))
        or (b"LT" in conditions and not never and new_ms >= old_ms)
    )


@command(
    "PERSIST", arity=2, flags=WRITE, group="generic", since="2.2.0", keys=KeyRange(RW | UPDATE)
)
def persist(call: Call) -> Reply:
    """Takes a key's time to live away, so that it never expires.

    PERSIST key
    """
    key = call.argv[1]
    if key not in call.db or not call.db.persist(key):
        return 0
    call.db.changed(key, b"persist")
    return 1


# ---------------------------------------------------------------------- TTL


@command(
    "TTL",
    arity=2,
    flags=READ,
    group="generic",
    since="1.0.0",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("2.8.0", "-2 for a key that does not exist.")],
)
def ttl(call: Call) -> Reply:
    """Returns in how many seconds a key expires: -1 for never, -2 for no key.

    TTL key
    """
    return _in_seconds(_left_ms(call))


@command(
    "PTTL",
    arity=2,
    flags=READ,
    group="generic",
    since="2.6.0",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("2.8.0", "-2 for a key that does not exist.")],
)
def pttl(call: Call) -> Reply:
    """Returns in how many milliseconds a key expires: -1 for never, -2 for no key.

    PTTL key
    """
    return _left_ms(call)


@command(
    "EXPIRETIME", arity=2, flags=READ, group="generic", since="7.0.0", keys=KeyRange(RO | ACCESS)
)
def expiretime(call: Call) -> Reply:
    """Returns the unix time in seconds when a key expires: -1 for never, -2 for no key.

    EXPIRETIME key
    """
    return _in_seconds(_expiry_ms(call))


@command(
    "PEXPIRETIME", arity=2, flags=READ, group="generic", since="7.0.0", keys=KeyRange(RO | ACCESS)
)
def pexpiretime(call: Call) -> Reply:
    """Returns the unix time in milliseconds when a key expires: -1 for never, -2 for no key.

    PEXPIRETIME key
    """
    return _expiry_ms(call)


def _expiry_ms(call: Call) -> int:
    key = call.argv[1]
    return NO_KEY if call.db.look_at(key) is None else call.db.expiry(key)


def _left_ms(call: Call) -> int:
    expiry_ms = _expiry_ms(call)
    return expiry_ms if expiry_ms < 0 else expiry_ms - call.now_ms


def _in_seconds(ms: int) -> int:
    """*ms* rounded to the nearest second; negative answers stay as they are."""
    return ms if ms < 0 else (ms + 500) // 1000
