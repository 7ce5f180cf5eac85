"""The commands that compare a string first, or tell what to compare: DIGEST, DELEX, DELIFEQ."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.strings import conditions, string_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.keys import ACCESS, DELETE, RM, RO, RW, VARIABLE_FLAGS, KeyRange, KeyUse
from storage.keyspace.key_lookups import ANY, STRING

NO_STRING = ErrorReply("ERR", "Key should be of string type if conditions are specified")
NO_CONDITION = ErrorReply("ERR", "Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE")


@command(
    "DIGEST",
    arity=2,
    flags=Flags.READONLY | Flags.FAST,
    group="string",
    since="8.4.0",
    complexity="O(N) where N is the length of the string.",
    keys=KeyRange(RO | ACCESS),
)
def digest(call: Call) -> Reply:
    """Returns the XXH3 hash of the string at a key, as 16 hexadecimal digits.

    DIGEST key
    """
    value = call.db.read(call.argv[1], STRING)
    return None if value is None else conditions.digest_of(value)


def _delex_keys(argv: list[bytes]) -> list[KeyUse]:
    """The key of DELEX, whose value is only looked at if there is a condition."""
    compares = len(argv) > 2 and argv[2].upper() in conditions.CONDITIONS
    return [KeyUse(argv[1], RW | DELETE if compares else RM | DELETE)]


@command(
    "DELEX",
    arity=-2,
    flags=Flags.WRITE | Flags.FAST,
    group="string",
    since="8.4.0",
    complexity="O(1); O(N) with IFDEQ and IFDNE, where N is the length of the string.",
    keys=KeyRange(RW | DELETE | VARIABLE_FLAGS),
    get_keys=_delex_keys,
)
def delex(call: Call) -> Reply:
    """Removes a key, if its string is or is not equal to another, or to what has that digest.

    DELEX key [IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]
    """
    argv = call.argv
    key = argv[1]
    if len(argv) == 2:
        if key not in call.db:
            return 0
        if call.server.config.lazyfree_lazy_user_del:
            call.server.events.freeing.note(call.db.peek(key))
        return _remove(call, key)
    if len(argv) != 4:
        raise errors.wrong_arity("delex")
    value = call.db.read(key, ANY)
    if value is None:
        return 0
    if not isinstance(value, bytes | bytearray | int):
        raise NO_STRING
    condition = argv[2].upper()
    if condition not in conditions.CONDITIONS:
        raise NO_CONDITION
    return _remove(call, key) if conditions.holds(value, condition, argv[3]) else 0


@command(
    "DELIFEQ",
    arity=3,
    flags=Flags.WRITE | Flags.FAST,
    group="string",
    since="9.0.0",
    keys=KeyRange(RM | DELETE),
)
def delifeq(call: Call) -> Reply:
    """Removes a key if its string is equal to another.

    DELIFEQ key value
    """
    _, key, operand = call.argv
    value = call.db.find(key, STRING)
    if value is None or string_steps.octets_of(value) != operand:
        return 0
    return _remove(call, key)


def _remove(call: Call, key: bytes) -> int:
    """Remove *key*, which is there: a replica need not compare."""
    call.db.remove(key)
    call.db.changed(key, b"del", changes=1, log=(b"DEL", key))
    return 1
