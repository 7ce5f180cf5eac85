"""Ways to compare two replies that need not be equal byte for byte."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from storage.payload import restore
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from tests.compat.resp import Reply

Alike: TypeAlias = Callable[[Reply, Reply], bool]

HIDDEN: Reply = ("...", None)
# RDB types
HASH_TABLE, SORTED_SET_PACK, TIMED_HASH_TABLE, TRIPLETS = b"\x04", b"\x11", b"\x18", b"\x19"
STREAM_OF_7_0, STREAM_OF_7_2, STREAM_OF_8_6 = b"\x13", b"\x15", b"\x1a"
WITHOUT_IDMP = b"@d@d\0\0\0"  # the defaults of two limits; no producer, nothing counted


def within(tolerance: int) -> Alike:
    """Integers at most *tolerance* apart; negative ones have a meaning and must be equal."""

    def close(ours: Reply, theirs: Reply) -> bool:
        if (ours[0], theirs[0]) != (":", ":"):
            return False
        a, b = number(ours), number(theirs)
        return min(a, b) >= 0 and abs(a - b) <= tolerance

    return close


def number(reply: Reply) -> int:
    assert isinstance(reply[1], bytes)
    return int(reply[1])


def same_after(change: Callable[[Reply], Reply]) -> Alike:
    """Replies that are equal after *change* is applied to both."""
    return lambda ours, theirs: change(ours) == change(theirs)


def same_type(ours: Reply, theirs: Reply) -> bool:
    """Replies of the same RESP type, whatever their values."""
    return ours[0] == theirs[0]


def shape(reply: Reply) -> Reply:
    """The types of all replies in an array, and how many there are at each depth."""
    kind, value = reply
    return kind, [shape(item) for item in value] if isinstance(value, list) else None


def in_any_order(reply: Reply) -> Reply:
    """An array with its elements sorted."""
    kind, value = reply
    return (kind, sorted(value, key=repr)) if isinstance(value, list) else reply


def pairs_in_any_order(reply: Reply) -> Reply:
    """A map, or a flat array of names and values, with its pairs sorted."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    pairs = sorted(zip(value[::2], value[1::2], strict=True), key=repr)
    return kind, [item for pair in pairs for item in pair]


def same_choice(ours: Reply, theirs: Reply) -> bool:
    """Two texts, whatever they are, or arrays of as many."""
    if ours[0] == theirs[0] == "$":
        return (ours[1] is None) == (theirs[1] is None)
    if not isinstance(ours[1], list) or not isinstance(theirs[1], list):
        return False
    return ours[0] == theirs[0] and len(ours[1]) == len(theirs[1])


def scanned(reply: Reply) -> Reply:
    """A SCAN reply with its keys sorted."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    return kind, [value[0], in_any_order(value[1])]


def without(*names: str, hide: tuple[str, ...] = ()) -> Callable[[Reply], Reply]:
    """Drops the fields *names*, and the values of the fields *hide*, at any depth of a reply."""
    dropped = [("$", name.encode()) for name in names]
    hidden = [("$", name.encode()) for name in hide]

    def change(reply: Reply) -> Reply:
        kind, value = reply
        if not isinstance(value, list):
            return reply
        kept: list[Reply] = []
        at = 0
        while at < len(value):
            if value[at] in dropped:
                at += 2
                continue
            kept.append(change(value[at]))
            if value[at] in hidden and at + 1 < len(value):
                kept.append(HIDDEN)
                at += 1
            at += 1
        return kind, kept

    return change


def each(change: Callable[[list[Reply]], list[Reply]]) -> Callable[[Reply], Reply]:
    """Applies *change* to every element of an array that is itself an array."""

    def change_all(reply: Reply) -> Reply:
        kind, value = reply
        if not isinstance(value, list):
            return reply
        return kind, [
            (item[0], change(item[1])) if isinstance(item[1], list) else item for item in value
        ]

    return change_all


def hide_idle(row: list[Reply]) -> list[Reply]:
    """A row of the extended XPENDING, ``[id, consumer, idle, deliveries]``, without its idle."""
    return [*row[:2], (":", b"..."), *row[3:]]


def stream_full(reply: Reply) -> Reply:
    """XINFO STREAM FULL without seen-time, active-time and the delivery times of pending rows.

    It is without nacked-count, too, which no oracle has: that is of Redis 8.8.
    """
    return hide_delivery_times(without("active-time", "nacked-count", hide=("seen-time",))(reply))


def hide_delivery_times(reply: Reply) -> Reply:
    """Arrays of three or four that end in a time and a count, without the time."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    if kind == "*" and len(value) in {3, 4} and value[-1][0] == value[-2][0] == ":":
        return kind, [*value[:-2], (":", b"..."), value[-1]]
    return kind, [hide_delivery_times(item) for item in value]


