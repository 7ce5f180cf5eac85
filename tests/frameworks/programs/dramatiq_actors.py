"""Dramatiq: actors, results, retries, a group."""

from __future__ import annotations

import sys

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend


def main(url: str) -> None:
    broker = RedisBroker(url=url)
    broker.add_middleware(Results(backend=RedisBackend(url=url)))
    dramatiq.set_broker(broker)

    @dramatiq.actor(store_results=True)
    def add(left, right):
        return left + right

    worker = dramatiq.Worker(broker, worker_timeout=100, worker_threads=2)
    worker.start()
    try:
        assert add.send(2, 3).get_result(block=True, timeout=10_000) == 5
        print("a result comes back")
        group = dramatiq.group([add.message(i, i) for i in range(5)]).run()
        assert list(group.get_results(block=True, timeout=10_000)) == [0, 2, 4, 6, 8]
        print("a group's results come back")
        broker.join("default")
    finally:
        worker.stop()


if __name__ == "__main__":
    main(sys.argv[1])
