"""OBJECT: how a value is kept."""

from __future__ import annotations

from typing import Any

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table.command import Flags, Keys, command, container
from server.table.help_lines import help_of
from storage import values

KEY = Keys(2, 2, access="RO")

NO_FREQUENCY = ErrorReply(
    "ERR",
    "An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when"
    " switching between policies at runtime LRU and LFU data will take some time to adjust.",
)

container("OBJECT", group="generic", since="2.2.3", summary="Tells how a value is kept.")


def _value(call: Call) -> Any:
    return call.db.look_at(call.argv[2])


@command("OBJECT ENCODING", arity=3, flags=Flags.READONLY, group="generic", since="2.2.3", keys=KEY)
def object_encoding(call: Call) -> Reply:
    """Names the internal encoding of a value.

    OBJECT ENCODING key
    """
    value = _value(call)
    return None if value is None else values.encoding_of(value)


@command("OBJECT REFCOUNT", arity=3, flags=Flags.READONLY, group="generic", since="2.2.3", keys=KEY)
def object_refcount(call: Call) -> Reply:
    """Answers how many hold the value; small integers are shared by all, as redis shows it.

    OBJECT REFCOUNT key
    """
    value = _value(call)
    return None if value is None else values.reference_count(value)


@command("OBJECT IDLETIME", arity=3, flags=Flags.READONLY, group="generic", since="2.2.3", keys=KEY)
def object_idletime(call: Call) -> Reply:
    """Answers for how many seconds a key has not been used.

    OBJECT IDLETIME key
    """
    return None if _value(call) is None else call.db.idle_s(call.argv[2])


@command("OBJECT FREQ", arity=3, flags=Flags.READONLY, group="generic", since="4.0.0", keys=KEY)
def object_freq(call: Call) -> Reply:
    """Refuses: only an LFU policy of maxmemory would count accesses.

    OBJECT FREQ key
    """
    if _value(call) is None:
        return None
    raise NO_FREQUENCY


@command("OBJECT HELP", arity=2, flags=Flags.LOADING | Flags.STALE, group="generic", since="6.2.0")
def object_help(call: Call) -> Reply:
    """Lists the subcommands.

    OBJECT HELP
    """
    return help_of(call.server.table, b"object")
