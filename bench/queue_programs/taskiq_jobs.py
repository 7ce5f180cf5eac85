"""taskiq-redis: the broker over a stream; acknowledged after the work, no results."""

from __future__ import annotations

import asyncio
import sys
import time

from marks import Marks, enqueued
from taskiq.api import run_receiver_task
from taskiq_redis import RedisStreamBroker


async def main(verb, url, jobs, abreast="100"):
    broker = RedisStreamBroker(url)
    marks = Marks(int(jobs))

    @broker.task(task_name="job")
    async def job(_: str) -> None:
        marks.job()

    broker.is_worker_process = verb == "work"
    await broker.startup()
    if verb == "enqueue":
        begun = time.perf_counter()
        for _ in range(int(jobs)):
            await job.kiq("1")
        enqueued(begun)
        await broker.shutdown()
        return
    await run_receiver_task(broker, max_async_tasks=int(abreast), run_startup=False)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
