"""The allowed differences between the answers of Penstock and of the oracles, with reasons.

Everything else is compared byte for byte.

    NOISE      differs between two runs of one server: clocks, addresses, random choices
    OURS       Penstock differs on purpose; see also ``stated/on_purpose.txt``
    BY_ORACLE  an oracle differs from Redis 7.4, which Penstock follows
    AT_RANDOM  the same, in cases that only random commands meet
    NOT_ASKED  cases of the scripts that an oracle answers in a wholly different way
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.compat.comparing import (
    Alike,
    as_doubles,
    client_fields,
    command_rows,
    cut_at_the_first_zero_byte,
    dumped,
    each,
    hide_idle,
    in_any_order,
    pairs_in_any_order,
    same_after,
    same_choice,
    same_type,
    scanned,
    shape,
    stream_full,
    swap,
    table_in_order,
    until,
    with_pending,
    within,
    without,
)
from tests.compat.oracles import REDIS_7, REDIS_8, VALKEY_9
from tests.compat.resp import Reply

OK: Reply = ("+", b"OK")
SYNTAX: Reply = ("-", b"ERR syntax error")
NOVALUES_OF_HSCAN: Reply = ("-", b"ERR NOVALUES option can only be used in HSCAN")
INVALID_CURSOR: Reply = ("-", b"ERR invalid cursor")


def wrong_arity(name: str) -> bytes:
    """The text of the error."""
    return f"ERR wrong number of arguments for '{name}' command".encode()


# The commands that answer with scores. DUMP does for a sorted set that is a listpack.
WITH_SCORES = (
    "ZADD", "ZINCRBY", "ZSCORE", "ZMSCORE", "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE",
    "ZREVRANGEBYSCORE", "ZPOPMIN", "ZPOPMAX", "ZMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "ZUNION",
    "ZINTER", "ZDIFF", "DUMP",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """A command, or a command and subcommand, whose answers are compared by *alike*."""

    command: str
    reason: str
    alike: Alike


def alike(
    command: list[bytes], ours: Reply, theirs: Reply, oracle: str, *, at_random: bool = False
) -> bool:
    """Whether both replies to *command* are equal, except for the differences from *oracle*."""
    words = [word.decode("latin-1").upper() for word in command[:2]]
    names = {" ".join(words), *words[:1], "*"}
    rules = NOISE + OURS + BY_ORACLE[oracle] + (AT_RANDOM[oracle] if at_random else [])
    return ours == theirs or any(
        rule.alike(ours, theirs) for rule in rules if rule.command in names
    )


NOISE = [
    Difference("TTL", "clock", within(2)),
    Difference("PTTL", "clock", within(2000)),
    Difference("EXPIRETIME", "each server adds the relative expiry to its own clock", within(2)),
    Difference(
        "PEXPIRETIME", "each server adds the relative expiry to its own clock", within(2000)
    ),
    Difference("TIME", "clock", same_type),
    Difference("RANDOMKEY", "random choice", same_type),
    Difference("KEYS", "order of a hash table", same_after(in_any_order)),
    Difference("SCAN", "order of a hash table", same_after(scanned)),
    *(
        Difference(name, "order of a set", same_after(in_any_order))
        for name in ("SMEMBERS", "SINTER", "SUNION", "SDIFF")
    ),
    Difference("SPOP", "order of a set", same_after(in_any_order)),
    Difference("SRANDMEMBER", "order of a set, random choice", same_choice),
    Difference("SSCAN", "order of a set", same_after(scanned)),
    Difference("HSCAN", "order of a hash table", same_after(scanned)),
    Difference("HGETALL", "order of a hash table", same_after(pairs_in_any_order)),
    Difference("HKEYS", "order of a hash table", same_after(in_any_order)),
    Difference("HVALS", "order of a hash table", same_after(in_any_order)),
    Difference("HRANDFIELD", "random choice", same_after(shape)),
    Difference("ZSCAN", "order of a hash table", same_after(scanned)),
    Difference("ZRANDMEMBER", "random choice", same_after(shape)),
    Difference("DUMP", "order of a hash table", same_after(table_in_order)),
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
        "ids, addresses, clocks, memory; each version added fields",
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

_COMMAND_INFO = Difference(
    "COMMAND INFO",
    "order of sets; notes are prose; 7.2 lets scripts call blocking commands, and changes SCAN's"
    " tip",
    same_after(command_rows),
)

REDIS_7_0 = [
    *(
        Difference(
            name,
            "7.4 says that NOVALUES is HSCAN's",
            lambda ours, theirs: (ours, theirs) == (NOVALUES_OF_HSCAN, SYNTAX),
        )
        for name in ("SSCAN", "ZSCAN")
    ),
    *(
        Difference(name, "7.0 writes all doubles with 17 digits", same_after(as_doubles))
        for name in WITH_SCORES
    ),
    *(
        Difference(
            name,
            "7.2 gave it an option",
            lambda ours, theirs: (
                theirs[0] == ours[0] == "-"
                and theirs[1] in (wrong_arity("zrank"), wrong_arity("zrevrank"))
            ),
        )
        for name in ("ZRANK", "ZREVRANK")
    ),
    Difference(
        "ZSCAN",
        "7.0 writes all doubles with 17 digits",
        same_after(lambda reply: scanned(as_doubles(reply))),
    ),
    Difference(
        "OBJECT ENCODING",
        "7.2 keeps small sets in listpacks",
        lambda ours, theirs: (ours, theirs) == (("$", b"listpack"), ("$", b"hashtable")),
    ),
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
    _COMMAND_INFO,
]

OURS = [
    Difference(
        "*",
        "an argument in an error's text: Redis cuts it at its first zero byte, Penstock shows all",
        cut_at_the_first_zero_byte,
    ),
]

REDIS_7_0_AT_RANDOM = [
    Difference(
        "XINFO GROUPS",
        "7.4 computes lag from what trimming left, and creates a consumer when it first asks",
        same_after(without(hide=("lag", "consumers"))),
    ),
    Difference(
        "XINFO CONSUMERS",
        "7.4 creates a consumer when it first asks, 7.0 when it first gets an entry",
        same_after(lambda reply: with_pending(without("inactive", hide=("idle",))(reply))),
    ),
    Difference(
        "XINFO STREAM",
        "as XINFO GROUPS and XINFO CONSUMERS",
        same_after(lambda reply: with_pending(without(hide=("lag",))(stream_full(reply)))),
    ),
    Difference(
        "SCAN",
        "malformed cursors: 7.0 accepts -1 and an empty one, 7.4 a leading blank",
        lambda ours, theirs: INVALID_CURSOR in (ours, theirs),
    ),
    Difference(
        "XSETID",
        "7.4 refuses an id below max_deleted_entry_id",
        lambda ours, theirs: b"max_deleted_entry_id" in (ours[1] or b"") and theirs == OK,
    ),
]

_DUMP = Difference(
    "DUMP",
    "newer RDB versions have another type for streams, and another version in the footer",
    same_after(dumped),
)

BY_ORACLE = {
    REDIS_7: REDIS_7_0,
    REDIS_8: [_DUMP, _COMMAND_INFO],
    VALKEY_9: [_DUMP, _COMMAND_INFO],
}

_INT_AT_RANDOM = Difference(
    "OBJECT ENCODING",
    "Penstock says int for every integer, Redis not for one that INCRBYFLOAT made",
    lambda ours, theirs: (ours, theirs) == (("$", b"int"), ("$", b"embstr")),
)

AT_RANDOM = {
    REDIS_7: [*REDIS_7_0_AT_RANDOM, _INT_AT_RANDOM],
    REDIS_8: [_INT_AT_RANDOM],
    VALKEY_9: [_INT_AT_RANDOM],
}

_MULTI_IN_MULTI = (
    "Valkey 9 refuses MULTI and WATCH inside MULTI with another text, and fails the EXEC"
)
_NOAUTH_FIRST = "Valkey 9 says NOAUTH before it looks at the command's name or arguments"

_NEWER_SCORES = "it reads doubles in fewer forms: no blanks, no hexadecimal numbers"

NOT_ASKED = {
    REDIS_7: {
        "command_info: COMMAND INFO of ZRANK": "7.2 gave it an option",
        "hashes: HSCAN NOVALUES": "since 7.4",
        "pubsub: a subscriber publishes": "since 7.2 its message comes behind its reply, not"
        " before it or in the midst of EXEC's array",
        "sorted_sets: a sorted set that will be large is a tree at once": "since 7.4",
        "sorted_sets: ranks with scores": "since 7.2",
        "sorted_sets: scores in a digest": "7.0 writes all doubles with 17 digits there",
    },
    REDIS_8: {
        "sorted_set_ranges: odd ways to write a score": _NEWER_SCORES,
        "sorting: SORT of odd numbers": _NEWER_SCORES,
    },
    VALKEY_9: {
        "command_info: COMMAND INFO of single commands": "its commands have other tips and flags",
        "connection: requirepass": _NOAUTH_FIRST,
        "connection: CLIENT ID, INFO and LIST": "CLIENT LIST and KILL share filters and errors",
        "connection: CLIENT KILL": "CLIENT LIST and KILL share filters and errors",
        "connection: CLIENT PAUSE of writes": "CLIENT PAUSE accepts words after its mode",
        "extreme_times: a delivery before 1970": "XAUTOCLAIM skips entries delivered before 1970",
        "keys: SCAN": "TYPE with an unknown type is an error",
        "keys: OBJECT": "Valkey's embstr holds longer strings",
        "protocol_errors: unbalanced quotes": "Valkey accepts text after a closing quote",
        "protocol_errors: stricter limits before authentication": _NOAUTH_FIRST,
        "sorted_sets: a long member that is not added": "it makes a sorted set large all the same",
        "sorted_set_ranges: odd ways to write a score": _NEWER_SCORES,
        "sorting: SORT of odd numbers": _NEWER_SCORES,
        "strings: GETDEL and GETEX": "Valkey's GETEX checks its time even if the key is missing",
        "transactions: MULTI and EXEC": _MULTI_IN_MULTI,
        "transactions: errors while queueing": _MULTI_IN_MULTI,
        "transactions: WATCH sees each kind of change": "LTRIM of nothing is no change",
    },
}
