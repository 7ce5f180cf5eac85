"""The string commands of one key and its whole value: GET, SET and their relatives."""

from __future__ import annotations

from protocol.replies import OK, Reply
from server.commands.strings import conditions, put_options, string_steps
from server.commands.strings.put_options import PutOptions
from server.dispatch.call import Call
from server.parts.expiry.expire_times import UNITS, absolute_ms, expire
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Deprecated
from server.table.keys import (
    ACCESS,
    DELETE,
    INSERT,
    OW,
    RO,
    RW,
    UPDATE,
    VARIABLE_FLAGS,
    KeyRange,
    KeyUse,
)
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_lookups import STRING

READ = Flags.READONLY | Flags.FAST
WRITE = Flags.WRITE | Flags.DENYOOM


@command("GET", arity=2, flags=READ, group="string", since="1.0.0", keys=KeyRange(RO | ACCESS))
def get(call: Call) -> Reply:
    """Returns the string at a key; null if there is no key.

    GET key
    """
    value = call.db.read(call.argv[1], STRING)
    return value if value is None or type(value) is bytes else string_steps.text_of(value)


def _set_keys(argv: list[bytes]) -> list[KeyUse]:
    """The key of SET: its old value is read if GET is there, and compared if a condition is."""
    words = [word.upper() for word in argv[3:]]
    if b"GET" in words:
        return [KeyUse(argv[1], RW | ACCESS | UPDATE)]
    compares = any(word in conditions.CONDITIONS for word in words)
    return [KeyUse(argv[1], RW | UPDATE if compares else OW | UPDATE)]


@command(
    "SET",
    arity=-3,
    flags=WRITE,
    group="string",
    since="1.0.0",
    complexity="O(1); O(N) with IFDEQ and IFDNE, where N is the length of the old string.",
    keys=KeyRange(RW | ACCESS | UPDATE | VARIABLE_FLAGS),
    get_keys=_set_keys,
    history=[
        ("2.6.12", "EX, PX, NX and XX."),
        ("6.0.0", "KEEPTTL."),
        ("6.2.0", "GET, EXAT and PXAT."),
        ("7.0.0", "NX together with GET."),
        ("8.4.0", "IFEQ, IFNE, IFDEQ and IFDNE."),
    ],
)
def set_(call: Call) -> Reply:
    """Stores a string at a key, whatever was there before.

    SET key value [NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest |
    IFDNE ifdne-digest] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds |
    PXAT unix-time-milliseconds | KEEPTTL]
    """
    argv = call.argv
    if len(argv) == 3:
        string_steps.put(call, argv[1], argv[2])
        return OK
    return _set_with_options(call)


def _set_with_options(call: Call) -> Reply:
    key, value = call.argv[1], call.argv[2]
    options: PutOptions = put_options.of_set(call.argv)
    when_ms = options.when_ms(call.now_ms, "set")
    old = call.db.read(key, STRING) if options.gets else None
    answer = None if old is None else string_steps.text_of(old)
    condition = options.condition
    if condition is None:
        pass
    elif options.operand is None:
        if (condition == put_options.XX) != (key in call.db):
            return answer
    else:
        if not options.gets:
            old = call.db.find(key, STRING)
        if not conditions.holds(old, condition, options.operand):
            return answer
    log = None
    if call.is_logged and when_ms == NO_EXPIRY and (options.gets or options.operand is not None):
        log = [b"SET", key, value]  # what has done its work is not logged
        if options.operand is None:
            log += [word for word in call.argv[3:] if word.upper() != b"GET"]
        elif options.keeps:
            log.append(b"KEEPTTL")
    _store(call, key, value, when_ms, options.keeps, log)
    return answer if options.gets else OK


def _store(
    call: Call,
    key: bytes,
    value: bytes,
    when_ms: int,
    keep: bool = False,
    log: list[bytes] | None = None,
) -> None:
    """Put *value* at *key*, until *when_ms* if that is not NO_EXPIRY; *log* is as in changed."""
    db = call.db
    db.put(key, value, keep or when_ms != NO_EXPIRY)  # whose old expiry is replaced
    db.changed(key, b"set", changes=1, log=log)
    if when_ms != NO_EXPIRY:
        db.expire_at(key, when_ms)
        db.changed(key, b"expire", changes=0, log=(b"SET", key, value, b"PXAT", b"%d" % when_ms))


