"""The string commands.

A string is bytes, bytearray or int; see storage/keyspace/keyspace.py. The answer is always bytes.
"""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.dispatch.expire_times import UNITS, absolute_ms, expire
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Deprecated, Tip
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
from storage import allocation
from storage.keyspace.keyspace import NO_EXPIRY, String

READ = Flags.READONLY | Flags.FAST
WRITE = Flags.WRITE | Flags.DENYOOM

OFFSET_OUT_OF_RANGE = ErrorReply("ERR", "offset is out of range")


def text_of(value: String) -> bytes:
    """The bytes that a client sees."""
    if type(value) is bytes:
        return value
    return b"%d" % value if type(value) is int else bytes(value)


def length_of(value: String) -> int:
    """The number of bytes that a client sees."""
    return len(b"%d" % value) if type(value) is int else len(value)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- GET and SET


@command("GET", arity=2, flags=READ, group="string", since="1.0.0", keys=KeyRange(RO | ACCESS))
def get(call: Call) -> Reply:
    """Returns the string at a key; null if there is no key.

    GET key
    """
    value = call.db.read_string(call.argv[1])
    return value if value is None or type(value) is bytes else text_of(value)


def _set_keys(argv: list[bytes]) -> list[KeyUse]:
    """The key of SET, which reads the old value only if the option GET is there."""
    gets = b"GET" in [word.upper() for word in argv[3:]]
    return [KeyUse(argv[1], RW | ACCESS | UPDATE if gets else OW | UPDATE)]


@command(
    "SET",
    arity=-3,
    flags=WRITE,
    group="string",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE | VARIABLE_FLAGS),
    get_keys=_set_keys,
    history=[
        ("2.6.12", "EX, PX, NX and XX."),
        ("6.0.0", "KEEPTTL."),
        ("6.2.0", "GET, EXAT and PXAT."),
        ("7.0.0", "NX together with GET."),
    ],
)
def set_(call: Call) -> Reply:
    """Stores a string at a key, whatever was there before.

    SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds |
    PXAT unix-time-milliseconds | KEEPTTL]
    """
    argv = call.argv
    if len(argv) == 3:
        _put(call, argv[1], argv[2])
        return OK
    return _set_with_options(call)


def _set_with_options(call: Call) -> Reply:
    key, value = call.argv[1], call.argv[2]
    condition, want_old, keep, unit, duration = _set_options(call.argv)
    when_ms = absolute_ms(duration, unit, call.now_ms, "set") if unit else NO_EXPIRY
    old = call.db.read_string(key) if want_old else None
    answer = None if old is None else text_of(old)
    if condition is not None and (condition == b"XX") != (key in call.db):
        return answer
    _store(call, key, value, when_ms, keep)
    if not want_old:
        return OK
    if not unit:
        rest = [word for word in call.argv[3:] if word.upper() != b"GET"]
        call.log_as(b"SET", key, value, *rest)
    return answer


def _set_options(argv: list[bytes]) -> tuple[bytes | None, bool, bool, bytes, bytes]:
    """Condition (NX, XX or None), GET, KEEPTTL, and the expiry: its unit (or nothing), its text."""
    args = Args(argv, 3)
    condition, want_old, keep, unit, duration = None, False, False, b"", b""
    while args.left:
        word = args.take_word(b"NX", b"XX", b"GET", b"KEEPTTL", *UNITS)
        if word in (b"NX", b"XX") and condition in (None, word):
            condition = word
        elif word == b"GET":
            want_old = True
        elif word == b"KEEPTTL" and not unit:
            keep = True
        elif word in UNITS and unit in (b"", word) and not keep and args.left:
            unit, duration = word, args.take()
        else:
            raise errors.SYNTAX
    return condition, want_old, keep, unit, duration


