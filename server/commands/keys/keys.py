"""Commands on keys of whatever type: DEL, EXISTS, TYPE, RENAME, COPY, MOVE and their like."""

from __future__ import annotations

from protocol.replies import OK, Reply, Status
from server.commands.shared import side_rights
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_db_index
from server.table.command import Flags, command
from server.table.documentation import Tip
from server.table.keys import ACCESS, DELETE, INSERT, OW, RM, RO, RW, UPDATE, KeyRange
from storage import types
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from storage.side_data.side_data import SideData

NO_TYPE = Status(b"none")


# ---------------------------------------------------------------------- one after the other


@command(
    "DEL",
    arity=-2,
    flags=Flags.WRITE,
    group="generic",
    since="1.0.0",
    complexity="O(N) where N is the number of keys.",
    keys=KeyRange(RM | DELETE, last=-1),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_AGG_SUM],
)
def del_(call: Call) -> Reply:
    """Removes keys; returns how many of them existed.

    DEL key [key ...]
    """
    return _remove(call, call.server.config.lazyfree_lazy_user_del)


def _remove(call: Call, lazily: bool) -> int:
    """Remove the keys, and say how many there were.

    *lazily*: Redis would free large values in another thread. Here they are freed at once, but
    counted as Redis counts them. A large schedule is freed in slices, by cron.
    """
    db = call.db
    removed = 0
    for key in call.argv[1:]:
        if key in db:
            if lazily:
                call.server.events.freeing.note(db.peek(key))
            if db.side:
                db.doom(key)
            db.remove(key)
            db.changed(key, b"del")
            removed += 1
    return removed


@command(
    "UNLINK",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="generic",
    since="4.0.0",
    complexity="O(N) where N is the number of keys.",
    keys=KeyRange(RM | DELETE, last=-1),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_AGG_SUM],
)
def unlink(call: Call) -> Reply:
    """Does what DEL does.

    UNLINK key [key ...]
    """
    return _remove(call, True)


@command(
    "EXISTS",
    arity=-2,
    flags=Flags.READONLY | Flags.FAST,
    group="generic",
    since="1.0.0",
    complexity="O(N) where N is the number of keys.",
    keys=KeyRange(RO, last=-1),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_AGG_SUM],
    history=[("3.0.3", "More than one key at a time.")],
)
def exists(call: Call) -> Reply:
    """Counts how many of the keys exist; a key named twice counts twice.

    EXISTS key [key ...]
    """
    db = call.db
    found = 0
    for key in call.argv[1:]:
        if db.look_at(key) is not None:
            found += 1
    return found


@command(
    "TOUCH",
    arity=-2,
    flags=Flags.READONLY | Flags.FAST,
    group="generic",
    since="3.2.1",
    complexity="O(N) where N is the number of keys.",
    keys=KeyRange(RO, last=-1),
    tips=[Tip.REQUEST_MULTI_SHARD, Tip.RESPONSE_AGG_SUM],
)
def touch(call: Call) -> Reply:
    """Counts how many of the keys exist, and resets their idle time.

    TOUCH key [key ...]
    """
    lookup = call.server.events.lookup
    lookup.no_touch = lookup.by_writes  # TOUCH counts as a use in spite of CLIENT NO-TOUCH
    found = 0
    for key in call.argv[1:]:
        if call.db.read(key, ANY) is not None:
            found += 1
    return found


@command(
    "TYPE",
    arity=2,
    flags=Flags.READONLY | Flags.FAST,
    group="generic",
    since="1.0.0",
    keys=KeyRange(RO),
)
def type_(call: Call) -> Reply:
    """Returns the name of the type of a key's value.

    TYPE key
    """
    value = call.db.look_at(call.argv[1])
    return NO_TYPE if value is None else Status(types.of(value).name)


# ---------------------------------------------------------------------- from key to key


@command(
    "RENAME",
    arity=3,
    flags=Flags.WRITE,
    group="generic",
    since="1.0.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(OW | UPDATE, first=2)),
    history=[("3.2.0", "Both names may be the same.")],
)
def rename(call: Call) -> Reply:
    """Gives a key another name; a key that had this name before is removed.

    RENAME key newkey
    """
    _, source, target = call.argv
    if source not in call.db:
        raise errors.NO_SUCH_KEY
    if source != target:
        _rename(call.db, source, target)
    return OK


