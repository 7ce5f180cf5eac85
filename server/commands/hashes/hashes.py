"""The hash commands on fields by name, and on all fields."""

from __future__ import annotations

from protocol.replies import OK, Reply
from server.commands.hashes import hash_reply, hash_steps, live_fields
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.documentation import Deprecated, Tip
from server.table.keys import ACCESS, DELETE, INSERT, RO, RW, UPDATE, KeyRange
from storage.hashes.hash import NO_FIELDS, Hash

READ = Flags.READONLY
WRITE = Flags.WRITE | Flags.DENYOOM | Flags.FAST


# ---------------------------------------------------------------------- changing


@command(
    "HSET",
    arity=-4,
    flags=WRITE,
    group="hash",
    since="2.0.0",
    complexity="O(1) for each field.",
    keys=KeyRange(RW | UPDATE),
    history=[("4.0.0", "More than one field at a time.")],
)
def hset(call: Call) -> Reply:
    """Sets fields of a hash; returns how many of them are new.

    HSET key field value [field value ...]
    """
    argv = call.argv
    if len(argv) % 2:
        raise errors.wrong_arity("hset")
    return hash_steps.put(call, argv[1], argv, 2)


@command(
    "HMSET",
    arity=-4,
    flags=WRITE,
    group="hash",
    since="2.0.0",
    complexity="O(N) where N is the number of fields being set.",
    keys=KeyRange(RW | UPDATE),
    deprecated=Deprecated("4.0.0", "`HSET` with multiple field-value pairs"),
)
def hmset(call: Call) -> Reply:
    """Sets fields of a hash.

    HMSET key field value [field value ...]
    """
    argv = call.argv
    if len(argv) % 2:
        raise errors.wrong_arity("hmset")
    hash_steps.put(call, argv[1], argv, 2)
    return OK


@command(
    "HSETNX",
    arity=4,
    flags=WRITE,
    group="hash",
    since="2.0.0",
    keys=KeyRange(RW | INSERT),
)
def hsetnx(call: Call) -> Reply:
    """Sets a field of a hash, unless it exists already.

    HSETNX key field value
    """
    argv = call.argv
    value = live_fields.find_hash(call, argv[1], argv[2:3])
    if value is not None and value.has(argv[2]):
        return 0
    hash_steps.put_one(call, argv[1], value, argv[2], argv[3])
    call.db.changed(argv[1], b"hset")
    hash_steps.tell_fields(call, argv[1], b"hset", argv[2:3])
    return 1


@command(
    "HDEL",
    arity=-3,
    flags=Flags.WRITE | Flags.FAST,
    group="hash",
    since="2.0.0",
    complexity="O(N) where N is the number of fields to be removed.",
    keys=KeyRange(RW | DELETE),
    history=[("2.4.0", "More than one field at a time.")],
)
def hdel(call: Call) -> Reply:
    """Removes fields of a hash; returns how many were there. Without fields the key is deleted.

    HDEL key field [field ...]
    """
    key = call.argv[1]
    value: Hash | None = call.db.find(key, Hash)
    if value is None:
        return 0
    removed: int = 0
    gone: list[bytes] = []
    for field in call.argv[2:]:
        if value.remove(field):
            removed += 1
            if call.db.events.tells_fields:
                gone.append(field)
    if removed:
        call.db.changed(key, b"hdel", changes=removed)
        hash_steps.tell_fields(call, key, b"hdel", gone)
        hash_steps.follow_removal(call, key, value)
    return removed


# ---------------------------------------------------------------------- reading


@command(
    "HGET",
    arity=3,
    flags=READ | Flags.FAST,
    group="hash",
    since="2.0.0",
    keys=KeyRange(RO | ACCESS),
)
def hget(call: Call) -> Reply:
    """Returns the value of a field of a hash; null if there is none.

    HGET key field
    """
    argv = call.argv
    value: Hash | None = call.db.read(argv[1], Hash)
    if value is None or (value.timed is not None and _has_expired(call, value)):
        return None
    return value.get(argv[2])


