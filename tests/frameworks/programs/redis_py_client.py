"""redis-py: every type, pipelines with WATCH, pub/sub, in RESP2 and RESP3, sync and asyncio."""

from __future__ import annotations

import asyncio
import sys

import redis
import redis.asyncio


def check(url: str, protocol: int) -> None:
    client = redis.Redis.from_url(url, decode_responses=True, protocol=protocol)
    client.flushall()
    assert client.set("a", "1", ex=60, get=True) is None
    assert client.hset("h", mapping={"x": 1, "y": 2}) == 2
    assert client.hgetall("h") == {"x": "1", "y": "2"}
    client.zadd("z", {"a": 1, "b": 2.5})
    assert client.zrange("z", 0, -1, withscores=True, desc=True)[0][0] == "b"
    assert client.zincrby("z", 1, "a") == 2.0
    client.sadd("s", "a", "b")
    assert client.smembers("s") == {"a", "b"}
    client.setbit("bits", 7, 1)
    assert client.bitcount("bits") == 1
    client.pfadd("pf", "a", "b")
    assert client.pfcount("pf") == 2

    def raise_by_one(pipe):
        value = int(pipe.get("a"))
        pipe.multi()
        pipe.set("a", value + 1)

    assert client.transaction(raise_by_one, "a") == [True]
    subscriber = client.pubsub(ignore_subscribe_messages=True)
    subscriber.subscribe("news")
    assert subscriber.get_message(timeout=1) is None
    assert client.publish("news", "hello") == 1
    assert subscriber.get_message(timeout=10)["data"] == "hello"
    subscriber.close()
    assert client.client_list()
    assert client.info("server")["redis_version"]
    assert len(list(client.scan_iter(count=2))) == client.dbsize()
    client.close()


async def check_asyncio(url: str, protocol: int) -> None:
    async with redis.asyncio.Redis.from_url(
        url, decode_responses=True, protocol=protocol
    ) as client:
        await client.flushall()
        async with client.pipeline(transaction=True) as pipe:
            assert await pipe.set("a", 1).incr("a").execute() == [True, 2]
        popping = asyncio.create_task(client.blpop("l", timeout=20))
        while not (await client.info("clients"))["blocked_clients"]:
            await asyncio.sleep(0.01)
        await client.rpush("l", "x")
        assert tuple(await popping) == ("l", "x")


def main(url: str) -> None:
    for protocol in (2, 3):
        check(url, protocol)
        print(f"sync, RESP{protocol}")
        asyncio.run(check_asyncio(url, protocol))
        print(f"asyncio, RESP{protocol}")


if __name__ == "__main__":
    main(sys.argv[1])
