"""Workers that are killed: each job is done all the same, and few are done twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.queues import Job, Queue, Worker
from penstock.queues.hand import MOST
from penstock.testing import PenstockServer

ROOT = Path(__file__).parents[3]
JOBS = 5_000
KINDS = {
    "threads": """
import sys, redis
from penstock.queues import Queue, Worker
client = redis.Redis.from_url(sys.argv[1])
Worker(Queue(client, "jobs"), lambda job: client.incr(job.fields[b"n"]), threads=3).run()
""",
    "asyncio": """
import asyncio, sys, redis.asyncio
from penstock.queues.asyncio import Queue, Worker
async def main():
    client = redis.asyncio.Redis.from_url(sys.argv[1])
    async def work(job):
        await client.incr(job.fields[b"n"])
    await Worker(Queue(client, "jobs"), work, concurrency=20).run()
asyncio.run(main())
""",
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_job_is_lost_when_workers_are_killed(kind: str, server: PenstockServer) -> None:
    with server.client() as client:
        queue = Queue(client, "jobs")
        queue.declare()
        queue.enqueue_many({"n": number} for number in range(JOBS))
        for at_least in (100, 1000, 2000):
            words = [sys.executable, "-c", KINDS[kind], server.url]
            with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE) as worker:
                while client.dbsize() < at_least and worker.poll() is None:
                    pass
                worker.kill()
                _, errors = worker.communicate()
                assert errors == b""
        server.travel(seconds=31)

        def work(job: Job) -> None:
            client.incr(job.fields[b"n"])

        Worker(queue, work).drain()
        pending = client.xpending("jobs", "workers")
        assert (pending["pending"], client.xlen(queue.dead_letters)) == (0, 0)
        times = [int(value) for value in client.mget(range(JOBS)) if value is not None]
        assert len(times) == JOBS
        assert sum(times) - JOBS <= 3 * MOST