def _store(call: Call, key: bytes, value: bytes, when_ms: int, keep: bool = False) -> None:
    """Put *value* at *key*, until *when_ms* if that is not NO_EXPIRY."""
    db = call.db
    db.put(key, value, keep)
    db.changed(key, b"set")
    if when_ms != NO_EXPIRY:
        db.expire_at(key, when_ms)
        db.changed(key, b"expire", 0, (b"SET", key, value, b"PXAT", b"%d" % when_ms))


def _put(call: Call, key: bytes, value: bytes) -> None:
    """Put *value* at *key*, for ever."""
    call.db.put(key, value)
    call.db.changed(key, b"set")


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
    _put(call, key, value)
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
    old = call.db.read_string(key)
    _put(call, key, value)
    call.log_as(b"SET", key, value)
    return None if old is None else text_of(old)


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
    value = call.db.read_string(key)
    if value is None:
        return None
    call.db.remove(key)
    call.db.changed(key, b"del", 1, (b"DEL", key))
    return text_of(value)


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
    value = call.db.read_string(key)
    if value is None:
        return None
    if unit == b"PERSIST":
        _persist(call, key)
    elif unit:
        expire(call, key, absolute_ms(duration, unit, call.now_ms, "getex"))
    return text_of(value)


def _getex_options(argv: list[bytes]) -> tuple[bytes, bytes]:
    """The option (a unit, PERSIST or nothing) and its argument."""
    args = Args(argv, 2)
    unit, duration = b"", b""
    while args.left:
        word = args.take_word(b"PERSIST", *UNITS)
        if word is None or unit not in (b"", word):
            raise errors.SYNTAX
        unit = word
        if word != b"PERSIST":
            duration = args.take()
    return unit, duration


def _persist(call: Call, key: bytes) -> None:
    if call.db.persist(key):
        call.db.changed(key, b"persist", 1, (b"PERSIST", key))


# ---------------------------------------------------------------------- many keys


@command(
    "MGET",
    arity=-2,
    flags=READ,
    group="string",
    since="1.0.0",
    complexity="O(N) where N is the number of keys to retrieve.",
    keys=KeyRange(RO | ACCESS, last=-1),
    tips=[Tip.REQUEST_MULTI_SHARD],
)
def mget(call: Call) -> Reply:
    """Returns the strings at several keys; null where there is none.

    MGET key [key ...]
    """
    out = call.client.out.another()
    out.array(len(call.argv) - 1)
    for key in call.argv[1:]:
        value = call.db.read_any(key)
        is_string = type(value) in (bytes, bytearray, int)
        out.write(text_of(value) if is_string else None)
    return out


@command(
    "MSET",
    arity=-3,
    flags=WRITE,
    group="string",
    since="1.0.1",
    complexity="O(N) where N is the number of keys to set.",
    keys=KeyRange(OW | UPDATE, last=-1, step=2),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_ALL_SUCCEEDED],
)
def mset(call: Call) -> Reply:
    """Stores strings at several keys.

    MSET key value [key value ...]
    """
    for key, value in _pairs(call, "mset"):
        _put(call, key, value)
    return OK


@command(
    "MSETNX",
    arity=-3,
    flags=WRITE,
    group="string",
    since="1.0.1",
    complexity="O(N) where N is the number of keys to set.",
    keys=KeyRange(OW | INSERT, last=-1, step=2),
)
def msetnx(call: Call) -> Reply:
    """Stores strings at several keys if none of the keys exists.

    MSETNX key value [key value ...]
    """
    pairs = _pairs(call, "msetnx")
    if any(key in call.db for key, _ in pairs):
        return 0
    for key, value in pairs:
        _put(call, key, value)
    return 1


def _pairs(call: Call, name: str) -> list[tuple[bytes, bytes]]:
    words = call.argv[1:]
    if len(words) % 2:
        raise errors.wrong_arity(name)
    return list(zip(words[::2], words[1::2], strict=True))


# ---------------------------------------------------------------------- parts of a string


