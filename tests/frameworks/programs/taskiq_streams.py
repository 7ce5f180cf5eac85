"""taskiq-redis: a broker over a stream, whose consumers lock it to claim what others left."""

from __future__ import annotations

import asyncio
import sys

from taskiq.api import run_receiver_task
from taskiq_redis import (
    RedisAsyncResultBackend,
    RedisStreamBroker,
)


async def check(broker) -> None:
    @broker.task(task_name="add")
    async def add(left: int, right: int) -> int:
        return left + right

    await broker.startup()  # makes the group, which gets what is sent from now on
    broker.is_worker_process = True
    receiver = asyncio.create_task(run_receiver_task(broker))
    sent = [await add.kiq(i, i) for i in range(20)]
    results = [await task.wait_result(timeout=20) for task in sent]
    assert [result.return_value for result in results] == [2 * i for i in range(20)]
    receiver.cancel()
    await broker.shutdown()


async def main(url: str) -> None:
    results = RedisAsyncResultBackend(url, result_ex_time=60)
    await check(RedisStreamBroker(url).with_result_backend(results))
    print("tasks go through a stream")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
