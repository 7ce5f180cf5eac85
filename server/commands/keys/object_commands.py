"""OBJECT: shows how a value is stored."""

from __future__ import annotations

from typing import Any

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip
from server.table.keys import RO, KeyRange
from storage import types

ADJUSTING = (
    "Please note that when switching between policies at runtime LRU and LFU data will take some"
    " time to adjust."
)
NO_FREQUENCY = ErrorReply(
    "ERR",
    f"An LFU maxmemory policy is not selected, access frequency not tracked. {ADJUSTING}",
)
NO_IDLE_TIME = ErrorReply(
    "ERR", f"An LFU maxmemory policy is selected, idle time not tracked. {ADJUSTING}"
)

container(
    "OBJECT",
    group="generic",
    since="2.2.3",
    summary="Shows how a value is stored, and when its key was last used.",
)


def _value(call: Call) -> Any:
    return call.db.look_at(call.argv[2], tells_misses=False)


@command(
    "OBJECT ENCODING",
    arity=3,
    flags=Flags.READONLY,
    group="generic",
    since="2.2.3",
    keys=KeyRange(RO, first=2),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def object_encoding(call: Call) -> Reply:
    """Returns the name of a value's internal encoding.

    OBJECT ENCODING key
    """
    value = _value(call)
    return None if value is None else types.of(value).encoding(value)


@command(
    "OBJECT REFCOUNT",
    arity=3,
    flags=Flags.READONLY,
    group="generic",
    since="2.2.3",
    keys=KeyRange(RO, first=2),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def object_refcount(call: Call) -> Reply:
    """Returns how many keys share a value: 1, or 2147483647 for a small integer.

    OBJECT REFCOUNT key
    """
    value = _value(call)
    return None if value is None else types.of(value).reference_count(value)


@command(
    "OBJECT IDLETIME",
    arity=3,
    flags=Flags.READONLY,
    group="generic",
    since="2.2.3",
    keys=KeyRange(RO, first=2),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def object_idletime(call: Call) -> Reply:
    """Returns for how many seconds a key has not been used; not under an LFU policy.

    OBJECT IDLETIME key
    """
    if _value(call) is None:
        return None
    if call.server.events.usage.counts:
        raise NO_IDLE_TIME
    return call.db.idle_s(call.argv[2])


@command(
    "OBJECT FREQ",
    arity=3,
    flags=Flags.READONLY,
    group="generic",
    since="4.0.0",
    keys=KeyRange(RO, first=2),
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def object_freq(call: Call) -> Reply:
    """Returns how often a key is used, on a logarithmic scale; only under an LFU policy.

    OBJECT FREQ key
    """
    if _value(call) is None:
        return None
    if not call.server.events.usage.counts:
        raise NO_FREQUENCY
    return call.db.frequency(call.argv[2])


container_help("OBJECT", group="generic", since="6.2.0")
