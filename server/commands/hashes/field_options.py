"""HGETDEL, HGETEX and HSETEX: read or set fields, and what becomes of them then."""

from __future__ import annotations

from protocol.replies import Reply
from server.commands.hashes import hash_steps, live_fields
from server.commands.hashes.field_args import OF_ANOTHER, FieldArgs
from server.commands.hashes.time_steps import (
    NOT_A_COUNT,
    fields_at,
    has_passed,
    set_time,
    tell,
)
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import ACCESS, DELETE, RW, UPDATE, KeyRange
from storage.hashes.hash import Hash
from storage.hashes.timed_fields import NO_EXPIRY

FNX, FXX, KEEPTTL = b"FNX", b"FXX", b"KEEPTTL"


@command(
    "HGETDEL",
    arity=-5,
    flags=Flags.WRITE | Flags.FAST,
    group="hash",
    since="8.0.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | ACCESS | DELETE),
)
def hgetdel(call: Call) -> Reply:
    """Returns the values of fields of a hash and removes them. Without fields the key is deleted.

    HGETDEL key FIELDS numfields field [field ...]
    """
    key = call.argv[1]
    call.db.find(key, Hash)
    fields = fields_at(call.argv, 2, NOT_A_COUNT)
    value = live_fields.find_hash(call, key, fields)
    if value is None:
        return [None] * len(fields)
    replies: list[Reply] = []
    removed: list[bytes] = []
    for field in fields:
        replies.append(value.get(field))
        if value.remove(field):
            removed.append(field)
    if removed:
        call.db.changed(key, b"hdel", changes=len(removed), log=(b"HDEL", key, *removed))
        hash_steps.tell_fields(call, key, b"hdel", removed)
        hash_steps.follow_removal(call, key, value)
    return replies


@command(
    "HGETEX",
    arity=-5,
    flags=Flags.WRITE | Flags.FAST,
    group="hash",
    since="8.0.0",
    complexity="O(N) where N is the number of specified fields.",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def hgetex(call: Call) -> Reply:
    """Returns the values of fields of a hash and changes their times to live.

    HGETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds |
    PXAT unix-time-milliseconds | PERSIST] FIELDS numfields field [field ...]
    """
    key = call.argv[1]
    call.db.find(key, Hash)
    options = FieldArgs(call, "hgetex", 1)
    if options.condition is not None or options.keeps_time:
        raise OF_ANOTHER
    when_ms, persists, fields = options.when_ms, options.persists, options.words or []
    value = live_fields.find_hash(call, key, fields)
    if value is None:
        return [None] * len(fields)
    if persists or when_ms != NO_EXPIRY:
        value.as_timed()
    replies: list[Reply] = []
    changed: list[bytes] = []
    for field in fields:
        text = value.get(field)
        replies.append(text)
        if text is not None and when_ms != NO_EXPIRY:
            set_time(value, field, when_ms, has_passed(call, when_ms))
            changed.append(field)
        elif persists and value.expiry(field) != NO_EXPIRY:
            value.expire_at(field, NO_EXPIRY)
            changed.append(field)
    if persists and changed:
        call.db.expire_fields_at(key, value.next_expiry())
        log = (b"HPERSIST", key, b"FIELDS", b"%d" % len(changed), *changed)
        call.db.changed(key, b"hpersist", changes=len(changed), log=log)
        hash_steps.tell_fields(call, key, b"hpersist", changed)
    else:
        tell(call, key, value, changed, when_ms)
    return replies


# ---------------------------------------------------------------------- HSETEX


@command(
    "HSETEX",
    arity=-6,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.FAST,
    group="hash",
    since="8.0.0",
    complexity="O(N) where N is the number of fields being set.",
    keys=KeyRange(RW | UPDATE),
)
def hsetex(call: Call) -> Reply:
    """Sets fields of a hash with a time to live, if none or all of them are there.

    HSETEX key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds |
    PXAT unix-time-milliseconds | KEEPTTL] FIELDS numfields field value [field value ...]
    """
    key = call.argv[1]
    options = FieldArgs(call, "hsetex", 2)
    if options.persists:
        raise OF_ANOTHER
    words = options.words or []
    value: Hash | None = call.db.find(key, Hash)
    fields = words[::2]
    if options.condition and not _holds(call, key, value, fields, options.condition):
        return 0
    if options.keeps_time and value is not None:
        _put_keeping_times(call, key, value, words)
        return 1
    hash_steps.put(call, key, words, 0, (b"HSET", key, *words))
    if options.when_ms != NO_EXPIRY:
        _expire(call, key, fields, options.when_ms)
    return 1


def _holds(
    call: Call, key: bytes, value: Hash | None, fields: list[bytes], condition: bytes
) -> bool:
    """Whether none of *fields* is there (FNX), or all are (FXX).

    They are looked at in turn, up to the first that breaks the condition. Those of them that have
    expired are removed.
    """
    seen: list[bytes] = []
    holds = True
    for field in fields:
        seen.append(field)
        if live_fields.has(call, value, field) != (condition == FXX):
            holds = False
            break
    if value is not None:
        live_fields.expire(call, key, value, seen, condition == FNX)
    return holds


def _put_keeping_times(call: Call, key: bytes, value: Hash, words: list[bytes]) -> None:
    limits = call.server.node_limits.hash
    for at in range(0, len(words), 2):
        value.set_keeping_time(words[at], words[at + 1], limits)
    count = len(words) // 2
    log = (b"HSETEX", key, KEEPTTL, b"FIELDS", b"%d" % count, *words)
    call.db.changed(key, b"hset", changes=count, log=log)
    hash_steps.tell_fields(call, key, b"hset", words[::2])


def _expire(call: Call, key: bytes, fields: list[bytes], when_ms: int) -> None:
    """Let *fields* of the hash at *key*, which were set, expire at *when_ms*."""
    value: Hash | None = call.db.find(key, Hash)
    assert value is not None
    value.as_timed()
    named = list(dict.fromkeys(fields))
    for field in named:
        set_time(value, field, when_ms, has_passed(call, when_ms))
    tell(call, key, value, named, when_ms)
