r"""The classes of keyspace events, and their letters in notify-keyspace-events.

K   the channel __keyspace@<db>__:<key> gets the names of events   at least one of these two,
E   the channel __keyevent@<db>__:<event> gets keys                and one or more of those below

S   __subkeyspace@<db>__:<key>                gets event|fields    these are about fields of hashes,
T   __subkeyevent@<db>__:<event>              gets key|fields      and do without K and E
I   __subkeyspaceitem@<db>__:<key>\n<field>   gets events
V   __subkeyspaceevent@<db>__:<event>|<key>   gets fields

g   commands for all types: DEL, EXPIRE, RENAME, ...
$   strings          h   hashes            x   keys that expire    n   new keys
l   lists            z   sorted sets       e   keys that are evicted
s   sets             t   streams           d   what modules do
m   keys that are not found               o   values that others replace
                                          c   and of which the type changes by that
A   all of g$lshzxetd
"""

from __future__ import annotations

from enum import IntFlag

from server.config.parameter import BadValue, Kind, quoted


class EventClass(IntFlag):
    """Which events are told, and to which channels."""

    KEYSPACE = 1
    KEYEVENT = 2
    GENERIC = 4
    STRING = 8
    LIST = 16
    SET = 32
    HASH = 64
    SORTED_SET = 128
    EXPIRED = 256
    EVICTED = 512
    STREAM = 1024
    KEY_MISS = 2048
    MODULE = 4096
    NEW = 8192
    OVERWRITTEN = 16384
    TYPE_CHANGED = 32768
    SUBKEYSPACE = 65536
    SUBKEYEVENT = 131072
    SUBKEYSPACE_ITEM = 262144
    SUBKEYSPACE_EVENT = 524288


# In the order in which CONFIG GET shows them.
_TYPES = {
    "g": EventClass.GENERIC,
    "$": EventClass.STRING,
    "l": EventClass.LIST,
    "s": EventClass.SET,
    "h": EventClass.HASH,
    "z": EventClass.SORTED_SET,
    "x": EventClass.EXPIRED,
    "e": EventClass.EVICTED,
    "t": EventClass.STREAM,
    "d": EventClass.MODULE,
}
_NOT_IN_ALL = {
    "n": EventClass.NEW,
    "o": EventClass.OVERWRITTEN,
    "c": EventClass.TYPE_CHANGED,
}
_OTHERS = {
    "K": EventClass.KEYSPACE,
    "E": EventClass.KEYEVENT,
    "m": EventClass.KEY_MISS,
    "S": EventClass.SUBKEYSPACE,
    "T": EventClass.SUBKEYEVENT,
    "I": EventClass.SUBKEYSPACE_ITEM,
    "V": EventClass.SUBKEYSPACE_EVENT,
}
CHANNELS = EventClass.KEYSPACE | EventClass.KEYEVENT
FIELD_CHANNELS = (
    EventClass.SUBKEYSPACE
    | EventClass.SUBKEYEVENT
    | EventClass.SUBKEYSPACE_ITEM
    | EventClass.SUBKEYSPACE_EVENT
)
NO_EVENTS = EventClass(0)
ALL = EventClass(sum(_TYPES.values()))
_CLASSES = {**_TYPES, **_NOT_IN_ALL, **_OTHERS, "A": ALL}


def _parse(text: str, _old: object) -> EventClass:
    classes = NO_EVENTS
    for letter in text:
        if letter not in _CLASSES:
            raise BadValue("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
        classes |= _CLASSES[letter]
    return classes


def _show(classes: EventClass) -> str:
    """As Redis does, which does not show n, o and c next to A."""
    types = "A" if classes & ALL == ALL else _letters({**_TYPES, **_NOT_IN_ALL}, classes)
    return types + _letters(_OTHERS, classes)


def _write(classes: EventClass) -> list[str]:
    """All that is set, for redis.conf."""
    return [quoted(_letters({**_TYPES, **_NOT_IN_ALL, **_OTHERS}, classes))]


def _letters(rows: dict[str, EventClass], classes: EventClass) -> str:
    return "".join(letter for letter, one in rows.items() if classes & one)


EVENT_CLASSES: Kind[EventClass] = Kind(_parse, _show, _write)
