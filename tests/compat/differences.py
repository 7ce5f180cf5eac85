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
    as_fixed,
    broken_redirection,
    call_counts,
    client_fields,
    command_rows,
    cut_at_the_first_zero_byte,
    denied,
    dumped,
    each,
    hide_delivery_times,
    hide_idle,
    in_any_order,
    monitor_line,
    numbers_hidden,
    offset_hidden,
    pairs_in_any_order,
    redirection_hidden,
    same_after,
    same_choice,
    same_type,
    scanned,
    shape,
    slow_entries,
    stream_full,
    swap,
    table_in_order,
    until,
    with_pending,
    within,
    without,
)
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, VALKEY_9
from tests.compat.resp import Reply

# The fields of XINFO STREAM about XADD with IDMP.
OF_IDMP = (
    "idmp-duration", "idmp-maxsize", "pids-tracked", "iids-tracked", "iids-added",
    "iids-duplicates",
)  # fmt: skip

OK: Reply = ("+", b"OK")
SYNTAX: Reply = ("-", b"ERR syntax error")
NOVALUES_OF_HSCAN: Reply = ("-", b"ERR NOVALUES option can only be used in HSCAN")
READ_LATER: list[Reply] = [
    (":", b"0"),
    (":", b"-1"),
    ("-", b"WRONGTYPE Operation against a key holding the wrong kind of value"),
]
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

WITH_COORDINATES = (
    "GEOPOS", "GEORADIUS", "GEORADIUS_RO", "GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO", "GEOSEARCH",
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


OF_AN_ENTRY = ("age-seconds", "client-info", "entry-id", "timestamp-created",
               "timestamp-last-updated")  # fmt: skip

NOISE = [
    Difference("ROLE", "the offset is the server's past", same_after(offset_hidden)),
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
    Difference("XREADGROUP", "clock: idle of a claimed entry", same_after(hide_delivery_times)),
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
    Difference("ACL GENPASS", "random choice", same_choice),
    Difference("ACL LOG", "ids, addresses, clocks", same_after(without(hide=OF_AN_ENTRY))),
    Difference("*", "ids count connections", same_after(broken_redirection)),
    Difference("*", "a line of MONITOR has the time and an address", same_after(monitor_line)),
    Difference("SLOWLOG GET", "ids, times, addresses", same_after(slow_entries)),
    Difference("LATENCY LATEST", "clock", same_after(numbers_hidden)),
    Difference("LATENCY HISTORY", "clock", same_after(numbers_hidden)),
    Difference("LATENCY GRAPH", "clock", same_after(numbers_hidden)),
    Difference("LATENCY HISTOGRAM", "clock", same_after(call_counts)),
    Difference("CLIENT TRACKINGINFO", "ids count connections", same_after(redirection_hidden)),
    Difference("MEMORY USAGE", "each server's own structures", same_type),
    Difference("MEMORY DOCTOR", "words of our own", same_type),
    Difference("LOLWUT", "a drawing of our own", same_type),
    Difference("CLIENT GETREDIR", "ids count connections", same_after(numbers_hidden)),
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

_MEMORY_STATS = Difference("MEMORY STATS", "each version has other figures", same_type)

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
    Difference("*", "7.2 says which user may not run a command", same_after(denied)),
    Difference(
        "ACL LOG",
        "7.2 gave the entries ids and times",
        same_after(without(*OF_AN_ENTRY[2:], hide=OF_AN_ENTRY[:2])),
    ),
    _COMMAND_INFO,
    _MEMORY_STATS,
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
        same_after(
            lambda reply: with_pending(without(*OF_IDMP, hide=("lag",))(stream_full(reply)))
        ),
    ),
    Difference(
        "SCAN",
        "malformed cursors: 7.0 accepts -1 and an empty one, 7.4 a leading blank",
        lambda ours, theirs: INVALID_CURSOR in (ours, theirs),
    ),
    *(
        Difference(
            name,
            "7.4 reads the arguments before it looks for the key",
            lambda ours, theirs: ours[0] == "-" and theirs in READ_LATER,
        )
        for name in ("BITCOUNT", "BITPOS")
    ),
    Difference(
        "XSETID",
        "7.4 refuses an id below max_deleted_entry_id",
        lambda ours, theirs: b"max_deleted_entry_id" in (ours[1] or b"") and theirs == OK,
    ),
]

