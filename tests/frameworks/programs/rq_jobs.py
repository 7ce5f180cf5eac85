"""RQ: jobs, results, failures, dependencies, the scheduler's registry, a burst worker."""

from __future__ import annotations

import sys
from datetime import timedelta
from operator import add, truediv

from redis import Redis
from rq import Queue, Retry, SimpleWorker
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry


def main(url: str) -> None:
    redis = Redis.from_url(url)
    queue = Queue("work", connection=redis)
    first = queue.enqueue(add, 2, 3, result_ttl=60)
    behind = queue.enqueue(add, 10, 20, depends_on=first)
    failing = queue.enqueue(truediv, 1, 0)
    later = queue.enqueue_in(timedelta(hours=1), add, 1, 1)
    assert queue.count == 2
    assert later.id in ScheduledJobRegistry(queue=queue)
    print("jobs wait in their queue and registries")
    worker = SimpleWorker([queue], connection=redis)
    assert worker.work(burst=True, logging_level="ERROR")
    assert first.return_value() == 5
    assert behind.return_value() == 30
    print("a worker runs jobs, and those that depend on them")
    assert first.id in FinishedJobRegistry(queue=queue)
    assert failing.id in FailedJobRegistry(queue=queue)
    assert "ZeroDivisionError" in failing.latest_result().exc_string
    print("a failed job keeps its exception")
    retried = queue.enqueue(truediv, 1, 0, retry=Retry(max=2))
    worker.work(burst=True, logging_level="ERROR")
    assert retried.refresh() is None
    assert retried.get_status() == "failed"
    assert retried.retries_left == 0
    print("a job is retried as often as was asked for")
    later.cancel()
    later.delete()
    queue.empty()
    queue.delete()
    print("a queue is emptied")


if __name__ == "__main__":
    main(sys.argv[1])
