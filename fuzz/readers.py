"""Runs every command that reads a value, and those that change pending entries, on any value.

Whatever the value is, the answer must be one whole reply, and never the error for an internal bug.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hiredis

import server.commands  # noqa: F401  (fills the table)
from server.client.client import Client
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.parts.state import ServerState
from server.process.server_clock import NS_A_MS, ServerClock
from server.table.command import TABLE, Command, Flags
from storage.stream.stream import Stream

NOW_MS = 1_700_000_000_000
KEY = b"k"
MIN, MAX = -(2**63), 2**63 - 1

READERS = f"""
TYPE k
EXISTS k
TOUCH k
TTL k
PTTL k
EXPIRETIME k
PEXPIRETIME k
DUMP k
OBJECT ENCODING k
OBJECT REFCOUNT k
OBJECT IDLETIME k
OBJECT FREQ k
MEMORY USAGE k
MEMORY USAGE k SAMPLES 0
MEMORY USAGE k SAMPLES {MAX}
DEBUG OBJECT k
DEBUG DIGEST
DEBUG DIGEST-VALUE k
KEYS *
SCAN 0 TYPE stream
RANDOMKEY
DBSIZE
GET k
MGET k
STRLEN k
DIGEST k
GETRANGE k 0 -1
GETRANGE k {MIN} {MAX}
SUBSTR k -3 -1
GETBIT k 3
BITCOUNT k
BITCOUNT k {MIN} {MAX} BIT
BITPOS k 0
BITPOS k 1 -9 -2 BIT
BITFIELD_RO k GET i64 3 GET u9 #1
LCS k k
LCS k k IDX WITHMATCHLEN
PFCOUNT k
PFCOUNT k k
LLEN k
LRANGE k 0 -1
LRANGE k {MIN} {MAX}
LINDEX k 0
LINDEX k -1
LPOS k a COUNT 0
LPOS k 12 RANK -1 MAXLEN {MAX}
SCARD k
SUNIONCARD 1 k
SUNIONCARD 2 k k APPROX
SDIFFCARD 1 k
SMEMBERS k
SISMEMBER k a
SMISMEMBER k a 12
SRANDMEMBER k
SRANDMEMBER k {MAX}
SRANDMEMBER k -3
SSCAN k 0 COUNT {MAX}
SSCAN k 1 MATCH f*
SINTER k
SINTERCARD 2 k k LIMIT 3
SUNION k k
SDIFF k
HGET k f
HMGET k f 12
HGETALL k
HKEYS k
HVALS k
HLEN k
HEXISTS k f
HSTRLEN k f
HSCAN k 0 COUNT {MAX}
HSCAN k 1 MATCH f* NOVALUES
HRANDFIELD k
HRANDFIELD k {MAX}
HTTL k FIELDS 2 f 12
HPTTL k FIELDS 1 f
HEXPIRETIME k FIELDS 1 f
HPEXPIRETIME k FIELDS 1 f
HRANDFIELD k -3 WITHVALUES
ZCARD k
ZSCORE k a
ZMSCORE k a 12
ZRANK k a
ZREVRANK k a WITHSCORE
ZCOUNT k -inf (5
ZLEXCOUNT k - [b
ZRANGE k 0 -1 WITHSCORES
ZRANGE k {MIN} {MAX} REV
ZRANGE k (5 1 BYSCORE REV LIMIT {MAX} {MAX}
ZREVRANGE k -3 -1
ZRANGEBYSCORE k -inf inf LIMIT {MIN} {MIN}
ZREVRANGEBYSCORE k inf (1 WITHSCORES LIMIT 1 {MAX}
ZRANGEBYLEX k - +
ZREVRANGEBYLEX k [z (a LIMIT 1 {MIN}
ZRANDMEMBER k
ZRANDMEMBER k {MAX}
ZRANDMEMBER k -3 WITHSCORES
ZSCAN k 0 COUNT {MAX}
ZSCAN k 1 MATCH f*
ZUNION 2 k k WEIGHTS 2 -inf WITHSCORES
ZINTER 2 k k AGGREGATE MAX WITHSCORES
ZINTERCARD 2 k k LIMIT 3
ZDIFF 1 k WITHSCORES
GEODIST k a b KM
GEOHASH k a 12
GEOPOS k a 12
GEORADIUS_RO k 0 0 inf KM WITHCOORD WITHDIST WITHHASH DESC
GEORADIUSBYMEMBER_RO k a 1e300 M COUNT {MAX} ANY
GEOSEARCH k FROMLONLAT 180 -85 BYBOX 1e9 1e9 M COUNT 1 WITHHASH
GEOSEARCH k FROMMEMBER 12 BYRADIUS 20000 KM WITHCOORD ASC
SORT_RO k
SORT_RO k BY w_* LIMIT {MAX} {MIN} GET # GET w_* DESC ALPHA
SORT_RO k BY nosort DESC GET h_*->f
XLEN k
XRANGE k - +
XRANGE k (0 + COUNT {MAX}
XREVRANGE k + -
XCOUNT k (0 {MAX}
XNTH k {MIN} COUNT {MAX}
XNTH k 0 COUNT 2
XSPLIT k 3
XSPLIT k 10000 (0 +
XSCHEDULED k
XSCHEDULED k (0 + COUNT {MAX}
XSCHEDULES k
XREAD STREAMS k 0
XREAD COUNT 1 STREAMS k +
XREAD STREAMS k $
XREAD NOFIELDS STREAMS k 0
XREAD MATCH k* 0
XREAD COUNT 1 WHERE f 1 v MATCH * x +
XREAD WHERE f 2 v 1 STREAMS k 0
XREAD WHERE f 1 1 COUNT 2 STREAMS k +
XRANGE k - + NOFIELDS
XINFO STREAM k
XINFO STREAM k FULL
XINFO STREAM k FULL COUNT 0
XINFO GROUPS k
XINFO STREAMS 0 COUNT 5 GROUPS
XCFGGET k
"""

GROUP_READERS = f"""
XINFO CONSUMERS k @group
XGROUP CFGGET k @group
XINFO ORDER k @group
XPENDING k @group
XPENDING k @group - + {MAX}
XPENDING k @group (0 + 10
XPENDING k @group IDLE 1 - + 10
XPENDING k @group IDLE {MIN} - + 10
XPENDING k @group IDLE {MAX} - + 10
XPENDING k @group - + 10 @consumer
XPENDING k @group IDLE 1 - + 10 @consumer
XREADGROUP GROUP @group @consumer STREAMS k 0
XREADGROUP GROUP @group @consumer NOFIELDS STREAMS k 0
XREADGROUP GROUP @group @consumer CLAIM 0 MKGROUP MATCH k* >
XREADGROUP GROUP @group @consumer MATCH * >
XREADGROUP GROUP @group @consumer WHERE f 1 v STREAMS k 0
XREADGROUP GROUP @group @consumer WHERE f 1 v COUNT 1 CLAIM 0 STREAMS k >
XREADGROUP GROUP @group @consumer STREAMS k >
XAUTOCLAIM k @group @consumer {MAX} - JUSTID
XAUTOCLAIM k @group @consumer 1 - COUNT 1 JUSTID
XAUTOCLAIM k @group new 0 -
XPENDING k @group - + 10
XINFO STREAM k FULL
XINFO GROUPS k
XINFO GROUPS k EXACT
DUMP k
XADD k * f v
XREADGROUP GROUP @group new STREAMS k >
"""

# These read nothing of a value, or the same as another command.
OTHERS = {"migrate", "eval_ro", "evalsha_ro", "fcall_ro"}


def words_of(lines: str) -> list[list[bytes]]:
    return [line.encode().split() for line in lines.strip().splitlines()]


def rows() -> Iterator[Command]:
    """The rows of the command table, with subcommands in place of their container."""
    for parent in TABLE:
        yield from parent.subcommands.values() or [parent]


def assert_complete() -> None:
    """Assert that no command that reads a key is missing above."""
    calls = words_of(READERS) + words_of(GROUP_READERS)
    named = {b" ".join(words[:length]) for words in calls for length in (1, 2)}
    for row in rows():
        if row.flags & Flags.READONLY and row.keys and row.name not in OTHERS:
            name = row.name.upper().replace("|", " ").encode()
            assert name in named, f"no reader calls {name!r}"


class Reading:
    """A server without sockets that holds one key at a time."""

    def __init__(self) -> None:
        assert_complete()
        config = Config()
        config.save = []
        config.enable_debug_command = "yes"
        clock = ServerClock(lambda: NOW_MS * NS_A_MS, lambda: 0)
        self._state = ServerState(config, clock)
        self._dispatcher = Dispatcher(self._state)
        self._client = Client(1, NOW_MS)
        self._readers = words_of(READERS)
        self._group_readers = words_of(GROUP_READERS)

    def read(self, value: Any, expiry_ms: int = -1, idle_s: int = -1) -> None:
        """Run every reader on *value*. Raises AssertionError, or whatever a reader raises."""
        db = self._state.databases[0]
        self._dispatcher.turn.enter()
        db.put(KEY, value)
        if idle_s >= 0:
            db.set_usage(KEY, idle_s, -1)
        if expiry_ms != -1:
            db.expire_at(KEY, expiry_ms)
        for words in self._readers:
            self._call(words)
        if type(value) is Stream:
            for name, group in value.sorted_groups():
                consumers = group.sorted_consumers()
                self._read_group(name, consumers[0].name if consumers else b"new")
        db.clear()

    def _read_group(self, group: bytes, consumer: bytes) -> None:
        names = {b"@group": group, b"@consumer": consumer}
        for words in self._group_readers:
            self._call([names.get(word, word) for word in words])

    def _call(self, words: list[bytes]) -> None:
        """Run a command in both protocols, and check its replies."""
        for resp in (2, 3):
            self._client.out.resp = resp
            self._dispatcher.execute(self._client, list(words))
            answer = hiredis.Reader()
            answer.feed(self._client.out.take())
            assert "internal error" not in str(answer.gets()), words
            assert not answer.has_data(), words
