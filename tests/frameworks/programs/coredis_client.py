"""coredis: typed commands of every type, and a transaction."""

from __future__ import annotations

import asyncio
import sys

import coredis


async def main(url: str) -> None:
    async with coredis.Redis.from_url(url, decode_responses=True) as client:
        await client.flushall()
        await client.set("a", "1", ex=60)
        assert await client.incrby("a", 4) == 5
        await client.hset("h", {"x": "1", "y": "2"})
        assert await client.hgetall("h") == {"x": "1", "y": "2"}
        await client.rpush("l", ["a", "b"])
        assert await client.lrange("l", 0, -1) == ["a", "b"]
        await client.sadd("s", ["a", "b"])
        assert await client.smembers("s") == {"a", "b"}
        await client.zadd("z", {"a": 1, "b": 2})
        assert await client.zscore("z", "b") == 2.0
        added = await client.xadd("x", {"f": "v"})
        entries = await client.xrange("x")
        assert entries[0].identifier == added
        assert entries[0].field_values == {"f": "v"}
        async with client.pipeline(transaction=True) as pipe:
            one, two = pipe.incr("n"), pipe.get("n")
        assert (await one, await two) == (1, "1")
        print("commands of every type, and transactions")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