@command(
    "HMGET",
    arity=-3,
    flags=READ | Flags.FAST,
    group="hash",
    since="2.0.0",
    complexity="O(N) where N is the number of fields being requested.",
    keys=KeyRange(RO | ACCESS),
)
def hmget(call: Call) -> Reply:
    """Returns the values of several fields of a hash; null where there is none.

    HMGET key field [field ...]
    """
    argv = call.argv
    value: Hash | None = call.db.read(argv[1], Hash)
    dead = NO_FIELDS
    if value is not None and value.timed is not None:
        dead = live_fields.expire(call, argv[1], value, argv[2:])
    out = call.client.out.another()
    hash_reply.write_values_of(out, value, argv, 2, dead)
    return out


@command(
    "HEXISTS",
    arity=3,
    flags=READ | Flags.FAST,
    group="hash",
    since="2.0.0",
    keys=KeyRange(RO),
)
def hexists(call: Call) -> Reply:
    """Tells whether a hash has a field: 1 or 0.

    HEXISTS key field
    """
    argv = call.argv
    value: Hash | None = call.db.read(argv[1], Hash)
    if value is None or (value.timed is not None and _has_expired(call, value)):
        return 0
    return 1 if value.has(argv[2]) else 0


@command(
    "HSTRLEN",
    arity=3,
    flags=READ | Flags.FAST,
    group="hash",
    since="3.2.0",
    keys=KeyRange(RO),
)
def hstrlen(call: Call) -> Reply:
    """Counts the bytes of the value of a field of a hash; 0 if there is none.

    HSTRLEN key field
    """
    argv = call.argv
    value: Hash | None = call.db.read(argv[1], Hash)
    if value is None or (value.timed is not None and _has_expired(call, value)):
        return 0
    text = value.get(argv[2])
    return 0 if text is None else len(text)


@command("HLEN", arity=2, flags=READ | Flags.FAST, group="hash", since="2.0.0", keys=KeyRange(RO))
def hlen(call: Call) -> Reply:
    """Counts the fields of a hash, expired ones included until they are removed.

    HLEN key
    """
    value: Hash | None = call.db.read(call.argv[1], Hash)
    return 0 if value is None else len(value)


@command(
    "HGETALL",
    arity=2,
    flags=READ,
    group="hash",
    since="2.0.0",
    complexity="O(N) where N is the size of the hash.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def hgetall(call: Call) -> Reply:
    """Returns all fields of a hash and their values.

    HGETALL key
    """
    value: Hash | None = call.db.read(call.argv[1], Hash)
    out = call.client.out.another()
    if value is None:
        out.map(0)
        return out
    dead = live_fields.dead_fields(call, value)
    out.map(len(value) - len(dead))
    hash_reply.write_all(out, value, True, True, dead)
    return out


@command(
    "HKEYS",
    arity=2,
    flags=READ,
    group="hash",
    since="2.0.0",
    complexity="O(N) where N is the size of the hash.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def hkeys(call: Call) -> Reply:
    """Returns all fields of a hash, without their values.

    HKEYS key
    """
    return _one_side(call, fields=True)


@command(
    "HVALS",
    arity=2,
    flags=READ,
    group="hash",
    since="2.0.0",
    complexity="O(N) where N is the size of the hash.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def hvals(call: Call) -> Reply:
    """Returns the values of all fields of a hash.

    HVALS key
    """
    return _one_side(call, fields=False)


def _has_expired(call: Call, value: Hash) -> bool:
    """Whether the field of HGET and its like has expired; it is removed now."""
    key, field = call.argv[1:3]
    return bool(live_fields.expire(call, key, value, (field,)))


def _one_side(call: Call, fields: bool) -> Reply:
    """All fields, or all values."""
    value: Hash | None = call.db.read(call.argv[1], Hash)
    out = call.client.out.another()
    if value is None:
        out.array(0)
        return out
    dead = live_fields.dead_fields(call, value)
    out.array(len(value) - len(dead))
    hash_reply.write_all(out, value, fields, not fields, dead)
    return out
