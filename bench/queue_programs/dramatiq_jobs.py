"""Dramatiq: one process with threads; acknowledged after the work."""

from __future__ import annotations

import sys
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from marks import Marks, enqueued


def main(verb, url, jobs, abreast="8"):
    broker = RedisBroker(url=url)
    dramatiq.set_broker(broker)
    marks = Marks(int(jobs))

    @dramatiq.actor
    def job(_):
        marks.job()

    if verb == "enqueue":
        begun = time.perf_counter()
        for _ in range(int(jobs)):
            job.send("1")
        enqueued(begun)
        return
    worker = dramatiq.Worker(broker, worker_threads=int(abreast))
    worker.start()
    time.sleep(3600)  # until it is ended


if __name__ == "__main__":
    main(*sys.argv[1:])
