"""taskiq-redis: brokers over a list and a channel, and results."""

from __future__ import annotations

import asyncio
import sys

from redis.asyncio import Redis
from taskiq.api import run_receiver_task
from taskiq_redis import (
    ListQueueBroker,
    PubSubBroker,
    RedisAsyncResultBackend,
)


async def has_subscriber(url: str, channel: str) -> None:
    """Wait until the channel has a subscriber: it gets nothing that was sent before."""
    async with Redis.from_url(url) as client:
        while not dict(await client.pubsub_numsub(channel))[channel.encode()]:
            await asyncio.sleep(0.01)


async def check(broker, url: str) -> None:
    @broker.task(task_name="add")
    async def add(left: int, right: int) -> int:
        return left + right

    await broker.startup()
    broker.is_worker_process = True
    receiver = asyncio.create_task(run_receiver_task(broker))
    if isinstance(broker, PubSubBroker):
        await has_subscriber(url, broker.queue_name)
    sent = [await add.kiq(i, i) for i in range(20)]
    results = [await task.wait_result(timeout=20) for task in sent]
    assert [result.return_value for result in results] == [2 * i for i in range(20)]
    receiver.cancel()
    await broker.shutdown()


async def main(url: str) -> None:
    for kind, name in (
        (ListQueueBroker, "a list"),
        (PubSubBroker, "a channel"),
    ):
        results = RedisAsyncResultBackend(url, result_ex_time=60)
        broker = kind(url, queue_name=name.split()[1]).with_result_backend(results)
        await check(broker, url)
        print(f"tasks go through {name}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