STEADY_FIELDS = {
    b"name",
    b"flags",
    b"db",
    b"multi",
    b"cmd",
    b"user",
    b"sub",
    b"psub",
    b"ssub",
    b"resp",
}
NEWER_FIELDS = {
    *(b"lib-name", b"lib-ver", b"watch"),  # Redis 7.2 and 7.4
    b"io-thread",  # Redis 8.0
    *(b"capa", b"tot-net-in", b"tot-net-out", b"tot-cmds"),  # Valkey 8 and 9
    *(b"read-events", b"parse-batch-cmd-sum", b"parse-batch-cnt"),  # Redis 8.8
    b"waits",  # Penstock
}


def client_fields(reply: Reply) -> Reply:
    """CLIENT LIST: each client with the field names that all servers have, and steady values."""
    kind, value = reply
    if not isinstance(value, bytes):
        return reply
    return kind, b"\n".join(sorted(_client_fields(line) for line in value.splitlines()))


def _client_fields(line: bytes) -> bytes:
    fields = dict(word.partition(b"=")[::2] for word in line.split(b" "))
    return b" ".join(
        name + b"=" + (value if name in STEADY_FIELDS else b"")
        for name, value in fields.items()
        if name not in NEWER_FIELDS
    )


def cut_at_the_first_zero_byte(ours: Reply, theirs: Reply) -> bool:
    """Two errors; theirs lacks what ours has between its first zero byte and the following text."""
    if ours[0] != "-" or theirs[0] != "-":
        return False
    shown, cut = ours[1], theirs[1]
    assert isinstance(shown, bytes)
    assert isinstance(cut, bytes)
    start, zero, _ = shown.partition(b"\0")
    return bool(zero) and cut.startswith(start) and shown.endswith(cut[len(start) :])


def until(reply: Reply, start: bytes) -> Reply:
    """An error that begins with *start* is cut after it."""
    kind, value = reply
    line = kind.encode() + value if isinstance(value, bytes) else b""
    return (kind, start) if line.startswith(start) else reply


def with_pending(reply: Reply) -> Reply:
    """XINFO CONSUMERS or XINFO STREAM FULL: only consumers that have pending entries."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    return kind, [with_pending(item) for item in value if not _has_nothing_pending(item)]


def _has_nothing_pending(item: Reply) -> bool:
    fields = item[1]
    if not isinstance(fields, list):
        return False
    pairs = [(fields[at], fields[at + 1]) for at in range(0, len(fields) - 1, 2)]
    names = [name for name, _ in pairs]
    is_consumer = ("$", b"idle") in names or ("$", b"seen-time") in names
    nothing = (":", b"0")
    counts = ((("$", b"pending"), nothing), (("$", b"pel-count"), nothing))
    return is_consumer and any(count in pairs for count in counts)


def swap(reply: Reply, old: bytes, new: bytes) -> Reply:
    """A reply that is one text, with *old* replaced by *new*."""
    kind, value = reply
    return (kind, value.replace(old, new)) if isinstance(value, bytes) else reply


def command_rows(reply: Reply) -> Reply:
    """COMMAND INFO with its sets sorted, and without notes, noscript and SCAN's newer tip."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    items = [command_rows(item) for item in value if item not in _NEWER_IN_ROWS]
    if items[:2] == [("$", b"xgroup|delconsumer"), (":", b"-5")]:
        items[1] = (":", b"5")  # Redis has no option HANDOVER
    if items[:2] == [("$", b"xinfo|groups"), (":", b"-3")]:
        items[1] = (":", b"3")  # nor EXACT
    if ("$", b"notes") in items:
        at = items.index(("$", b"notes"))
        del items[at : at + 2]
    is_set = kind == "~" or all(item[0] in "+$" for item in items)
    return kind, sorted(items, key=repr) if is_set else items


_NEWER_IN_ROWS = (("+", b"noscript"), ("$", b"response_policy:special"))


def table_in_order(reply: Reply) -> Reply:
    """A DUMP of a hash that is a table: its fields and values, sorted."""
    kind, value = reply
    if not isinstance(value, bytes) or value[:1] != HASH_TABLE:
        return reply
    reader = RdbReader(value, 1)
    pairs = [(reader.string(), reader.string()) for _ in range(reader.count(2))]
    return kind, repr(sorted(pairs)).encode()


def as_doubles(reply: Reply) -> Reply:
    """All texts that are numbers, at any depth, in one form; the scores in a DUMP, too."""
    kind, value = reply
    if isinstance(value, list):
        return kind, [as_doubles(item) for item in value]
    if kind not in "$," or value is None:
        return reply
    if value[:1] == SORTED_SET_PACK:
        return kind, repr(list(restore(value, ReadOptions(checksum=False)))).encode()
    try:
        return kind, repr(float(value)).encode()
    except ValueError:
        return reply