_NO_LRM = Difference(
    "CONFIG SET",
    "8.6 evicts by the last modification, too",
    same_after(lambda reply: swap(swap(reply, b"volatile-lrm, ", b""), b"allkeys-lrm, ", b"")),
)
_NO_PRODUCERS = Difference(
    "XINFO STREAM",
    "8.6 added what XADD with IDMP has seen",
    same_after(lambda reply: stream_full(without(*OF_IDMP)(reply))),
)
_DUMP = Difference(
    "DUMP",
    "newer RDB versions have another type for streams, and another version in the footer",
    same_after(dumped),
)

REDIS_8_0 = [
    _DUMP,
    _COMMAND_INFO,
    *(
        Difference(name, "8.0 writes coordinates like other doubles", same_after(as_fixed))
        for name in WITH_COORDINATES
    ),
    Difference("MEMORY STATS", "each server's own structures", same_after(shape)),
]

BY_ORACLE = {
    REDIS_7: [*REDIS_7_0, _NO_PRODUCERS, _NO_LRM],
    REDIS_8: [*REDIS_8_0, _NO_PRODUCERS, _NO_LRM],
    REDIS_8_6: [
        *REDIS_8_0,
        Difference(
            "OBJECT ENCODING",
            "8.6 keeps only shorter strings in one piece with their keys",
            lambda ours, theirs: (ours, theirs) == (("$", b"embstr"), ("$", b"raw")),
        ),
        Difference(
            "*",
            "8.6 says nothing of arguments where an unknown command has none",
            same_after(lambda reply: swap(reply, b"', with args beginning with: ", b"'")),
        ),
    ],
    VALKEY_9: [
        _NO_PRODUCERS,
        _NO_LRM,
        _DUMP,
        _COMMAND_INFO,
        _MEMORY_STATS,
        Difference(
            "LATENCY LATEST",
            "Valkey adds the sum and the number of the samples",
            same_after(lambda reply: numbers_hidden(each(lambda row: row[:4])(reply))),
        ),
    ],
}

_INT_AT_RANDOM = Difference(
    "OBJECT ENCODING",
    "Penstock says int for every integer, Redis not for one that INCRBYFLOAT made",
    lambda ours, theirs: (ours, theirs) == (("$", b"int"), ("$", b"embstr")),
)

NO_FLOAT: Reply = ("-", b"ERR min or max is not a float")

