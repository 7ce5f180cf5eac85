"""FastStream: handlers on a channel, a pattern, a list, a stream and a consumer group; requests."""

from __future__ import annotations

import asyncio
import sys

from faststream.redis import ListSub, PubSub, RedisBroker, StreamSub
from redis.asyncio import Redis


async def waits_for_stream(url: str) -> None:
    """Wait until a reader waits at the end of a stream: it gets nothing that was added before."""
    async with Redis.from_url(url) as client:
        while not any(row["cmd"] == "xread" for row in await client.client_list()):
            await asyncio.sleep(0.01)


async def main(url: str) -> None:
    broker = RedisBroker(url, logger=None)
    came: asyncio.Queue[tuple[str, object]] = asyncio.Queue()

    @broker.subscriber(channel="news")
    async def from_channel(body: str) -> None:
        await came.put(("channel", body))

    @broker.subscriber(channel=PubSub("logs.*", pattern=True))
    async def from_pattern(body: str) -> None:
        await came.put(("pattern", body))

    @broker.subscriber(list="jobs")
    async def from_list(body: str) -> None:
        await came.put(("list", body))

    @broker.subscriber(list=ListSub("batch", batch=True, max_records=10, polling_interval=0.01))
    async def from_batch(body: list[str]) -> None:
        for one in body:
            await came.put(("batch", one))

    # FastStream asks for "$" again after each wait. What is added between two waits is lost
    # with any server, so this wait is longer than the test.
    @broker.subscriber(stream=StreamSub("events", polling_interval=60_000))
    async def from_stream(body: str) -> None:
        await came.put(("stream", body))

    @broker.subscriber(stream=StreamSub("orders", group="g", consumer="c", polling_interval=10))
    async def from_group(body: str) -> None:
        await came.put(("group", body))

    @broker.subscriber("double")
    async def doubled(body: int) -> int:
        return 2 * body

    async def arrives(*expected: tuple[str, object]) -> None:
        got = [await asyncio.wait_for(came.get(), 20) for _ in expected]
        assert sorted(got, key=str) == sorted(expected, key=str), got

    async with broker:
        await broker.start()
        await broker.publish("a", channel="news")
        await broker.publish("b", channel="logs.web")
        await arrives(("channel", "a"), ("pattern", "b"))
        print("messages come through channels and patterns")
        await broker.publish("c", list="jobs")
        await broker.publish_batch("d", "e", list="batch")
        await arrives(("list", "c"), ("batch", "d"), ("batch", "e"))
        print("messages come through lists, one by one and in batches")
        await waits_for_stream(url)
        await broker.publish("f", stream="events")
        await broker.publish("g", stream="orders")
        await arrives(("stream", "f"), ("group", "g"))
        print("messages come through streams and consumer groups")
        response = await broker.request(21, "double", timeout=20)
        assert await response.decode() == 42
        print("a request is answered")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
