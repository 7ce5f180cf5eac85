"""arq: jobs with results, deferral, unique ids, retries and a worker."""

from __future__ import annotations

import asyncio
import sys

from arq import Retry, create_pool
from arq.connections import RedisSettings
from arq.jobs import JobStatus
from arq.worker import Worker


async def add(_context, left, right):
    return left + right


async def fails_once(context):
    if context["job_try"] == 1:
        raise Retry(defer=0)
    return context["job_try"]


async def main(url: str) -> None:
    settings = RedisSettings.from_dsn(url)
    pool = await create_pool(settings)
    job = await pool.enqueue_job("add", 2, 3)
    unique = await pool.enqueue_job("add", 1, 1, _job_id="one")
    assert await pool.enqueue_job("add", 1, 1, _job_id="one") is None
    print("a job with an id is queued once")
    later = await pool.enqueue_job("add", 1, 1, _defer_by=3600)
    again = await pool.enqueue_job("fails_once")
    assert await later.status() == JobStatus.deferred
    worker = Worker(
        [add, fails_once], redis_settings=settings, poll_delay=0.01, handle_signals=False
    )
    working = asyncio.create_task(worker.async_run())
    assert await job.result(timeout=10) == 5
    assert await unique.result(timeout=10) == 2
    assert await again.result(timeout=10) == 2
    print("a worker runs jobs, and retries them")
    assert len(await pool.all_job_results()) == 3
    assert [queued.function for queued in await pool.queued_jobs()] == ["add"]
    print("results and queued jobs are listed")
    working.cancel()
    await worker.close()
    await pool.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
