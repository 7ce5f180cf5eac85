"""DUMP and RESTORE: a value as bytes, for another server or a later time.

The bytes are those of an RDB (see storage/payload.py), so that a redis-server takes them, and
they may come from one. They are always checked whole: sanitize-dump-payload is yes for everybody.
"""

from __future__ import annotations

from typing import NamedTuple

from protocol.replies import OK, ErrorReply, Reply
from server.commands.shared import side_rights
from server.dispatch.call import Call
from server.table import errors
from server.table.args import INT64_MAX, Args, to_int
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, OW, RO, UPDATE, KeyRange
from storage import payload, types
from storage.keyspace.key_lookups import ANY
from storage.rdb.options import ReadOptions

WRITE = Flags.WRITE | Flags.DENYOOM

BUSY_KEY = ErrorReply("BUSYKEY", "Target key name already exists.")
BAD_TTL = ErrorReply("ERR", "Invalid TTL value, must be >= 0")
BAD_IDLE_TIME = ErrorReply("ERR", "Invalid IDLETIME value, must be >= 0")
BAD_FREQUENCY = ErrorReply("ERR", "Invalid FREQ value, must be >= 0 and <= 255")

MOST_FREQUENT = 255
UNKNOWN = -1


@command(
    "DUMP",
    arity=2,
    flags=Flags.READONLY,
    group="generic",
    since="2.6.0",
    complexity="O(N) where N is the size of the value.",
    keys=KeyRange(RO | ACCESS),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def dump(call: Call) -> Reply:
    """Returns the value at a key in the form that RESTORE takes.

    DUMP key
    """
    key = call.argv[1]
    value = call.db.read(key, ANY)
    if value is None:
        return None
    return payload.dump(value, call.server.config.write_options(), call.db.side.get(key))


@command(
    "RESTORE",
    arity=-4,
    flags=WRITE,
    group="generic",
    since="2.6.0",
    complexity="O(N) where N is the size of the value.",
    keys=KeyRange(OW | UPDATE),
    categories=["keyspace", "dangerous"],
    history=[
        ("3.0.0", "REPLACE."),
        ("5.0.0", "ABSTTL, IDLETIME and FREQ."),
    ],
)
def restore(call: Call) -> Reply:
    """Creates a key from the bytes that DUMP returned, with a time to live.

    RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]
    """
    key = call.argv[1]
    options = _options(Args(call.argv, 4))
    if not options.replace and key in call.db:
        raise BUSY_KEY
    ttl = to_int(call.argv[2])
    if ttl < 0:
        raise BAD_TTL
    config = call.server.config
    reading = ReadOptions(
        config.rdbchecksum and not call.is_replayed(),
        config.list_max_listpack_size,
        config.switches.checksums and not call.is_replayed(),
        call.server.node_limits.hash,
        config.set_limits,
        call.server.node_limits.sorted_set,
    )
    value, side = payload.restore_all(call.argv[3], reading)
    side_rights.check_rights(call, side)
    when_ms = ttl if options.is_absolute else min(ttl + call.now_ms, INT64_MAX)
    if ttl and when_ms <= call.now_ms and not call.is_replayed():
        _delete(call, key)
        return OK
    replaced = call.db.replace(key, value)
    call.db.put_side(key, side)
    call.db.expire_fields_at(key, types.of(value).first_field_expiry(value))
    if options.idle_s != UNKNOWN or options.frequency != UNKNOWN:
        call.db.set_usage(key, options.idle_s, options.frequency)
    if ttl:
        call.db.expire_at(key, when_ms)
    log: tuple[bytes, ...] | None = None
    if ttl and not options.is_absolute:
        log = (call.argv[0], key, b"%d" % when_ms, *call.argv[3:], b"ABSTTL")
    call.db.changed(key, b"restore", changes=1, log=log)
    call.db.tell_replaced(key, replaced)
    return OK


@command(
    "RESTORE-ASKING",
    arity=-4,
    flags=WRITE | Flags.ASKING,
    group="server",
    since="3.0.0",
    complexity="O(N) where N is the size of the value.",
    keys=KeyRange(OW | UPDATE),
    categories=["keyspace", "dangerous"],
    history=[
        ("3.0.0", "REPLACE."),
        ("5.0.0", "ABSTTL, IDLETIME and FREQ."),
    ],
)
def restore_asking(call: Call) -> Reply:
    """Does what RESTORE does; nodes of a cluster use this name.

    RESTORE-ASKING key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]
    """
    return restore(call)


class Options(NamedTuple):
    """The options of RESTORE."""

    replace: bool
    is_absolute: bool  # the time to live is a unix time in ms
    idle_s: int  # for how long the key counts as unused, or UNKNOWN
    frequency: int  # what the key's counter of uses becomes under an LFU policy, or UNKNOWN


def _options(args: Args) -> Options:
    idle_s = frequency = UNKNOWN
    replace = is_absolute = False
    while args.left():
        if args.take_word(b"REPLACE"):
            replace = True
        elif args.take_word(b"ABSTTL"):
            is_absolute = True
        elif args.left() > 1 and frequency == UNKNOWN and args.take_word(b"IDLETIME"):
            idle_s = args.take_int()
            if idle_s < 0:
                raise BAD_IDLE_TIME
        elif args.left() > 1 and idle_s == UNKNOWN and args.take_word(b"FREQ"):
            frequency = args.take_int()
            if not 0 <= frequency <= MOST_FREQUENT:
                raise BAD_FREQUENCY
        else:
            raise errors.SYNTAX
    return Options(replace, is_absolute, idle_s, frequency)


def _delete(call: Call, key: bytes) -> None:
    """Delete the key that would be replaced: the value to restore has expired already."""
    if call.db.remove(key):
        call.db.changed(key, b"del", changes=1, log=(b"DEL", key))
