"""Celery: acknowledged after the work, no results."""

from __future__ import annotations

import sys
import time

from celery import Celery
from marks import Marks, enqueued


def main(verb, url, jobs, pool="solo", abreast="1"):
    app = Celery("jobs", broker=url)
    app.conf.update(
        task_acks_late=True,
        task_ignore_result=True,
        worker_prefetch_multiplier=100,
        broker_connection_retry_on_startup=True,
        worker_redirect_stdouts=False,
    )
    marks = Marks(int(jobs))

    @app.task(name="job")
    def job(_):
        marks.job()

    if verb == "enqueue":
        job.delay("1")  # connects
        begun = time.perf_counter()
        for _ in range(int(jobs) - 1):
            job.delay("1")
        enqueued(begun)
        return
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR"]
    app.worker_main(["worker", f"--pool={pool}", f"--concurrency={abreast}", *quiet])


if __name__ == "__main__":
    main(*sys.argv[1:])