def as_fixed(reply: Reply) -> Reply:
    """All texts that are numbers, at any depth, with 17 digits after the point."""
    kind, value = reply
    if isinstance(value, list):
        return kind, [as_fixed(item) for item in value]
    if kind not in "$," or value is None:
        return reply
    try:
        return kind, b"%.17f" % float(value)
    except ValueError:
        return reply


def timed_table_in_order(reply: Reply) -> Reply:
    """The DUMP of a hash of which some fields expire, in order: times, fields and values."""
    kind, value = reply
    assert isinstance(value, bytes)
    reader = RdbReader(value, 1)
    first_ms = reader.i64()
    items = []
    for _ in range(reader.count(3)):
        later_ms = reader.length()
        when_ms = later_ms and first_ms + later_ms - 1
        items.append((when_ms, reader.string(), reader.string()))
    return kind, repr(sorted(items)).encode()


def dumped(reply: Reply) -> Reply:
    """A DUMP without the version and checksum of its footer; a stream has Redis 7.0's RDB type.

    A stream of 8.6 also ends as there: what it says of XADD with IDMP is cut off, if none was used.
    """
    kind, value = reply
    if not isinstance(value, bytes):
        return reply
    if value[:1] == HASH_TABLE:
        return table_in_order(reply)
    if value[:1] == TIMED_HASH_TABLE:
        return timed_table_in_order(reply)
    if value[:1] == TRIPLETS:
        return kind, value[:1] + value[9:-10]  # Redis's first time may be that of a field that went
    body = value[:-10]
    if body[:1] == STREAM_OF_8_6:
        body = body.removesuffix(WITHOUT_IDMP)
    is_stream = body[:1] in (STREAM_OF_7_2, STREAM_OF_8_6)
    return kind, STREAM_OF_7_0 + body[1:] if is_stream else body


_MONITORED = re.compile(rb"\d{10}\.\d{6} \[(\d+) [^\]]*\] ")


def monitor_line(reply: Reply) -> Reply:
    """A line of MONITOR without the time and the client's address."""
    kind, value = reply
    return (kind, _MONITORED.sub(rb"[\1] ", value)) if isinstance(value, bytes) else reply


def slow_entries(reply: Reply) -> Reply:
    """The entries of SLOWLOG without ids, times, addresses, and what 8.10 has added."""

    def hidden(entry: list[Reply]) -> list[Reply]:
        return [HIDDEN, HIDDEN, HIDDEN, entry[3], HIDDEN, entry[5]]

    return each(hidden)(reply)


_DENIED = re.compile(rb"(?:'[^']*' )?(?:command|key|channel)\b")


def denied(reply: Reply) -> Reply:
    """Why a user may not run a command, without the name of the user and the words around it."""
    kind, value = reply
    if isinstance(value, bytes) and b"o permissions to " in value:
        value = value.replace(b"one of the keys", b"a key")
        return kind, b"".join(_DENIED.findall(value.replace(b"one of the channels", b"a channel")))
    return reply


def numbers_hidden(reply: Reply) -> Reply:
    """Integers, and the digits of texts, at any depth of *reply* look alike."""
    kind, value = reply
    if isinstance(value, list):
        return kind, [numbers_hidden(item) for item in value]
    if isinstance(value, bytes) and (kind == ":" or b" ms" in value):
        return kind, re.sub(rb"\d+", b"0", value)
    return reply


def call_counts(reply: Reply) -> Reply:
    """LATENCY HISTOGRAM's names and calls: how long they took is the machine's."""
    kind, value = pairs_in_any_order(reply)
    if not isinstance(value, list):
        return reply
    return kind, [item if at % 2 == 0 else _calls_of(item) for at, item in enumerate(value)]


def _calls_of(histogram: Reply) -> Reply:
    kind, value = histogram
    assert isinstance(value, list)
    return kind, [*value[:3], (value[3][0], None)]


def broken_redirection(reply: Reply) -> Reply:
    """What a client is told when its redirection leads nowhere, without the id of the other."""
    kind, value = reply
    broken = isinstance(value, list) and value[:1] == [("$", b"tracking-redir-broken")]
    return (kind, value[:1]) if broken and isinstance(value, list) else reply


def redirection_hidden(reply: Reply) -> Reply:
    """CLIENT TRACKINGINFO without the id of another client."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    shown = value[3] in ((":", b"0"), (":", b"-1"))
    return kind, value if shown else [*value[:3], HIDDEN, *value[4:]]


def offset_hidden(reply: Reply) -> Reply:
    """ROLE without the replication offset, which counts what the server had done before."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    return kind, [value[0], HIDDEN, *value[2:]]
