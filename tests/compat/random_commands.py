"""Random sequences of commands, some with mistakes.

A command is drawn from a form, which is a line of words. A word in capitals is used as it is;
``a|b`` is one of the two; a word in lower case is drawn by the method of its name (``key``, ``id``,
``count``); a ``?`` after a word makes it optional, and ``*`` repeats it up to three times. One
command in eight then gets a mistake: a word added, removed, doubled or replaced by an odd one.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from storage import xxh3

Command: TypeAlias = list[bytes]

MISTAKES = 0.12
HUGE = [b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"4294967296"]
ODD = [b"", b"abc", b"1.5", b"-1", b"0", b" 1", b"+1", b"01", b"-0", b"1e3", b"\x00\xff", *HUGE]
CONSUMERS = [b"alice", b"bob", b"carol"]
IDS = [b"0", b"0-0", b"0-1", b"1", b"1-1", b"1-2", b"2-0", b"3", b"3-5", b"5-1", b"7", b"9-9"]

FAMILIES: dict[str, list[str]] = {
    "strings": [
        "SET key value set_option? set_option?",
        "SET key value NX|XX|GET|KEEPTTL",
        "SET key value EX|PX far",
        "GET|STRLEN|GETDEL|INCR|DECR|EXISTS|TYPE key",
        "GETSET|APPEND|SETNX key value",
        "GETEX key getex_option?",
        "MGET key key*",
        "MSET|MSETNX key value",
        "MSET|MSETNX key value key value",
        "INCRBY|DECRBY key number",
        "INCRBYFLOAT key float",
        "GETRANGE|SUBSTR key index index",
        "SETRANGE key offset value",
        "SETEX|PSETEX key far value",
        "OBJECT ENCODING string_key",
        "TTL key",
        "DUMP key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "bits": [
        "SETBIT key offset 0|1",
        "SETBIT key offset 0|1",
        "GETBIT key offset",
        "SET|APPEND key value",
        "BITCOUNT key",
        "BITCOUNT key index index",
        "BITCOUNT key index index BIT|BYTE",
        "BITPOS key 0|1",
        "BITPOS key 0|1 index",
        "BITPOS key 0|1 index index",
        "BITPOS key 0|1 index index BIT|BYTE",
        "BITOP AND|OR|XOR key key key*",
        "BITOP NOT key key",
        "BITFIELD key GET width offset",
        "BITFIELD key SET width offset number GET width offset",
        "BITFIELD key OVERFLOW WRAP|SAT|FAIL INCRBY width offset number",
        "BITFIELD key SET width offset number OVERFLOW SAT|FAIL SET width offset number",
        "BITFIELD_RO key GET width offset GET width offset",
        "LCS key key",
        "LCS key key LEN",
        "LCS key key IDX WITHMATCHLEN?",
        "LCS key key IDX MINMATCHLEN small",
        "INCR|DEL|GET|STRLEN key",
        "OBJECT ENCODING key",
        "DUMP key",
        "DEBUG DIGEST",
    ],
    "hyperloglogs": [
        "PFADD key value value* value* value*",
        "PFADD key number number* number* number*",
        "PFADD key",
        "PFCOUNT key",
        "PFCOUNT key key key*",
        "PFMERGE key key*",
        "PFDEBUG ENCODING|DECODE key",
        "PFDEBUG TODENSE key",
        "SET key value",
        "COPY key key",
        "DEL|GET|STRLEN key",
        "DUMP key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "keys": [
        "SET key value",
        "RPUSH key value",
        "XADD key id FIELD value",
        "SADD key value value*",
        "HSET key field value",
        "ZADD key score field",
        "DEL|UNLINK|EXISTS|TOUCH key key*",
        "TYPE|TTL|PTTL|PERSIST|EXPIRETIME|PEXPIRETIME key",
        "RENAME|RENAMENX key key",
        "COPY key key REPLACE?",
        "COPY key key DB small REPLACE?",
        "MOVE key small",
        "SELECT small",
        "SELECT 0",
        "SWAPDB small small",
        "EXPIRE|PEXPIRE key far",
        "EXPIRE|PEXPIRE key far NX|XX|GT|LT NX|XX|GT|LT?",
        "EXPIREAT|PEXPIREAT key 1",
        "PEXPIREAT key 99999999999999",
        "KEYS pattern",
        "SCAN 0 COUNT 1000",
        "SCAN 0 COUNT 1000 TYPE string|list|stream|hash|set|zset",
        "SCAN 0 MATCH pattern COUNT 1000",
        "DBSIZE",
        "RANDOMKEY",
        "DEBUG DIGEST",
        "FLUSHDB",
    ],
    "lists": [
        "RPUSH|LPUSH key value value*",
        "RPUSH|LPUSH key value value*",
        "RPUSHX|LPUSHX key value value*",
        "LPOP|RPOP key count?",
        "LLEN key",
        "LRANGE key index index",
        "LRANGE key 0 -1",
        "LINDEX key index",
        "LSET key index value",
        "LINSERT key BEFORE|AFTER value value",
        "LREM key small_number value",
        "LTRIM key index index",
        "LPOS key value lpos_option? lpos_option?",
        "LMOVE key key LEFT|RIGHT LEFT|RIGHT",
        "RPOPLPUSH key key",
        "LMPOP 1 key LEFT|RIGHT",
        "LMPOP 2 key key LEFT|RIGHT COUNT count",
        "BLPOP|BRPOP key key* 0.001",
        "BLMOVE key key LEFT|RIGHT LEFT|RIGHT 0.001",
        "BRPOPLPUSH key key 0.001",
        "BLMPOP 0.001 2 key key LEFT|RIGHT COUNT count",
        "DEL key",
        "SET key value",
        "COPY key key",
        "DUMP key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "sets": [
        "SADD key value value*",
        "SADD key value value* value* value*",
        "SADD key number number* number*",
        "SREM key value value*",
        "SREM key number value",
        "SISMEMBER key value",
        "SMISMEMBER key value value*",
        "SCARD|SMEMBERS key",
        "SMOVE key key value",
        "SPOP key 1000",
        "SRANDMEMBER key",
        "SRANDMEMBER key index",
        "SRANDMEMBER key 1000",
        "SSCAN key 0 COUNT 1000",
        "SSCAN key 0 MATCH pattern COUNT 1000",
        "SINTER|SUNION|SDIFF key key*",
        "SINTERSTORE|SUNIONSTORE|SDIFFSTORE key key key*",
        "SINTERCARD 2 key key",
        "SINTERCARD 2 key key LIMIT count",
        "OBJECT ENCODING key",
        "DEL key",
        "SET key value",
        "COPY key key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "hashes": [
        "HSET|HMSET key field value",
        "HSET|HMSET key field value",
        "HSET|HMSET key field value field value field value",
        "HSETNX key field value",
        "HGET|HEXISTS|HSTRLEN key field",
        "HMGET key field field*",
        "HGETALL|HKEYS|HVALS|HLEN key",
        "HDEL key field field*",
        "HINCRBY key field number",
        "HINCRBYFLOAT key field float",
        "HRANDFIELD key",
        "HRANDFIELD key small_number",
        "HRANDFIELD key small_number WITHVALUES",
        "HSCAN key 0 COUNT 1000",
        "HSCAN key 0 MATCH pattern COUNT 1000",
        "OBJECT ENCODING key",
        "DEL key",
        "SET key value",
        "COPY key key",
        "DUMP key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "sorted_sets": [
        "ZADD key score field",
        "ZADD key score field score field score field",
        "ZADD key NX|XX|GT|LT|CH score field score field",
        "ZADD key NX|XX|GT|LT|CH NX|XX|GT|LT|CH|INCR score field",
        "ZINCRBY key score field",
        "ZREM key field field*",
        "ZSCORE|ZRANK|ZREVRANK key field",
        "ZMSCORE key field field*",
        "ZCARD key",
        "ZCOUNT key score_end score_end",
        "ZRANGE|ZREVRANGE key number number",
        "ZRANGE|ZREVRANGE key number number WITHSCORES",
        "ZRANGE key number number REV|WITHSCORES",
        "ZRANGEBYSCORE|ZREVRANGEBYSCORE key score_end score_end",
        "ZRANGEBYSCORE|ZREVRANGEBYSCORE key score_end score_end WITHSCORES LIMIT small small",
        "ZRANGE key score_end score_end BYSCORE REV LIMIT small small",
        "ZRANGESTORE key key number number",
        "ZRANGESTORE key key score_end score_end BYSCORE LIMIT small small",
        "ZREMRANGEBYRANK key number number",
        "ZREMRANGEBYSCORE key score_end score_end",
        "ZPOPMIN|ZPOPMAX key",
        "ZPOPMIN|ZPOPMAX key small_number",
        "ZMPOP 2 key key MIN|MAX COUNT small_number",
        "ZUNION|ZINTER|ZDIFF 2 key key",
        "ZUNION|ZINTER 2 key key WEIGHTS score score AGGREGATE SUM|MIN|MAX WITHSCORES",
        "ZUNIONSTORE|ZINTERSTORE|ZDIFFSTORE key 2 key key",
        "ZINTERCARD 2 key key LIMIT small",
        "ZRANDMEMBER key",
        "ZRANDMEMBER key small_number WITHSCORES",
        "ZSCAN key 0 COUNT 1000",
        "ZSCAN key 0 MATCH pattern COUNT 1000",
        "OBJECT ENCODING key",
        "SADD key field field",
        "DEL key",
        "SET key value",
        "COPY key key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "geo": [
        "GEOADD key longitude latitude field",
        "GEOADD key longitude latitude field longitude latitude field",
        "GEOADD key longitude latitude field longitude latitude field longitude latitude field",
        "GEOADD key NX|XX|CH longitude latitude field NX|XX|CH?",
        "ZADD key score field",
        "ZREM key field field*",
        "GEODIST key field field",
        "GEODIST key field field M|km|FT|mi",
        "GEOHASH|GEOPOS key field field*",
        "GEORADIUS key longitude latitude radius m|KM|ft|MI place_option? place_option?",
        "GEORADIUS_RO key longitude latitude radius km WITHDIST place_option* place_option*",
        "GEORADIUSBYMEMBER key field radius km place_option? place_option?",
        "GEORADIUSBYMEMBER_RO key field radius mi WITHCOORD place_option*",
        "GEORADIUS key longitude latitude radius km STORE|STOREDIST key COUNT small",
        "GEORADIUSBYMEMBER key field radius km STORE|STOREDIST key place_option?",
        "GEOSEARCH key FROMLONLAT longitude latitude BYRADIUS radius km place_option*",
        "GEOSEARCH key FROMLONLAT longitude latitude BYBOX radius radius km place_option*",
        "GEOSEARCH key FROMMEMBER field BYRADIUS radius mi place_option* place_option*",
        "GEOSEARCH key FROMMEMBER field BYBOX radius radius km WITHDIST place_option*",
        "GEOSEARCHSTORE key key FROMMEMBER field BYRADIUS radius km STOREDIST?",
        "GEOSEARCHSTORE key key FROMLONLAT longitude latitude BYBOX radius radius km ASC|DESC",
        "ZRANGE key 0 -1",
        "OBJECT ENCODING key",
        "DEL key",
        "SET key value",
        "DEBUG DIGEST-VALUE key key*",
    ],
    "streams": [
        "XADD stream next_id FIELD value",
        "XADD stream next_id FIELD value F2 value",
        "XADD stream id value value",
        "XADD stream trim next_id FIELD value",
        "XADD stream NOMKSTREAM trim? next_id FIELD value",
        "XLEN stream",
        "XRANGE stream start end",
        "XRANGE stream - +",
        "XREVRANGE stream end start",
        "XRANGE|XREVRANGE stream start end COUNT count",
        "XDEL stream id id*",
        "XTRIM stream trim",
        "XREAD STREAMS stream id",
        "XREAD COUNT count STREAMS stream stream id id",
        "XREAD BLOCK 1 STREAMS stream $",
        "XSETID stream 99-99",
        "XINFO STREAM stream",
        "XINFO STREAM stream FULL",
        "DEL|TYPE|EXISTS stream",
        "COPY stream stream",
        "DUMP stream",
        "DEBUG DIGEST-VALUE stream stream*",
    ],
    "groups": [
        "XADD stream next_id FIELD value",
        "XADD stream next_id FIELD value",
        "XGROUP CREATE stream group id MKSTREAM",
        "XGROUP CREATE stream group id|$",
        "XGROUP SETID stream group id|$",
        "XGROUP DESTROY stream group",
        "XGROUP CREATECONSUMER|DELCONSUMER stream group consumer",
        "XREADGROUP GROUP group consumer STREAMS stream >",
        "XREADGROUP GROUP group consumer COUNT small STREAMS stream >",
        "XREADGROUP GROUP group consumer COUNT count NOACK? STREAMS stream id",
        "XREADGROUP GROUP group consumer NOACK STREAMS stream >",
        "XREADGROUP GROUP group consumer STREAMS stream stream > id",
        "XREADGROUP GROUP group consumer BLOCK 1 STREAMS stream >",
        "XACK stream group id id*",
        "XACK stream group id id*",
        "XDEL stream id id*",
        "XPENDING stream group",
        "XPENDING stream group - + 10",
        "XPENDING stream group start end count consumer?",
        "XPENDING stream group IDLE 0|1000000 start end count",
        "XCLAIM stream group consumer 0|1000000 id id* claim_option* JUSTID?",
        "XAUTOCLAIM stream group consumer 0|1000000 start JUSTID?",
        "XAUTOCLAIM stream group consumer 0 start COUNT small JUSTID?",
        "XINFO GROUPS stream",
        "XINFO CONSUMERS stream group",
        "XINFO STREAM stream FULL",
        "XTRIM stream MAXLEN small",
        "COPY stream stream",
        "DEL stream",
    ],
    "transactions": [
        "MULTI",
        "MULTI",
        "EXEC",
        "EXEC",
        "DISCARD",
        "WATCH key key*",
        "UNWATCH",
        "SET key value",
        "GET|INCR|LPOP|HGETALL|DEL key",
        "HSET key field value",
        "ZADD key score field",
        "ZPOPMIN key",
        "RPUSH key value",
        "XADD key next_id FIELD value",
        "XRANGE key - +",
        "BLPOP key 0.001",
        "PING",
        "NOSUCH key",
        "SELECT 0|1",
    ],
}


# Entries that are deleted with regard to groups, and what groups do with them.
OF_REFERENCES = [
    "XDELEX stream policy? IDS 1 id",
    "XDELEX stream policy IDS 2 id id",
    "XDELEX stream IDS 3 id id id policy?",
    "XACKDEL stream group policy? IDS 1 id",
    "XACKDEL stream group policy IDS 2 id id",
    "XACKDEL stream group IDS 3 id id id policy?",
    "XACK stream group id id*",
    "XDEL stream id",
    "XGROUP CREATE stream group id|$ MKSTREAM",
    "XGROUP CREATE stream group 0 MKSTREAM",
    "XGROUP SETID stream group id|$",
    "XGROUP DESTROY stream group",
    "XGROUP DELCONSUMER stream group consumer",
    "XREADGROUP GROUP group consumer STREAMS stream >",
    "XREADGROUP GROUP group consumer COUNT small STREAMS stream >",
    "XREADGROUP GROUP group consumer CLAIM 0|1000000 STREAMS stream >",
    "XREADGROUP GROUP group consumer CLAIM 0|1000000 COUNT small NOACK? STREAMS stream >",
    "XCLAIM stream group consumer 0 id id* FORCE JUSTID?",
    "XAUTOCLAIM stream group consumer 0 start COUNT small JUSTID?",
    "XPENDING stream group",
    "XRANGE stream - +",
    "XINFO STREAM stream",
    "XINFO STREAM stream FULL",
    "XINFO GROUPS stream",
    "COPY stream stream",
    "DEL stream",
]

LATE_MS = 4_102_444_800_000  # the year 2100

# Commands that are logged in words that only newer servers know. No HSETEX names a field twice:
# that ends Redis 8.6.3, if the value is long.
NEWER_FAMILIES: dict[str, list[str]] = {
    "field expiry": [
        "HSET key field value",
        "HSET key field value field value field value",
        "HPEXPIREAT key when FIELDS 1 field",
        "HPEXPIREAT key when FIELDS 2 field field",
        "HPEXPIREAT key when NX|XX|GT|LT FIELDS 2 field field",
        "HEXPIREAT key when_s FIELDS 1 field",
        "HEXPIRE|HPEXPIRE key 0 FIELDS 1 field",
        "HPEXPIRETIME|HEXPIRETIME key FIELDS 3 field field field",
        "HPERSIST key FIELDS 2 field field",
        "HGETEX key FIELDS 2 field field",
        "HGETEX key PXAT when FIELDS 2 field field",
        "HGETEX key EXAT when_s FIELDS 1 field",
        "HGETEX key PERSIST FIELDS 2 field field",
        "HGETDEL key FIELDS 2 field field",
        "HSETEX key FIELDS 1 field value",
        "HSETEX key PXAT when FIELDS 2 a value 12 value",
        "HSETEX key FNX|FXX EXAT when_s FIELDS 2 b value c value",
        "HSETEX key KEEPTTL FIELDS 1 field value",
        "HSETEX key FIELDS 2 -7 value b value PXAT when FNX|FXX",
        "HGETEX key FIELDS 2 field field PXAT when",
        "HPEXPIREAT key when FIELDS 2 field field NX|XX|GT|LT",
        "HSETEX key FNX|FXX KEEPTTL FIELDS 2 c value a value",
        "HSETNX key field value",
        "HINCRBY key field number",
        "HINCRBYFLOAT key field float",
        "HDEL key field field*",
        "HGETALL|HKEYS|HVALS|HLEN key",
        "HMGET key field field*",
        "HSCAN key 0 COUNT 1000",
        "OBJECT ENCODING key",
        "COPY|RENAME key key",
        "COPY key key REPLACE",
        "DEL key",
        "SET key value",
        "DUMP key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
}

# What is compared with 8.6 only; see test_newer_random.py. After 8.6 IFEQ and its like came to
# exclude NX and XX. With GET, 8.6 answers twice if a digest has the wrong length.
FAMILIES_OF_8_6: dict[str, list[str]] = {
    "bits of several strings": [
        "BITOP DIFF|DIFF1|ANDOR|ONE key key key*",
        "BITOP DIFF|DIFF1|ANDOR|ONE key key key key*",
        "BITOP AND|OR|XOR|NOT key key",
        "SET|APPEND key value",
        "SETBIT key offset 0|1",
        "INCR|DEL|GET|STRLEN|BITCOUNT key",
        "DUMP key",
        "DEBUG DIGEST",
    ],
    "conditions": [
        "SET key value",
        "SET key value IFEQ|IFNE value",
        "SET key value IFEQ|IFNE value GET|KEEPTTL",
        "SET key value GET|KEEPTTL IFEQ|IFNE value",
        "SET key value EX|PX far IFEQ|IFNE value",
        "SET key value IFDEQ|IFDNE digest",
        "SET key value IFDEQ|IFDNE digest EX far",
        "DIGEST key",
        "DELEX key",
        "DELEX key IFEQ|IFNE value",
        "DELEX key IFDEQ|IFDNE digest",
        "MSETEX 1 key value",
        "MSETEX 2 key value key value NX|XX",
        "MSETEX 2 key value key value EX|PX far",
        "MSETEX 3 key value key value key value KEEPTTL",
        "MSETEX 2 key value key value NX|XX PX far",
        "MSETEX 2 key value key value EX far NX|XX",
        "GET|TTL|INCR|STRLEN|TYPE key",
        "APPEND key value",
        "RPUSH key value",
        "COPY key key REPLACE?",
        "DUMP key",
        "DEBUG DIGEST-VALUE key key*",
        "DEBUG DIGEST",
    ],
    "acked trims": [
        "XADD stream next_id FIELD value",
        "XADD stream next_id FIELD value",
        "XADD stream next_id FIELD value",
        "XADD stream policy next_id FIELD value",
        "XADD stream policy? trim policy? next_id FIELD value",
        "XTRIM stream trim policy",
        "XTRIM stream policy trim policy?",
        *OF_REFERENCES,
    ],
    "references": [
        "XADD stream next_id FIELD value",
        "XADD stream next_id FIELD value",
        "XADD stream next_id FIELD value",
        "XADD stream policy next_id FIELD value",
        "XADD stream dropping? trim next_id FIELD value",
        "XTRIM stream trim dropping",
        "XTRIM stream dropping trim",
        *OF_REFERENCES,
    ],
    # Ids of the year 2100, so that both servers choose the same next ones, and no producer expires.
    # No stream begins with an id of today: see _with_a_mistake().
    "producers": [
        "XADD stream late_id FIELD value",
        "XADD stream NOMKSTREAM IDMP producer iid * FIELD value",
        "XADD stream NOMKSTREAM IDMP producer iid * FIELD value",
        "XADD stream NOMKSTREAM IDMP producer iid * FIELD value",
        "XADD stream NOMKSTREAM IDMP producer iid trim * FIELD value",
        "XADD stream NOMKSTREAM trim IDMP producer iid * FIELD value",
        "XADD stream NOMKSTREAM IDMPAUTO producer * FIELD value",
        "XADD stream NOMKSTREAM IDMPAUTO producer * FIELD value field value",
        "XADD stream NOMKSTREAM * FIELD value",
        "XIDMPRECORD stream producer iid late_id",
        "XCFGSET stream IDMP-MAXSIZE small",
        "XCFGSET stream IDMP-DURATION small",
        "XCFGSET stream IDMP-DURATION 100 IDMP-MAXSIZE small",
        "XDEL stream late_id",
        "XTRIM stream trim",
        "XLEN|DEL stream",
        "XRANGE stream - +",
        "XINFO STREAM stream",
        "COPY|RENAME stream stream",
        "COPY stream stream REPLACE",
        "DUMP stream",
        "DEBUG DIGEST-VALUE stream",
    ],
}


def consumer_creations(command: Command) -> list[Command]:
    """Commands that create a new group's consumers, which 7.0 and 7.4 do at different times."""
    if command[:1] != [b"XGROUP"] or len(command) < 5 or command[1] == b"CREATECONSUMER":
        return []
    return [
        [b"XGROUP", b"CREATECONSUMER", command[2], command[3], consumer] for consumer in CONSUMERS
    ]