REDIS_8_AT_RANDOM = [
    _INT_AT_RANDOM,
    *(
        Difference(name, "8.0 reads no score after a blank", lambda _, theirs: theirs == NO_FLOAT)
        for name in ("ZCOUNT", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE")
    ),
]

AT_RANDOM = {
    REDIS_7: [*REDIS_7_0_AT_RANDOM, _INT_AT_RANDOM],
    REDIS_8: REDIS_8_AT_RANDOM,
    REDIS_8_6: REDIS_8_AT_RANDOM,
    VALKEY_9: [_INT_AT_RANDOM],
}

_SUBSCRIBES = {"pubsub: COMMAND INFO": "8.6 refuses SUBSCRIBE over maxmemory"}
_OTHER_TIPS = "its commands have other tips and flags"
_MESSAGES_LAST = "since 7.2 what a client is sent comes after its reply"
_MULTI_IN_MULTI = (
    "Valkey 9 refuses MULTI and WATCH inside MULTI with another text, and fails the EXEC"
)
_NOAUTH_FIRST = "Valkey 9 says NOAUTH before it looks at the command's name or arguments"

_NEWER_SCORES = "it reads doubles in fewer forms: no blanks, no hexadecimal numbers"

_READS_QUEUED = "they queue what adds no data, however much that is"

FIELD_EXPIRY_CASES = [
    "expired_fields: all fields have expired",
    "expired_fields: expired fields, and one that is not",
    "field_expiry: COMMAND INFO of the commands on fields that expire",
    "field_expiry: HEXPIRE, HTTL, HPERSIST",
    "field_expiry: HGETDEL, HGETEX",
    "field_expiry: HSETEX",
    "field_expiry: OBJECT ENCODING and the limits of a listpack",
    "field_expiry: a hash with fields that expire moves, is copied, replaced and deleted",
    "field_expiry: the words of HGETEX and HSETEX",
]

FIELD_WORDS_CASES = (
    "field_expiry: HEXPIRE, HTTL, HPERSIST", "field_expiry: HGETDEL, HGETEX",
    "field_expiry: HSETEX", "field_expiry: the words of HGETEX and HSETEX",
)  # fmt: skip

RIGHTS_OF_8_6 = "its EXEC asks for the rights on commands and channels again, but not on keys"

_OTHER_WORDS = "its scripts have errors in other words, which do not name the script"
SCRIPT_CASES = (
    "functions: registering functions",
    "lua_scripts: values to Lua in RESP3",
    "lua_scripts: words of a command",
    "lua_scripts: keys and arguments",
    "lua_scripts: errors",
    "lua_scripts: what is not allowed in a script",
    "lua_scripts: EVALSHA and SCRIPT",
    "lua_scripts: the first line of a script",
    "lua_scripts: the first line of a script is split as an inline command is",
    "lua_scripts: the error that a script returns counts as its failure",
    "lua_scripts: the functions of redis",
    "lua_scripts: math.random",
    "lua_scripts: what scripts share is read-only",
    "lua_scripts: scripts in a transaction",
)
_OTHER_USERS = "7.2 shows the rules on commands as they were given, and says how RESTORE is checked"
_OTHER_RIGHTS = "Valkey's users have rights on databases too, and errors of their own"
_USER_CASES = (
    "users: what ACL answers to mistakes", "users: rules of ACL SETUSER", "users: selectors",
    "users: rules that are refused", "users: commands, keys and channels that are refused",
    "users: ACL DRYRUN", "users: transactions", "users: ACL LOG", "users: users that go",
    "users: logging in", "users: a password that goes and comes again",
    "users: the rights of SORT", "users: COMMAND INFO of ACL",
)  # fmt: skip

NOT_ASKED_OF_8_0 = {
    "eviction: nothing is queued over maxmemory": _READS_QUEUED,
    "sorted_set_ranges: odd ways to write a score": _NEWER_SCORES,
    "tracking: a client flushes by itself": "8.0 frees the memory in another thread, and the"
    " reply comes when that is done",
    "sorting: SORT of odd numbers": _NEWER_SCORES,
    "sorted_sets: hexadecimal scores may be so too": _NEWER_SCORES,
}
NOT_ASKED = {
    REDIS_7: {
        **_SUBSCRIBES,
        "users: COMMAND INFO of ACL": _OTHER_TIPS,
        "users: rules of ACL SETUSER": _OTHER_USERS,
        "users: selectors": _OTHER_USERS,
        "command_info: COMMAND INFO of ZRANK": "7.2 gave it an option",
        "command_info: COMMAND INFO of a server without replicas and cluster": _OTHER_TIPS,
        "command_info: COMMAND INFO of what people watch a server with": _OTHER_TIPS,
        "eviction: who waits for an evicted stream is told": "the error is another one since 7.2",
        **dict.fromkeys(FIELD_EXPIRY_CASES, "fields expire since 7.4"),
        "bitmaps: BITCOUNT and BITPOS read their arguments first": "7.0 looks for the key first",
        "hashes: HSCAN NOVALUES": "since 7.4",
        "pubsub: a subscriber publishes": "since 7.2 its message comes after its reply, not"
        " before it or inside EXEC's array",
        "sorted_sets: a sorted set that will be large is a tree at once": "since 7.4",
        "sorted_sets: ranks with scores": "since 7.2",
        "sorted_sets: scores in a digest": "7.0 writes all doubles with 17 digits there",
        "tracking: REDIRECT to RESP3": _MESSAGES_LAST,
        "tracking: a script is remembered for what its commands read": "7.0 remembers all keys"
        " that it declares",
        "tracking: a script's own client is told in its protocol": _MESSAGES_LAST,
        "tracking: a client that waits": "7.0 does not run a woken XREAD again",
        "tracking: what a client subscribed to hears, too": _MESSAGES_LAST,
    },
    REDIS_8: {
        **NOT_ASKED_OF_8_0,
        **_SUBSCRIBES,
        **dict.fromkeys(FIELD_WORDS_CASES, "it takes the words of these commands in one order"),
    },
    REDIS_8_6: {
        **NOT_ASKED_OF_8_0,
        "command_info: COMMAND LIST and COUNT": "it has more commands of streams",
        "protocol_errors: too long a line": "it waits for the end of a bulk's length, however long",
        "users: transactions": RIGHTS_OF_8_6,
    },
    VALKEY_9: {
        **_SUBSCRIBES,
        **dict.fromkeys(SCRIPT_CASES, _OTHER_WORDS),
        **dict.fromkeys(_USER_CASES, _OTHER_RIGHTS),
        "command_info: COMMAND INFO of single commands": _OTHER_TIPS,
        "command_info: COMMAND INFO of a server without replicas and cluster": _OTHER_TIPS,
        "command_info: COMMAND INFO of what people watch a server with": _OTHER_TIPS,
        "bitmaps: BITCOUNT": "the end of a range may be left out",
        "bitmaps: BITCOUNT and BITPOS read their arguments first": "as BITCOUNT",
        **dict.fromkeys(FIELD_EXPIRY_CASES, "the commands are Valkey's own, with other errors"),
        "connection: requirepass": _NOAUTH_FIRST,
        "connection: CLIENT ID, INFO and LIST": "CLIENT LIST and KILL share filters and errors",
        "connection: CLIENT KILL": "CLIENT LIST and KILL share filters and errors",
        "connection: CLIENT PAUSE of writes": "CLIENT PAUSE accepts words after its mode",
        "eviction: nothing is queued over maxmemory": _READS_QUEUED,
        "extreme_times: a delivery before 1970": "XAUTOCLAIM skips entries delivered before 1970",
        "geo_searches: errors that name the member or the shape": "it has BYPOLYGON, too, and says"
        " which member there is not",
        "geo_searches: the keys of GEORADIUS, and what COMMAND INFO says of them": _OTHER_TIPS,
        "keys: SCAN": "TYPE with an unknown type is an error",
        "keys: OBJECT": "Valkey's embstr holds longer strings",
        "functions: the first line of a library is split as an inline command is": "as unbalanced"
        " quotes",
        "protocol_errors: unbalanced quotes": "Valkey accepts text after a closing quote",
        "protocol_errors: stricter limits before authentication": _NOAUTH_FIRST,
        "sorted_sets: a long member that is not added": "it makes a sorted set large all the same",
        "sorted_set_ranges: odd ways to write a score": _NEWER_SCORES,
        "sorting: SORT of odd numbers": _NEWER_SCORES,
        "sorted_sets: hexadecimal scores may be so too": _NEWER_SCORES,
        "strings: GETDEL and GETEX": "Valkey's GETEX checks its time even if the key is missing",
        "transactions: MULTI and EXEC": _MULTI_IN_MULTI,
        "transactions: errors while queueing": _MULTI_IN_MULTI,
        "transactions: WATCH sees each kind of change": "LTRIM of nothing is no change",
        "without: CLUSTER, READONLY, READWRITE, ASKING": "KEYSLOT and READONLY work without one",
        "without: LOLWUT": "its drawing has other parameters",
    },
}
