"""penstock.queues: work with so many threads, or coroutines of asyncio."""

from __future__ import annotations

import asyncio
import sys
import time

import redis
import redis.asyncio
from marks import Marks, enqueued

import penstock.queues
import penstock.queues.asyncio

QUEUE, JOB = "jobs", {"n": "1"}


def enqueue(url, jobs, how):
    queue = penstock.queues.Queue(redis.Redis.from_url(url), QUEUE)
    queue.declare()
    begun = time.perf_counter()
    if how == "many":
        queue.enqueue_many(JOB for _ in range(jobs))
    else:
        for _ in range(jobs):
            queue.enqueue(JOB)
    enqueued(begun)


def work_in_threads(url, marks, threads):
    queue = penstock.queues.Queue(redis.Redis.from_url(url), QUEUE)
    penstock.queues.Worker(queue, lambda _: marks.job(), threads=threads).run()


async def work_in_a_loop(url, marks, concurrency):
    async def work(_):
        marks.job()

    async with redis.asyncio.Redis.from_url(url) as client:
        queue = penstock.queues.asyncio.Queue(client, QUEUE)
        await penstock.queues.asyncio.Worker(queue, work, concurrency=concurrency).run()


def main(verb, url, jobs, how="", abreast="1"):
    if verb == "enqueue":
        enqueue(url, int(jobs), how)
    elif how == "asyncio":
        asyncio.run(work_in_a_loop(url, Marks(int(jobs)), int(abreast)))
    else:
        work_in_threads(url, Marks(int(jobs)), int(abreast))


if __name__ == "__main__":
    main(*sys.argv[1:])
