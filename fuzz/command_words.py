"""Draws commands: any command of the table, with arguments that its declared syntax asks for.

The syntax of a command is a tree of arguments (server/table/syntax.py), so a new command is drawn
from the day on which it is declared. An argument's type says what is drawn for it, or its name:

    key                a key of its own family, so that it mostly holds what the command expects
    integer, double    mostly small; now and then one at the edge of what there is
    numkeys, numfields how many of them follow
    id, start, min ..  see TEXTS
    others             any text

Some commands then get a mistake: a word too many, too few, or an odd one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from server.table.command import TABLE, Command, Flags
from server.table.syntax import Argument, arguments_of

# What reaches beyond the data: to files, sockets, other processes, the end of this one. CONFIG SET
# has its own parameters below.
EXCLUDED = (
    "bgrewriteaof", "bgsave", "config|rewrite", "config|set", "debug", "failover", "migrate",
    "module", "psync", "replicaof", "save", "shutdown", "slaveof", "sync",
)  # fmt: skip

MISTAKES = 0.15
OPTIONAL = 0.4  # how often an optional argument is there
KEYS_AND_TRANSACTIONS = ("generic", "transactions")  # are drawn with any group
FOREIGN = 0.15  # how often a key is one of another family
EDGES = [2**63 - 1, -(2**63), 2**63, 2**32, 2**31, -1, 0, 2**53]
ODD = [b"", b" 1", b"01", b"1e400", b"nan", b"-inf", b"\x00\xff\r\n", b"9" * 30, b"(", b"[", b"$"]
IDS = b"0 0-1 1 1-1 1-2 2-0 3-5 5-1 9-9 * * 5-* + - $ > (1-1 18446744073709551615-1".split()
RANGE_ENDS = b"- + (a [a [b (c -inf +inf 0 1 (1 (-2 5.5 a".split()
VALUES = [b"", b"v", b"12", b"-7", b"3.0", b"01", b"a long one", b"x" * 70, b"\x00\xff", b"y" * 600]
MEMBERS = [b"", b"m" * 65, *b"a b c d 1 2 3 -4 5.5 12345678901 01".split()]
SIDES = b"0 1 200 3000 1e6 inf".split()  # of areas, and radii

# Of users. Each user that there may be can log in with "v", one of VALUES.
RULES = (
    b"on nopass >v ~* %R~hash:* &news +@all +@read -@write -get +config|get reset (~* (&* )".split()
)

# Scripts and functions run the command that their arguments are.
SCRIPTS = [
    b"return redis.pcall(unpack(ARGV))",
    b"return {redis.call(unpack(ARGV)), false, 0.5}",
    b"redis.setresp(3) return {map = {[1] = redis.pcall(unpack(ARGV)), b = {double = 0.5}}}",
    b"redis.call(unpack(ARGV)) error(redis.pcall(unpack(ARGV)))",
    b"#!lua flags=no-writes,allow-oom\nreturn coroutine.wrap(redis.call)(unpack(ARGV))",
    b"return {set = {[redis.sha1hex(ARGV[1])] = 1, [cjson.encode(redis.pcall(unpack(ARGV)))] = 1}}",
    b"return (",
]
LIBRARY = b"""#!lua name=l
redis.register_function('f', function(keys, args) return redis.pcall(unpack(args)) end)
redis.register_function{function_name = 'g', flags = {'no-writes'},
    callback = function(keys, args) redis.setresp(3) return redis.call(unpack(args)) end}"""
RUNS = (b"EVAL", b"EVAL_RO", b"FCALL", b"FCALL_RO")

# What is drawn for arguments of these names, whatever their types are.
TEXTS: dict[str, list[bytes]] = {
    **dict.fromkeys(("id", "last-id", "lastid", "max-deleted-id", "threshold"), IDS),
    **dict.fromkeys(("min", "max"), RANGE_ENDS),
    **dict.fromkeys(("field", "member", "element", "pivot"), MEMBERS),
    **dict.fromkeys(("value", "string", "message"), VALUES),
    "group": [b"g", b"h"],
    "consumer": [b"alice", b"bob"],
    "channel": [b"news", b"sport"],
    "shardchannel": [b"news", b"sport"],
    "username": [b"ann", b"nobody"],  # never the default user: the clients could do nothing then
    "rule": RULES,
    "protover": [b"2", b"3", b"4"],
    "cursor": [b"0", b"0", b"0", b"1", b"7"],
    "longitude": [b"0", b"13.361389", b"15.087269", b"-179.99999", b"180", b"181", b"inf"],
    "latitude": [b"0", b"38.115556", b"37.502669", b"-66.5", b"84", b"85.05112878", b"86"],
    **dict.fromkeys(("radius", "width", "height"), SIDES),
    "script": SCRIPTS,
    "function-code": [LIBRARY, LIBRARY, LIBRARY.replace(b"=l", b"=k"), b"#!lua name=l\nreturn ("],
    "function": [b"f", b"G", b"h"],
    "library-name": [b"l", b"k"],
    "expression": [b"* * * * *", b"*/2 * * * * *", b"0 3 * * 1", b"0 0 30 2 *", b"* *"],
    "zone": [b"UTC", b"Europe/Berlin", b"Mars/Base"],
    "encoding": [b"u8", b"i16", b"u63", b"i64", b"i65"],
}
COUNTS = ("numkeys", "numfields", "numids")
STREAM_ENDS = ("start", "end")  # ids here, and integers elsewhere
LONGEST_NUMBER = 300  # of elements that a count or an offset asks for

# What many commands need and chance seldom gives.
PREPARATIONS = [
    *(b"XADD stream:%d * field value" % n for n in range(3)),
    *(b"XGROUP CREATE stream:%d g 0 MKSTREAM" % n for n in range(3)),
    *(b"XREADGROUP GROUP g alice COUNT 2 STREAMS stream:%d >" % n for n in range(3)),
    b"XREADGROUP GROUP g alice MAXCOUNT 2 MKGROUP MATCH stream:* >",
    b"XREADGROUP GROUP g bob COUNT 1 BLOCK 5 WHERE f 2 v 1 MATCH * >",
    b"XREAD BLOCK 5 COUNT 2 MATCH stream:* $",
    b"XREAD WHERE f 1 v NOFIELDS MATCH str*:[01] other +",
    *(b"XREADGROUP GROUP g bob CLAIM 0 COUNT 3 STREAMS stream:%d >" % n for n in range(3)),
    *(b"XADD stream:%d MAXLEN ~ 3 ACKED * field value" % n for n in range(3)),
    *(b"XTRIM stream:%d MAXLEN 2 DELREF" % n for n in range(3)),
    *(b"XGROUP SETID stream:%d g 0" % n for n in range(3)),
    b"XGROUP CFGSET stream:0 g VISIBILITY 1 MAXDELIVERIES 2 DEADLETTER stream:1 MKSTREAM",
    b"XGROUP CFGSET stream:1 g VISIBILITY 1 MAXPENDING 2 MAXDELIVERIES 1 DEADLETTER stream:2",
    b"XGROUP CFGSET stream:2 g MAXPENDINGPERCONSUMER 1",
    b"XGROUP CFGSET stream:0 g VISIBILITY 0",
    b"XGROUP CFGSET stream:0 g ORDERBY field MAXPENDINGPERVALUE 2",
    b"XGROUP CFGSET stream:2 g ORDERBY field RELEASED yes",
    *(b"XINFO ORDER stream:%d g COUNT 2" % n for n in range(3)),
    b"XINFO STREAMS 0 MATCH str* COUNT 2 GROUPS",
    *(b"XREADGROUP GROUP g bob COUNT 3 STREAMS stream:%d >" % n for n in range(3)),
    *(b"XREDRIVE stream:%d COUNT 5" % n for n in range(3)),
    *(b"XADD stream:%d DELAY %d * field value" % (n, n) for n in range(3)),
    *(b"XADD stream:%d DELAY 50 * field value" % n for n in range(3)),
    *(b"XSCHEDULE stream:%d job EVERY 3 * field value" % n for n in range(3)),
    b"XUNSCHEDULE stream:1 NAMES job",
    b"XCFGSET stream:0 RETAIN-AGE 1h RETAIN-LENGTH 3 COMPACT field MIN-AGE 1",
    b"XCFGSET stream:1 RETAIN-BYTES 1kb RETAIN-ACKED yes",
    b"XCFGSET stream:0 DEFAULTS",
    *(b"XADD stream:%d EXPIRE %d * field value" % (n, n + 1) for n in range(3)),
    *(b"XADD stream:%d DELAY 2 EXPIRE 2 * field value" % n for n in range(3)),
    *(b"XGROUP CFGSET stream:%d g ACTIVE 1 TIMEOUT 40" % n for n in range(3)),
    *(b"XGROUP CFGSET stream:%d g CONSUMERTIMEOUT 60" % n for n in range(3)),
    *(b"XGROUP CFGSET stream:%d g BACKOFF 3 60 VISIBILITY 40" % n for n in range(3)),
    b"XGROUP CFGSET stream:0 g ACTIVE 0 CONSUMERTIMEOUT 0 BACKOFF 0",
    *(
        b"XREADGROUP GROUP g alice WITHFENCE WITHDEADLINE COUNT 3 STREAMS stream:%d >" % n
        for n in range(3)
    ),
    *(b"XREADGROUP GROUP g bob BLOCK 70 COUNT 1 STREAMS stream:%d >" % n for n in range(3)),
    *(
        b"XREADGROUP GROUP g bob COUNT 2 WHERE field 1 value STREAMS stream:%d >" % n
        for n in range(3)
    ),
    *(b"XNACK stream:%d g FAIL IDS 1 1-1 DELAY 50 REASON late" % n for n in range(3)),
    *(b"XGROUP DELCONSUMER stream:%d g alice HANDOVER" % n for n in range(3)),
    *(b"XGROUP SETID stream:%d g 0 CLEAR" % n for n in range(3)),
    *(b"XACK stream:%d g UPTO 9-9" % n for n in range(3)),
    *(b"XGROUP PAUSE stream:%d g" % n for n in range(3)),
    *(b"XGROUP RESUME stream:%d g" % n for n in range(3)),
    *(b"XADD stream:%d IDMPAUTO p * field value" % n for n in range(3)),
    *(b"XADD stream:%d %d-1 field value" % (n, n + 1) for n in range(3)),
    *(b"RENAME stream:%d stream:%d" % (n, (n + 1) % 3) for n in range(3)),
    *(b"COPY stream:%d stream:%d REPLACE" % (n, (n + 1) % 3) for n in range(3)),
    b"COPY stream:0 stream:0 DB 1",
    b"MOVE stream:1 1",
    b"SWAPDB 0 1",
    b"HIMPORT PREPARE h a b",
    b"FLUSHALL",
]

# CONFIG SET: what it may change here, and to what.
PARAMETERS: dict[bytes, list[bytes]] = {
    b"hash-max-listpack-entries": [b"0", b"4", b"512"],
    b"hash-max-listpack-value": [b"1", b"64"],
    b"set-max-intset-entries": [b"0", b"4", b"512"],
    b"set-max-listpack-entries": [b"0", b"4", b"128"],
    b"zset-max-listpack-entries": [b"0", b"4", b"128"],
    b"list-max-listpack-size": [b"2", b"-1", b"-2"],
    b"stream-node-max-entries": [b"0", b"2", b"100"],
    b"notify-keyspace-events": [b"", b"KEA", b"KEAmnoc", b"hSTIV"],
    b"maxmemory": [b"0", b"0", b"0", b"20000", b"200000"],
    b"maxmemory-policy": [b"noeviction", b"allkeys-lru", b"volatile-ttl", b"allkeys-lfu",
                          b"allkeys-random", b"volatile-lfu", b"volatile-lrm"],
    b"maxmemory-samples": [b"1", b"5", b"64"],
    b"maxmemory-clients": [b"0", b"0", b"0", b"10%", b"20000"],
    b"rdbcompression": [b"yes", b"no"],
    b"commandlog-request-larger-than": [b"-1", b"0", b"60"],
    b"commandlog-reply-larger-than": [b"-1", b"0", b"10"],
    b"commandlog-large-request-max-len": [b"0", b"2", b"128"],
    b"commandlog-large-reply-max-len": [b"0", b"2", b"128"],
    b"stream-policy": [b"", b"stream:* RETAIN-LENGTH 3", b"*:[01] RETAIN-ACKED yes COMPACT field"],
}  # fmt: skip


def commands() -> Iterator[Command]:
    """The commands that are drawn, subcommands in place of their containers."""
    for parent in TABLE:
        for row in parent.subcommands.values() or [parent]:
            names = (row.name, row.name.split("|")[0])
            if row.handler is not None and not any(name in EXCLUDED for name in names):
                yield row


def weight(row: Command) -> float:
    """How often *row* is drawn: what is about data more often than what is about the server."""
    if row.name.endswith("|help"):
        return 0.02
    if row.name.endswith("subscribe"):
        return 0.1  # a subscriber that speaks RESP2 may run nothing else
    if row.group == "cluster":
        return 0.02  # this server is not a node of one
    return 0.1 if row.flags & Flags.ADMIN or row.group in ("server", "connection") else 1.0


class CommandWords:
    """Draws commands with *dice*. *payloads* are what DUMP has given so far, for RESTORE.

    *group*: nearly all of them are of this group of commands. "": they are of all groups.
    """

    def __init__(self, dice: Random, group: str = "") -> None:
        self.payloads = [b"payload"]
        self._dice = dice
        self._prepares = 0.3 if group else 0.06
        self._rows = [row for row in commands() if group in ("", row.group)]
        if group:
            self._rows += [row for row in commands() if row.group in KEYS_AND_TRANSACTIONS]
        self._weights = [
            weight(row) * (0.1 if group and row.group != group else 1) for row in self._rows
        ]
        self._arguments = {
            row.name: arguments_of(row.syntax, row.name, row.argument_types) for row in self._rows
        }

    def draw(self) -> list[bytes]:
        """One command."""
        kind = self._dice.random()
        if kind < 0.01:
            return self._config_set()
        if kind < self._prepares:
            return self._dice.choice(PREPARATIONS).split()
        if kind < self._prepares + 0.1:
            return self._in_script()
        return self._plain()

    def _in_script(self) -> list[bytes]:
        """A script or a function that runs another command."""
        run = self._dice.choice(RUNS)
        names = SCRIPTS if run.startswith(b"EVAL") else TEXTS["function"]
        return [run, self._dice.choice(names), b"0", *self._plain()]

    def _plain(self) -> list[bytes]:
        (row,) = self._dice.choices(self._rows, self._weights)
        words = row.name.upper().encode().split(b"|")
        words += self._sequence(self._arguments[row.name], row.group)
        return self._with_mistake(words) if self._dice.random() < MISTAKES else words

    def _config_set(self) -> list[bytes]:
        name = self._dice.choice(list(PARAMETERS))
        return [b"CONFIG", b"SET", name, self._dice.choice(PARAMETERS[name])]

    # ------------------------------------------------------------------ arguments

    def _sequence(self, arguments: Sequence[Argument], group: str) -> list[bytes]:
        words: list[bytes] = []
        at_count = -1
        for argument in arguments:
            if argument.optional and self._dice.random() > OPTIONAL:
                continue
            if argument.name in COUNTS:
                at_count = len(words) + bool(argument.token)
            times = self._times(argument)
            drawn = self._repeated(argument, group, times)
            if argument.multiple and at_count >= 0:
                words[at_count] = b"%d" % times
                at_count = -1
            words += drawn
        return words

    def _times(self, argument: Argument) -> int:
        """How often it is there."""
        return self._dice.choice((1, 1, 2, 3)) if argument.multiple else 1

    def _repeated(self, argument: Argument, group: str, times: int) -> list[bytes]:
        words: list[bytes] = []
        for number in range(times):
            if argument.token and (number == 0 or argument.multiple_token):
                words.append(argument.token.encode())
            words += self._one(argument, group)
        return words

    def _one(self, argument: Argument, group: str) -> list[bytes]:
        """What follows the argument's word, if it has one."""
        if argument.type == "pure-token":
            return []
        if argument.type == "oneof":
            chosen = self._dice.choice(argument.arguments)
            return self._repeated(chosen, group, self._times(chosen))
        if argument.type == "block":
            return self._sequence(argument.arguments, group)
        return [self._text(argument, group)]

    def _text(self, argument: Argument, group: str) -> bytes:
        name = argument.name
        if argument.type == "key":
            return self._key(group)
        if group == "stream" and name in STREAM_ENDS:
            return self._dice.choice(IDS)
        if name in TEXTS and not (name == "value" and argument.type == "integer"):
            return self._dice.choice(TEXTS[name])
        if name == "serialized-value":
            return self._dice.choice(self.payloads)
        if argument.type == "integer":
            return self._integer()
        if argument.type == "double":
            return self._dice.choice((b"0", b"0.1", b"1", b"-2.5", b"1e3", b"inf", b"7"))
        if argument.type == "unix-time":
            return b"%d" % self._dice.choice((1, 1_700_000_100, 1_700_000_100_000, 2**62))
        if argument.type == "pattern":
            return self._dice.choice((b"*", b"?", b"[a-c]*", b"n*", b"\\"))
        return self._dice.choice((*VALUES, *MEMBERS, *IDS))

    def _key(self, group: str) -> bytes:
        families = ("string", "list", "set", "hash", "stream", "sorted-set")
        group = "sorted-set" if group == "geo" else group
        if group not in families or self._dice.random() < FOREIGN:
            group = self._dice.choice(families)
        return b"%b:%d" % (group.encode(), self._dice.randrange(3))

    def _integer(self) -> bytes:
        if self._dice.random() < 0.1:
            return b"%d" % self._dice.choice(EDGES)
        return b"%d" % self._dice.choice((0, 1, 2, 3, 5, -1, -3, LONGEST_NUMBER))

    # ------------------------------------------------------------------ mistakes

    def _with_mistake(self, words: list[bytes]) -> list[bytes]:
        dice = self._dice
        at = dice.randrange(1, len(words) + 1)
        odd = dice.choice((*ODD, *VALUES, *IDS))
        kind = dice.randrange(5)
        if kind == 0:
            return words[:at]
        if kind == 1:
            return [*words[:at], odd, *words[at:]]
        if kind == 2:
            return [*words[:at], *words[at - 1 :]]
        if kind == 3:
            return [*words[: at - 1], words[at - 1].swapcase(), *words[at:]]
        return [*words[:at], odd, *words[at + 1 :]]
