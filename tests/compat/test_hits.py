"""keyspace_hits, keyspace_misses: commands count as in Redis, whatever type the key has."""

from __future__ import annotations

import pytest

from tests.compat.processes import ServerProcess, bulk

FILL = """
SET string abc
SET number 10
RPUSH list a b c
SADD set a b c
ZADD sorted 1 a 2 b
HSET hash f v g w
XADD stream 1-1 a b
XGROUP CREATE stream g 0
GEOADD places 13.361389 38.115556 P 15.087269 37.502669 C
"""
KEYS = b"string number list set sorted hash stream places none".split()

# Each is run with each of the keys in the place of K. d is a key that does not exist.
COMMANDS = """
GET K|GETEX K|GETEX K EX 100|GETDEL K|GETSET K v|SET K v|SET K v GET|SET K v NX|SET K v XX GET
SETNX K v|SETEX K 10 v|APPEND K x|STRLEN K|GETRANGE K 0 1|SETRANGE K 1 x|INCR K|INCRBYFLOAT K 1
MGET K K|MSET K 1|MSETNX K 1|GETBIT K 1|SETBIT K 1 1|BITCOUNT K|BITPOS K 1|BITOP AND d K K
BITFIELD K GET u8 0|BITFIELD K SET u8 0 1|BITFIELD_RO K GET u8 0|LCS K K
EXISTS K K|TYPE K|TTL K|PTTL K|EXPIRETIME K|EXPIRE K 100|EXPIRE K -1|PERSIST K|DEL K|UNLINK K
TOUCH K|RENAME K d|RENAMENX K d|RENAMENX K sorted|COPY K d|COPY K sorted|MOVE K 1
COPY K sorted REPLACE|DUMP K|RESTORE K 0 x|WATCH K|SCAN 0|KEYS *|RANDOMKEY
OBJECT ENCODING K|OBJECT FREQ K|OBJECT IDLETIME K|OBJECT REFCOUNT K|MEMORY USAGE K
SORT K|SORT K BY nosort|SORT_RO K|SORT K STORE d|EVAL return(redis.call('get',KEYS[1])) 1 K
LPUSH K v|LPUSHX K v|LPOP K|RPOP K 2|LLEN K|LRANGE K 0 1|LINDEX K 0|LSET K 0 v|LREM K 0 a|LPOS K a
LINSERT K BEFORE a v|LTRIM K 0 0|LMOVE K d LEFT RIGHT|LMOVE list K LEFT RIGHT|RPOPLPUSH K d
LMPOP 1 K LEFT|LMPOP 2 d K LEFT
SADD K a|SREM K a|SCARD K|SISMEMBER K a|SMISMEMBER K a b|SMEMBERS K|SPOP K|SPOP K 2|SSCAN K 0
SRANDMEMBER K|SRANDMEMBER K 2|SMOVE K d a|SMOVE set K a|SINTER K K|SINTERCARD 1 K|SUNION K K
SDIFF K K|SINTERSTORE d K K|SUNIONSTORE d K|SDIFFSTORE d K
ZADD K 1 a|ZADD K XX 1 a|ZINCRBY K 1 a|ZREM K a|ZCARD K|ZCOUNT K 0 1|ZLEXCOUNT K - +|ZSCORE K a
ZMSCORE K a b|ZRANK K a|ZREVRANK K a|ZRANGE K 0 1|ZRANGESTORE d K 0 1|ZRANGEBYSCORE K 0 1
ZREMRANGEBYRANK K 0 0|ZREMRANGEBYSCORE K 0 0|ZPOPMIN K|ZMPOP 1 K MIN|ZRANDMEMBER K|ZRANDMEMBER K 2
ZUNION 1 K|ZINTER 2 K sorted|ZINTERCARD 1 K|ZDIFF 2 sorted K|ZUNIONSTORE d 1 K|ZSCAN K 0
HSET K f v|HSETNX K f v|HGET K f|HMGET K f g|HGETALL K|HKEYS K|HLEN K|HDEL K f|HEXISTS K f
HSTRLEN K f|HINCRBY K n 1|HINCRBYFLOAT K n 1|HRANDFIELD K|HRANDFIELD K 2|HSCAN K 0
XADD K * a b|XADD K NOMKSTREAM * a b|XLEN K|XRANGE K - +|XREVRANGE K + -|XACK K g 1-1|XPENDING K g
XPENDING K g - + 10|XCLAIM K g c 0 1-1|XAUTOCLAIM K g c 0 0|XDEL K 1-1|XTRIM K MAXLEN 0|XSETID K 9-9
XGROUP CREATE K h $|XGROUP CREATE K h $ MKSTREAM|XGROUP DESTROY K g|XGROUP CREATECONSUMER K g c
XGROUP DELCONSUMER K g c|XGROUP SETID K g 0|XINFO STREAM K|XINFO GROUPS K|XINFO CONSUMERS K g
PFADD K a|PFCOUNT K|PFMERGE d K|GEOADD K 1 1 a|GEOPOS K P|GEODIST K P C|GEOHASH K P
GEOSEARCH K FROMMEMBER P BYRADIUS 1 m|GEOSEARCHSTORE d K FROMLONLAT 1 1 BYRADIUS 1 m
"""


@pytest.mark.parametrize("words", COMMANDS.replace("\n", "|").strip("|").split("|"))
def test_a_command_counts_the_hits_and_misses_of_redis(
    words: str, penstock: ServerProcess, redis: ServerProcess
) -> None:
    keys = KEYS if " K" in words else KEYS[:1]
    assert counted(penstock, words, keys) == counted(redis, words, keys)


def counted(server: ServerProcess, words: str, keys: list[bytes]) -> dict[bytes, list[int]]:
    """For each key, the hits and misses that the command counts on it."""
    found = {}
    for key in keys:
        server.control.call(b"FLUSHALL")
        for line in FILL.strip().splitlines():
            server.control.call(*line.encode().split())
        server.control.call(b"CONFIG", b"RESETSTAT")
        server.control.call(*(key if word == b"K" else word for word in words.encode().split()))
        server.control.call(b"UNWATCH")
        stats = bulk(server.control.call(b"INFO", b"stats"))
        found[key] = [figure(stats, b"keyspace_hits"), figure(stats, b"keyspace_misses")]
    return found


def figure(info: bytes, name: bytes) -> int:
    """What INFO's text says of *name*."""
    lines = info.splitlines()
    return int(next(line for line in lines if line.startswith(name + b":")).split(b":")[1])