@command("STRLEN", arity=2, flags=READ, group="string", since="2.2.0", keys=KeyRange(RO))
def strlen(call: Call) -> Reply:
    """Counts the bytes of a string.

    STRLEN key
    """
    value = call.db.read_string(call.argv[1])
    return 0 if value is None else length_of(value)


@command(
    "APPEND",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="2.0.0",
    keys=KeyRange(RW | INSERT),
)
def append(call: Call) -> Reply:
    """Adds bytes to the end of a string; a missing key is an empty string.

    APPEND key value
    """
    _, key, suffix = call.argv
    value = call.db.find_string(key)
    if value is None:
        call.db.add(key, suffix)
        call.db.changed(key, b"append")
        return len(suffix)
    raw = _raw(call, value, len(suffix))
    before = allocation.of_string(raw)
    raw += suffix
    call.db.store_string(key, raw, allocation.of_string(raw) - before if raw is value else 0)
    call.db.changed(key, b"append")
    return len(raw)


@command(
    "SETRANGE",
    arity=4,
    flags=WRITE,
    group="string",
    since="2.2.0",
    complexity="O(M) where M is the length of the value argument.",
    keys=KeyRange(RW | UPDATE),
)
def setrange(call: Call) -> Reply:
    """Overwrites bytes of a string from an offset on; the string grows as needed.

    SETRANGE key offset value
    """
    _, key, offset_text, patch = call.argv
    offset = to_int(offset_text)
    if offset < 0:
        raise OFFSET_OUT_OF_RANGE
    value = call.db.find_string(key)
    if not patch:
        return 0 if value is None else length_of(value)
    if offset + len(patch) > call.server.config.proto_max_bulk_len:
        raise errors.STRING_TOO_LARGE
    raw = bytearray() if value is None else _raw(call, value, 0)
    before = allocation.of_string(raw)
    if len(raw) < offset:
        raw.extend(bytes(offset - len(raw)))
    raw[offset : offset + len(patch)] = patch
    if value is None:
        call.db.add(key, raw)
    else:
        call.db.store_string(key, raw, allocation.of_string(raw) - before if raw is value else 0)
    call.db.changed(key, b"setrange")
    return len(raw)


def _raw(call: Call, value: String, growth: int) -> bytearray:
    """*value* in the form that grows in place. Raises STRING_TOO_LARGE before memory is taken."""
    raw = value if type(value) is bytearray else bytearray(text_of(value))
    if len(raw) + growth > call.server.config.proto_max_bulk_len:
        raise errors.STRING_TOO_LARGE
    return raw


@command(
    "GETRANGE",
    arity=4,
    flags=Flags.READONLY,
    group="string",
    since="2.4.0",
    complexity="O(N) where N is the length of the returned string.",
    keys=KeyRange(RO | ACCESS),
)
def getrange(call: Call) -> Reply:
    """Returns the bytes of a string between two offsets, both included.

    GETRANGE key start end
    """
    _, key, start_text, end_text = call.argv
    start, end = to_int(start_text), to_int(end_text)
    value = call.db.read_string(key)
    if value is None:
        return b""
    if start < 0 and end < 0 and start > end:
        return b""
    size = length_of(value)
    start = max(start + size, 0) if start < 0 else min(start, size)
    end = max(end + size, 0) if end < 0 else end
    if type(value) is bytearray:  # it is not copied whole
        with memoryview(value) as whole, whole[start : end + 1] as part:
            return bytes(part)
    return text_of(value)[start : end + 1]


@command(
    "SUBSTR",
    arity=4,
    flags=Flags.READONLY,
    group="string",
    since="1.0.0",
    complexity="O(N) where N is the length of the returned string.",
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("2.0.0", "`GETRANGE`"),
)
def substr(call: Call) -> Reply:
    """Does what GETRANGE does; this is its old name.

    SUBSTR key start end
    """
    return getrange(call)


# ---------------------------------------------------------------------- numbers
