"""What may differ between Penstock's answers and those of redis-server 7.0.15, and why.

Everything else is compared byte for byte. NOISE differs between two runs of one server: clocks,
addresses, random choice. NEWER is what Redis 7.2 or 7.4, which Penstock follows, added to a reply
that 7.0 gives too. OURS is on purpose. AT_RANDOM is what random commands stumble on and scripts
state. Where 7.4 answers something else altogether, or Penstock means to, the case stands under
``stated/`` with the answer that is expected, and its reason above it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.compat.resp import Reply

Alike: TypeAlias = Callable[[Reply, Reply], bool]

OK: Reply = ("+", b"OK")
INVALID_CURSOR: Reply = ("-", b"ERR invalid cursor")
HIDDEN: Reply = ("...", None)


@dataclass(frozen=True, slots=True)
class Difference:
    """A command (or command and subcommand) whose answers are compared by *alike*."""

    command: str
    reason: str
    alike: Alike


def alike(command: list[bytes], ours: Reply, theirs: Reply, *, at_random: bool = False) -> bool:
    """Whether both replies to *command* say the same, but for what may differ."""
    words = [word.decode("latin-1").upper() for word in command[:2]]
    names = {" ".join(words), *words[:1], "*"}
    rules = NOISE + NEWER + OURS + (AT_RANDOM if at_random else [])
    return ours == theirs or any(
        rule.alike(ours, theirs) for rule in rules if rule.command in names
    )


# Ways to compare


def within(tolerance: int) -> Alike:
    """Integers at most *tolerance* apart; negative ones have meanings and must be equal."""

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
    """Replies that are equal once *change* has been done to both."""
    return lambda ours, theirs: change(ours) == change(theirs)


def same_type(ours: Reply, theirs: Reply) -> bool:
    """Replies of one RESP type, whatever they hold."""
    return ours[0] == theirs[0]


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


def scanned(reply: Reply) -> Reply:
    """A SCAN reply with its keys sorted."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    return kind, [value[0], in_any_order(value[1])]


def without(*names: str, hide: tuple[str, ...] = ()) -> Callable[[Reply], Reply]:
    """Drops the fields *names* at any depth of maps and flat arrays, and the values of *hide*."""
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
    """*change* done to every element of an array which is itself an array."""

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
    """XINFO STREAM FULL without times: a field, and the third or second item of pending rows."""
    return _hide_delivery_times(without("active-time", hide=("seen-time",))(reply))


def _hide_delivery_times(reply: Reply) -> Reply:
    kind, value = reply
    if not isinstance(value, list):
        return reply
    if kind == "*" and len(value) in {3, 4} and value[-1][0] == value[-2][0] == ":":
        return kind, [*value[:-2], (":", b"..."), value[-1]]
    return kind, [_hide_delivery_times(item) for item in value]


def field_names(reply: Reply) -> Reply:
    """CLIENT LIST or INFO: what stands left of each ``=`` and ``:``."""
    kind, value = reply
    if not isinstance(value, bytes):
        return reply
    words = value.replace(b"\r\n", b" ").replace(b":", b"=").split()
    return kind, b" ".join(word.partition(b"=")[0] for word in words if b"=" in word)


def client_fields(reply: Reply) -> Reply:
    """CLIENT LIST: of each client the field names but newer ones, and the values that tell."""
    kind, value = reply
    if not isinstance(value, bytes):
        return reply
    return kind, b"\n".join(sorted(_client_fields(line) for line in value.splitlines()))


def _client_fields(line: bytes) -> bytes:
    fields = dict(word.partition(b"=")[::2] for word in line.split(b" "))
    newer = {b"lib-name", b"lib-ver", b"watch"}
    told = {b"name", b"flags", b"db", b"multi", b"cmd", b"user", b"sub", b"psub", b"resp"}
    return b" ".join(
        name + b"=" + (value if name in told else b"")
        for name, value in fields.items()
        if name not in newer
    )


def shown_to_the_zero(ours: Reply, theirs: Reply) -> bool:
    """Two errors; ours has a zero byte and more where theirs goes on with the text."""
    if ours[0] != "-" or theirs[0] != "-":
        return False
    shown, cut = ours[1], theirs[1]
    assert isinstance(shown, bytes)
    assert isinstance(cut, bytes)
    start, zero, _ = shown.partition(b"\0")
    return bool(zero) and cut.startswith(start) and shown.endswith(cut[len(start) :])


def until(reply: Reply, start: bytes) -> Reply:
    """An error that begins with *start* is cut there."""
    kind, value = reply
    line = kind.encode() + value if isinstance(value, bytes) else b""
    return (kind, start) if line.startswith(start) else reply


def with_pending(reply: Reply) -> Reply:
    """XINFO CONSUMERS, or the consumers of FULL: only those that have something pending."""
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
    """A reply of one text, with *old* replaced in it."""
    kind, value = reply
    return (kind, value.replace(old, new)) if isinstance(value, bytes) else reply


