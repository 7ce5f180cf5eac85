"""RQ: a SimpleWorker, which does not fork for each job; results are not kept."""

from __future__ import annotations

import sys
import time

import rq_jobs  # the name under which the worker imports the job
from marks import Marks, enqueued
from redis import Redis
from rq import Queue, SimpleWorker

MARKS = None


def job(_):
    rq_jobs.MARKS.job()


def main(verb, url, jobs):
    client = Redis.from_url(url)
    queue = Queue("jobs", connection=client)
    if verb == "enqueue":
        begun = time.perf_counter()
        for _ in range(int(jobs)):
            queue.enqueue("rq_jobs.job", "1", result_ttl=0)
        enqueued(begun)
        return
    rq_jobs.MARKS = Marks(int(jobs))
    SimpleWorker([queue], connection=client).work(burst=True, logging_level="ERROR")


if __name__ == "__main__":
    main(*sys.argv[1:])