class Draw:
    """Draws words and commands; the same seed gives the same ones."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.last_ms = 0

    def sequence(self, family: str, size: int) -> list[Command]:
        """*size* commands of *family*."""
        forms = {**FAMILIES, **NEWER_FAMILIES, **FAMILIES_OF_8_6}[family]
        commands: list[Command] = []
        while len(commands) < size:
            commands.append(self.command(self.random.choice(forms)))
            commands.extend(consumer_creations(commands[-1]))
        return commands

    def command(self, form: str) -> Command:
        words: Command = []
        for word in form.split():
            words.extend(self._drawn(word))
        return self._with_a_mistake(words) if self.random.random() < MISTAKES else words

    def _drawn(self, word: str) -> list[bytes]:
        name = word.rstrip("?*")
        times = {"": 1, "?": self.random.randint(0, 1), "*": self.random.randint(0, 3)}
        words: list[bytes] = []
        for _ in range(times[word[len(name) :] if name else ""]):
            one = self.random.choice(name.split("|")) if name else word
            draw: Callable[[], bytes | str] | None = getattr(self, f"_{one}", None)
            drawn = draw() if draw else one
            text = drawn if isinstance(drawn, bytes) else drawn.encode()
            words.extend(text.split(b" ") if draw and one in _PHRASES else [text])
        return words

    def _with_a_mistake(self, words: Command) -> Command:
        # A cursor's meaning differs between servers.
        first = {b"SCAN": 2, b"HSCAN": 3, b"SSCAN": 3, b"ZSCAN": 3}.get(words[0], 1)
        first = max([first, *(at + 1 for at, word in enumerate(words) if _is_late(word))])
        at = self.random.randrange(first, len(words) + 1)
        odd = self.random.choice(ODD)
        kind = self.random.randrange(5)
        if _waits(words) or words[0] == b"XSETID":
            kind = min(kind, 1)  # it could block for long; 7.0 sets ids that 7.4 refuses
        if words[0] == b"SPOP" or (kind > 1 and (words[0] == b"SETRANGE" or at == len(words))):
            return [*words, odd]
        if at == len(words):
            return words[: max(1, at - 1)]
        if kind == 0:
            return words[:at] + words[at + 1 :]
        if kind == 1:
            return [*words[: at + 1], *words[at:]]
        if kind == 2:
            return [*words[:at], odd, *words[at:]]
        return [*words[:at], odd, *words[at + 1 :]]

    # Words

    def _key(self) -> str:
        return self.random.choice("abcd")

    def _stream(self) -> str:
        return self.random.choice(["s", "s", "t", "missing"])

    def _string_key(self) -> str:
        return self.random.choice("abcdef")

    def _group(self) -> str:
        return self.random.choice("gggh")

    def _dropping(self) -> str:
        return self.random.choice(["KEEPREF", "DELREF"])

    def _policy(self) -> str:
        return self.random.choice(["KEEPREF", "DELREF", "DELREF", "ACKED", "ACKED"])

    def _consumer(self) -> bytes:
        return self.random.choice(CONSUMERS)

    def _value(self) -> bytes:
        kinds = [b"%d" % self.random.randint(-200, 200), b"v", b"", b"x" * 70, b"\x00\xff\r\n"]
        kinds += [b"%d" % (self.random.choice([-1, 1]) << self.random.randrange(64)), b"3.0", b"w"]
        return self.random.choice(kinds)

    def _digest(self) -> bytes:
        digest = b"%016x" % xxh3.hashed(self._value())
        return self.random.choice([digest, digest, digest.upper()])

    def _field(self) -> bytes:
        fields = [b"a", b"b", b"c", b"12", b"-7", b"", b"01", b"a long one"]
        return self.random.choice([*fields, *fields, b"y" * 65])

    def _number(self) -> bytes:
        return self.random.choice([b"%d" % self.random.randint(-9, 9), *HUGE])

    def _small_number(self) -> str:
        return str(self.random.randint(-3, 3))

    def _float(self) -> str:
        return self.random.choice(["0.1", "1.5", "-2", "3e3", "1e-5", "0.25", "100", "-0.1"])

    def _score(self) -> str:
        return self.random.choice(["0", "0", "1", "-1", "0.5", "-2.25", "3e3", "inf", "-inf", "7"])

    def _score_end(self) -> str:
        return self.random.choice(["", "("]) + self._score()

    def _longitude(self) -> str:
        near = [f"{self.random.uniform(-1, 1):.4f}", f"{self.random.uniform(12, 16):.5f}"]
        far = [str(self.random.randint(-180, 180)), "180", "-180", "179.9999", "0"]
        return self.random.choice([*near, *near, *far])

    def _latitude(self) -> str:
        near = [f"{self.random.uniform(-1, 1):.4f}", f"{self.random.uniform(36, 39):.5f}"]
        far = [str(self.random.randint(-85, 85)), "85.05112878", "-85.05112878", "79.5", "0"]
        return self.random.choice([*near, *near, *far])

    def _radius(self) -> str:
        some = self.random.choice([1, 10, 100, 1000, 10_000])
        return self.random.choice([f"{self.random.random() * some:.3f}", str(some), "0", "5000"])

    def _index(self) -> str:
        return str(self.random.randint(-6, 6))

    def _offset(self) -> str:
        return str(self.random.randint(0, 40))

    def _width(self) -> str:
        return self.random.choice("iu") + str(self.random.choice([1, 3, 7, 8, 9, 16, 33, 63]))

    def _when(self) -> str:
        return self.random.choice(["1", "0", "33177117420000", "33177117420500", "44000000000000"])

    def _when_s(self) -> str:
        return self.random.choice(["1", "33177117420", "33177117421", "40000000000"])

    def _small(self) -> str:
        return str(self.random.randint(0, 3))

    def _count(self) -> str:
        return str(self.random.choice([0, 1, 2, 3, 10]))

    def _far(self) -> str:
        return str(self.random.randint(10**8, 10**9))

    def _pattern(self) -> str:
        return self.random.choice(["*", "a", "[a-c]", "?", "[^a]", "b*"])

    def _id(self) -> bytes:
        return self.random.choice(IDS)

    def _next_id(self) -> str:
        self.last_ms += self.random.randint(0, 1)
        choices = [f"{self.last_ms}-*", f"{self.last_ms}-{self.random.randint(0, 9)}"]
        return self.random.choice([*choices, str(self.last_ms + 1)])

    def _late_id(self) -> str:
        self.last_ms += self.random.randint(0, 1)
        return f"{LATE_MS + self.last_ms}-{self.random.randint(0, 3)}"

    def _producer(self) -> str:
        return self.random.choice("ppq")

    def _iid(self) -> str:
        return self.random.choice(["a", "b", "c", "d", "e", "x" * 70])

    def _start(self) -> bytes:
        return self.random.choice([b"-", b"-", b"(1-1", b"(2", *IDS])

    def _end(self) -> bytes:
        return self.random.choice([b"+", b"+", b"(3-5", b"(7", *IDS])

    # Phrases, which are several words

    def _trim(self) -> str:
        kind = self.random.choice(["MAXLEN", "MINID"])
        return f"{kind}{self.random.choice([' ', ' = ', ' ~ '])}{self.random.randint(0, 12)}"

    def _set_option(self) -> str:
        return self.random.choice(["NX", "XX", "GET", "KEEPTTL", f"EX {self._far()}"])

    def _getex_option(self) -> str:
        return self.random.choice(["PERSIST", f"EX {self._far()}", f"PX {self._far()}", "EXAT 1"])

    def _lpos_option(self) -> str:
        rank = self.random.choice([-2, -1, 1, 2])
        return self.random.choice([f"RANK {rank}", f"COUNT {self._count()}", "MAXLEN 3"])

    def _place_option(self) -> str:
        some = ["WITHDIST", "WITHHASH", "WITHCOORD", "ASC", "DESC"]
        count = f"COUNT {self.random.randint(1, 5)}"
        return self.random.choice([*some, count, f"{count} ANY"])

    def _claim_option(self) -> str:
        return self.random.choice(["FORCE", "RETRYCOUNT 3", "IDLE 5000000", "TIME 1", "LASTID 3-0"])


def _waits(command: Command) -> bool:
    return b"0.001" in command or b"BLOCK" in command


def _is_late(word: bytes) -> bool:
    """Whether a stream without it might begin with an id of today."""
    return word == b"NOMKSTREAM" or word.startswith(b"4102444")


_PHRASES = {"trim", "set_option", "getex_option", "lpos_option", "claim_option", "place_option"}
