"""Celery: a worker, results, retries, countdowns, chords, and remote control over pub/sub."""

from __future__ import annotations

import subprocess
import sys
import time

from celery import Celery, chord, group


def make_app(url: str) -> Celery:
    app = Celery("penstock", broker=url, backend=url)
    app.conf.update(
        task_default_queue="q",
        broker_connection_retry_on_startup=True,
        result_expires=600,
        worker_hijack_root_logger=False,
    )

    @app.task(name="add")
    def add(left, right):
        return left + right

    @app.task(name="total")
    def total(numbers):
        return sum(numbers)

    @app.task(name="fails_twice", bind=True, max_retries=3)
    def fails_twice(self):
        if self.request.retries < 2:
            raise self.retry(countdown=0)
        return self.request.retries

    @app.task(name="fails")
    def fails():
        raise ValueError("as was asked for")

    return app


def main(url: str) -> None:
    app = make_app(url)
    worker = subprocess.Popen([sys.executable, __file__, "worker", url])
    try:
        add, total = app.tasks["add"], app.tasks["total"]
        assert add.delay(2, 3).get(timeout=60) == 5
        print("a result comes back")
        assert group(add.s(i, i) for i in range(20)).apply_async().get(timeout=30) == [
            2 * i for i in range(20)
        ]
        print("a group's results come back in order")
        assert chord(add.s(i, i) for i in range(10))(total.s()).get(timeout=30) == 90
        print("a chord's body gets the results of its header")
        assert (add.s(1, 1) | add.s(10)).apply_async().get(timeout=30) == 12
        print("a chain hands results on")
        assert app.tasks["fails_twice"].delay().get(timeout=30) == 2
        print("a task is retried")
        failed = app.tasks["fails"].delay()
        assert isinstance(failed.get(timeout=30, propagate=False), ValueError)
        print("an exception comes back")
        begun = time.monotonic()
        assert add.apply_async((1, 2), countdown=1).get(timeout=30) == 3
        assert time.monotonic() - begun >= 1
        print("a countdown is kept")
        assert len(app.control.ping(timeout=5)) == 1
        print("a worker answers remote control")
        result = add.delay(1, 1)
        result.get(timeout=30)
        result.forget()
        print("a result is forgotten")
    finally:
        worker.terminate()
        worker.wait(30)


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        make_app(sys.argv[2]).worker_main(
            [
                "worker",
                "--pool=threads",
                "--concurrency=2",
                "--loglevel=WARNING",
            ]
        )
    else:
        main(sys.argv[1])