@command(
    "SETNX",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="1.0.0",
    keys=KeyRange(OW | INSERT),
    deprecated=Deprecated("2.6.12", "`SET` with the `NX` argument"),
)
def setnx(call: Call) -> Reply:
    """Stores a string at a key that does not exist yet.

    SETNX key value
    """
    _, key, value = call.argv
    if key in call.db:
        return 0
    string_steps.put(call, key, value)
    return 1


@command(
    "SETEX",
    arity=4,
    flags=WRITE,
    group="string",
    since="2.0.0",
    keys=KeyRange(OW | UPDATE),
    deprecated=Deprecated("2.6.12", "`SET` with the `EX` argument"),
)
def setex(call: Call) -> Reply:
    """Stores a string at a key with a time to live in seconds.

    SETEX key seconds value
    """
    return _set_for(call, b"EX", "setex")


@command(
    "PSETEX",
    arity=4,
    flags=WRITE,
    group="string",
    since="2.6.0",
    keys=KeyRange(OW | UPDATE),
    deprecated=Deprecated("2.6.12", "`SET` with the `PX` argument"),
)
def psetex(call: Call) -> Reply:
    """Stores a string at a key with a time to live in milliseconds.

    PSETEX key milliseconds value
    """
    return _set_for(call, b"PX", "psetex")


def _set_for(call: Call, unit: bytes, name: str) -> Reply:
    _, key, duration, value = call.argv
    _store(call, key, value, absolute_ms(duration, unit, call.now_ms, name))
    return OK


@command(
    "GETSET",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
    deprecated=Deprecated("6.2.0", "`SET` with the `GET` argument"),
)
def getset(call: Call) -> Reply:
    """Stores a string at a key and returns the one it replaces.

    GETSET key value
    """
    _, key, value = call.argv
    old = call.db.read(key, STRING)
    call.db.put(key, value)
    call.db.changed(key, b"set", changes=1, log=(b"SET", key, value))
    return None if old is None else string_steps.text_of(old)


@command(
    "GETDEL",
    arity=2,
    flags=Flags.WRITE | Flags.FAST,
    group="string",
    since="6.2.0",
    keys=KeyRange(RW | ACCESS | DELETE),
)
def getdel(call: Call) -> Reply:
    """Returns the string at a key and removes the key.

    GETDEL key
    """
    key = call.argv[1]
    value = call.db.read(key, STRING)
    if value is None:
        return None
    call.db.remove(key)
    call.db.changed(key, b"del", changes=1, log=(b"DEL", key))
    return string_steps.text_of(value)


@command(
    "GETEX",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="string",
    since="6.2.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def getex(call: Call) -> Reply:
    """Returns the string at a key and changes its time to live.

    GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds |
    PXAT unix-time-milliseconds | PERSIST]
    """
    key = call.argv[1]
    unit, duration = _getex_options(call.argv)
    value = call.db.read(key, STRING)
    if value is None:
        return None
    if unit == b"PERSIST":
        if call.db.persist(key):
            call.db.changed(key, b"persist", changes=1, log=(b"PERSIST", key))
    elif unit:
        when_ms = absolute_ms(duration, unit, call.now_ms, "getex")
        expire(call.db, key, when_ms, call.now_ms, call.is_replayed())
    return string_steps.text_of(value)


def _getex_options(argv: list[bytes]) -> tuple[bytes, bytes]:
    """The option (a unit, PERSIST or nothing) and its argument."""
    args = Args(argv, 2)
    unit, duration = b"", b""
    while args.left():
        word = args.take_word(b"PERSIST", *UNITS)
        if word is None or unit not in (b"", word):
            raise errors.SYNTAX
        unit = word
        if word != b"PERSIST":
            duration = args.take()
    return unit, duration