@command(
    "RENAMENX",
    arity=3,
    flags=Flags.WRITE | Flags.FAST,
    group="generic",
    since="1.0.0",
    keys=(KeyRange(RW | ACCESS | DELETE), KeyRange(OW | INSERT, first=2)),
    history=[("3.2.0", "Both names may be the same.")],
)
def renamenx(call: Call) -> Reply:
    """Gives a key another name, unless another key has it.

    RENAMENX key newkey
    """
    _, source, target = call.argv
    if source not in call.db:
        raise errors.NO_SUCH_KEY
    if target in call.db:
        return 0
    _rename(call.db, source, target)
    return 1


def _rename(db: Keyspace, source: bytes, target: bytes) -> None:
    """Move the value at *source* to *target*. Waiting clients wake in the order of redis."""
    value = db.find(source, ANY)
    replaced = _put_with_expiry(db, target, value, db.expiry(source), db.side.get(source))
    db.remove(source)
    db.changed(source, b"rename_from", changes=0)
    db.changed(target, b"rename_to")
    db.tell_replaced(target, replaced)


def _put_with_expiry(
    db: Keyspace, key: bytes, value: object, expiry_ms: int, side: SideData | None
) -> int:
    """Returns what replace() does."""
    replaced = db.replace(key, value)
    db.put_side(key, side)
    db.expire_fields_at(key, types.of(value).first_field_expiry(value))
    if expiry_ms != NO_EXPIRY:
        db.expire_at(key, expiry_ms)
    return replaced


@command(
    "COPY",
    arity=-3,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.READS_OTHERS,
    group="generic",
    since="6.2.0",
    complexity="O(N) where N is the number of elements of the value; O(1) for strings.",
    keys=(KeyRange(RO | ACCESS), KeyRange(OW | UPDATE, first=2)),
)
def copy(call: Call) -> Reply:
    """Copies a value and its time to live to another key.

    COPY source destination [DB destination-db] [REPLACE]
    """
    source, target = call.argv[1:3]
    db, replace = _copy_options(call)
    if db is call.db and source == target:
        raise errors.SAME_OBJECT
    value = call.db.read(source, ANY)
    if value is None or (target in db and not replace):
        return 0
    side = call.db.side.get(source)
    side_rights.check_rights(call, side)
    copied = None if side is None else side.copy()
    twin = types.of(value).copy(value)
    replaced = _put_with_expiry(db, target, twin, call.db.expiry(source), copied)
    db.changed(target, b"copy_to")
    db.tell_replaced(target, replaced)
    return 1


def _copy_options(call: Call) -> tuple[Keyspace, bool]:
    """Where to copy to, and whether a key there may be replaced."""
    databases = call.server.databases
    args = Args(call.argv, 3)
    db, replace = call.db, False
    while args.left():
        if args.take_word(b"REPLACE"):
            replace = True
        elif args.take_word(b"DB"):
            db = databases[to_db_index(args.take(), len(databases))]
        else:
            raise errors.SYNTAX
    return db, replace


@command(
    "MOVE",
    arity=3,
    flags=Flags.WRITE | Flags.FAST | Flags.READS_OTHERS,
    group="generic",
    since="1.0.0",
    keys=KeyRange(RW | ACCESS | UPDATE),
)
def move(call: Call) -> Reply:
    """Moves a key to another database, unless a key of this name is there.

    MOVE key db
    """
    key = call.argv[1]
    databases = call.server.databases
    source, target = call.db, databases[to_db_index(call.argv[2], len(databases))]
    if source is target:
        raise errors.SAME_OBJECT
    value = source.find(key, ANY)
    if value is None or key in target:
        return 0
    _put_with_expiry(target, key, value, source.expiry(key), source.side.get(key))
    source.remove(key)
    source.changed(key, b"move_from", changes=0)
    target.changed(key, b"move_to")
    return 1
