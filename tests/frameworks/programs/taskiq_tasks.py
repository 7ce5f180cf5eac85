"""taskiq-redis: brokers over a list and a channel, and results."""

from __future__ import annotations

import asyncio
import sys

from taskiq.api import run_receiver_task
from taskiq_redis import (
    ListQueueBroker,
    PubSubBroker,
    RedisAsyncResultBackend,
)


async def check(broker) -> None:
    @broker.task(task_name="add")
    async def add(left: int, right: int) -> int:
        return left + right

    await broker.startup()
    broker.is_worker_process = True
    receiver = asyncio.create_task(run_receiver_task(broker))
    await asyncio.sleep(0.3)  # a subscriber gets nothing that was sent before
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
        await check(kind(url, queue_name=name.split()[1]).with_result_backend(results))
        print(f"tasks go through {name}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
