"""HIMPORT: many hashes with the same fields, whose names are sent once.

    HIMPORT PREPARE user name city      the fieldset of this connection that is called user
    HIMPORT SET user:1 user Ann Graz    HSET user:1 name Ann city Graz, whatever was there

What is stored are ordinary hashes.
"""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.client.origin import SCRIPT
from server.commands.hashes import hash_steps
from server.dispatch.call import Call
from server.parts.hash_imports import Fieldsets
from server.table.command import Flags, command, container, container_help
from server.table.keys import RW, UPDATE, KeyRange
from storage.hashes.hash import Hash

TWICE = ErrorReply("ERR", "duplicate field name in fieldset")
NO_SUCH = ErrorReply("ERR", "no such fieldset")
OTHER_COUNT = ErrorReply("ERR", "value count does not match fieldset field count")

container(
    "HIMPORT",
    group="hash",
    since="8.10.0",
    summary="Stores many hashes whose fields have the same names.",
)


@command(
    "HIMPORT PREPARE",
    arity=-4,
    flags=Flags(0),
    group="hash",
    since="8.10.0",
    complexity="O(N) where N is the number of fields.",
)
def himport_prepare(call: Call) -> Reply:
    """Names the fields of the hashes that this connection is going to store.

    HIMPORT PREPARE fieldset-name field [field ...]
    """
    name, fields = call.argv[2], call.argv[3:]
    if len(set(fields)) < len(fields):
        raise TWICE
    _fieldsets(call).prepare(name, fields)
    return OK


@command(
    "HIMPORT SET",
    arity=-5,
    flags=Flags.WRITE | Flags.DENYOOM,
    group="hash",
    since="8.10.0",
    complexity="O(N) where N is the number of fields.",
    keys=KeyRange(RW | UPDATE, first=2),
)
def himport_set(call: Call) -> Reply:
    """Stores a hash of the fields of a fieldset, with these values, in place of one that was there.

    HIMPORT SET key fieldset-name value [value ...]
    """
    key, values = call.argv[2], call.argv[4:]
    fields = _fieldsets(call).find(call.argv[3])
    if fields is None:
        raise NO_SUCH
    if len(fields) != len(values):
        raise OTHER_COUNT
    db = call.db
    if db.find(key, Hash) is not None:
        db.remove(key)
        db.changed(key, None, changes=0, log=(b"DEL", key))
    words = [word for pair in zip(fields, values, strict=True) for word in pair]
    hash_steps.put(call, key, words, 0, (b"HSET", key, *words))
    return OK


@command(
    "HIMPORT DISCARD",
    arity=3,
    flags=Flags(0),
    group="hash",
    since="8.10.0",
)
def himport_discard(call: Call) -> Reply:
    """Forgets a fieldset of this connection.

    HIMPORT DISCARD fieldset-name
    """
    return int(_fieldsets(call).discard(call.argv[2]))


@command(
    "HIMPORT DISCARDALL",
    arity=2,
    flags=Flags(0),
    group="hash",
    since="8.10.0",
    complexity="O(N) where N is the number of fieldsets.",
)
def himport_discardall(call: Call) -> Reply:
    """Forgets all fieldsets of this connection; returns how many there were.

    HIMPORT DISCARDALL
    """
    return _fieldsets(call).clear()


container_help("HIMPORT", group="hash", since="8.10.0")


def _fieldsets(call: Call) -> Fieldsets:
    """Those of the client, or of the script that runs."""
    imports = call.server.hash_imports
    if call.origin & SCRIPT:
        return imports.of_run(call.server.scripting.run.started_ns)
    return imports.of_client(call.client)