def command_rows(reply: Reply) -> Reply:
    """COMMAND INFO with its sets sorted, without notes, noscript and SCAN's newer tip."""
    kind, value = reply
    if not isinstance(value, list):
        return reply
    items = [command_rows(item) for item in value if item not in _NEWER_IN_ROWS]
    if ("$", b"notes") in items:
        at = items.index(("$", b"notes"))
        del items[at : at + 2]
    is_set = kind == "~" or all(item[0] in "+$" for item in items)
    return kind, sorted(items, key=repr) if is_set else items


_NEWER_IN_ROWS = (("+", b"noscript"), ("$", b"response_policy:special"))

NOISE = [
    Difference("TTL", "clock", within(2)),
    Difference("PTTL", "clock", within(2000)),
    Difference("EXPIRETIME", "relative expiry is counted from each server's now", within(2)),
    Difference("PEXPIRETIME", "relative expiry is counted from each server's now", within(2000)),
    Difference("TIME", "clock", same_type),
    Difference("RANDOMKEY", "random choice", same_type),
    Difference("KEYS", "order of a hash table", same_after(in_any_order)),
    Difference("SCAN", "order of a hash table", same_after(scanned)),
    Difference("CONFIG GET", "order of a hash table", same_after(pairs_in_any_order)),
    Difference("COMMAND LIST", "order of a hash table", same_after(in_any_order)),
    Difference("OBJECT IDLETIME", "clock", within(2)),
    Difference("XPENDING", "clock: idle of an entry", same_after(each(hide_idle))),
    Difference(
        "XINFO CONSUMERS",
        "clock: idle. 7.2 added inactive",
        same_after(without("inactive", hide=("idle",))),
    ),
    Difference(
        "XINFO STREAM",
        "clock: seen-time and delivery times. 7.2 added active-time",
        same_after(stream_full),
    ),
    Difference(
        "CLIENT LIST",
        "ids, addresses, clocks, memory. 7.2 added lib-name, lib-ver; 7.4 added watch",
        same_after(client_fields),
    ),
    Difference("CLIENT INFO", "as CLIENT LIST", same_after(client_fields)),
    Difference("CLIENT ID", "ids count connections", same_type),
    Difference(
        "HELLO",
        "id, name, version and modules of the server",
        same_after(without("modules", hide=("id", "server", "version"))),
    ),
]

NEWER = [
    Difference(
        "HELLO",
        "7.4 says HELLO <proto> AUTH where 7.0 said HELLO AUTH",
        same_after(lambda reply: swap(reply, b"HELLO <proto> AUTH", b"HELLO AUTH")),
    ),
    *(
        Difference(
            name,
            "7.4 says a time-out that overflows is out of range, 7.0 that it is negative",
            same_after(lambda reply: swap(reply, b"is out of range", b"is negative")),
        )
        for name in ("BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP")
    ),
    *(
        Difference(
            name,
            "7.4 has another text for unbalanced lists",
            same_after(lambda reply: until(reply, b"-ERR Unbalanced")),
        )
        for name in ("XREAD", "XREADGROUP")
    ),
    Difference(
        "COMMAND INFO",
        "7.2 lets scripts call blocking commands, and gave SCAN a second tip; the notes are prose",
        same_after(command_rows),
    ),
]

OURS = [
    Difference(
        "*",
        "an argument in an error's text: Redis ends it at its first zero byte, Penstock shows all",
        shown_to_the_zero,
    ),
]

AT_RANDOM = [
    Difference(
        "XINFO GROUPS",
        "7.4 counts lag by what is left after trimming, and makes a consumer when it first asks",
        same_after(without(hide=("lag", "consumers"))),
    ),
    Difference(
        "XINFO CONSUMERS",
        "7.4 makes a consumer when it first asks, 7.0 when it first gets something",
        same_after(lambda reply: with_pending(without("inactive", hide=("idle",))(reply))),
    ),
    Difference(
        "XINFO STREAM",
        "as XINFO GROUPS and XINFO CONSUMERS",
        same_after(lambda reply: with_pending(without(hide=("lag",))(stream_full(reply)))),
    ),
    Difference(
        "SCAN",
        "cursors that are no plain numbers: 7.0 takes -1 and nothing, 7.4 takes a leading blank",
        lambda ours, theirs: INVALID_CURSOR in (ours, theirs),
    ),
    Difference(
        "OBJECT ENCODING",
        "Penstock sees an int in every text that is one, Redis in none that INCRBYFLOAT made",
        lambda ours, theirs: (ours, theirs) == (("$", b"int"), ("$", b"embstr")),
    ),
    Difference(
        "XSETID",
        "7.4 holds it to the max-deleted id",
        lambda ours, theirs: b"max_deleted_entry_id" in (ours[1] or b"") and theirs == OK,
    ),
]
