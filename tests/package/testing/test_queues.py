"""penstock.queues on a real server, whose clock the tests move."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import redis

from penstock.queues import Job, Queue, Rejected, Worker
from penstock.testing import PenstockServer


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, server: PenstockServer) -> Iterator[redis.Redis]:
    client = server.client(decode_responses=True, protocol=request.param)
    yield client
    client.close()


@pytest.fixture
def queue(client: redis.Redis) -> Queue:
    queue = Queue(client, "mails", max_deliveries=2)
    queue.declare()
    return queue


def left(queue: Queue) -> tuple[int, int]:
    """How many jobs are pending, and how many are dead letters."""
    pending = queue.client.xpending(queue.name, queue.group)["pending"]
    return pending, queue.client.xlen(queue.dead_letters)


def test_jobs_are_done_once_in_their_order(queue: Queue) -> None:
    done: list[str] = []
    for name in ("ann", "bob"):
        queue.enqueue({"to": name})
    assert Worker(queue, lambda job: done.append(job.fields["to"])).drain() == 2
    assert Worker(queue, lambda job: done.append(job.fields["to"])).drain() == 0
    assert done == ["ann", "bob"]
    assert left(queue) == (0, 0)


def test_a_job_that_fails_comes_again_and_then_is_a_dead_letter(
    queue: Queue, server: PenstockServer
) -> None:
    attempts: list[str] = []

    def fail(job: Job) -> None:
        attempts.append(job.fields["to"])
        raise RuntimeError("no such address")

    queue.enqueue({"to": "nobody"})
    for expected in ([1, 1, 0], [1, 2, 0], [0, 2, 1]):
        done = Worker(queue, fail).drain()
        pending, dead = left(queue)
        assert [done, len(attempts), dead] == expected
        assert pending == 1 - dead
        server.travel(seconds=30)
    assert queue.redrive() == 1
    assert Worker(queue, lambda job: attempts.append(job.id)).drain() == 1


def test_a_rejected_job_is_a_dead_letter_at_once(queue: Queue) -> None:
    def reject(job: Job) -> None:
        raise Rejected(job.id)

    queue.enqueue({"to": "nobody"})
    Worker(queue, reject).drain()
    assert left(queue) == (0, 1)


def test_a_job_of_a_worker_that_died_is_another_s(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue({"to": "ann"})
    lost = queue.take("dead")
    assert lost is not None
    assert lost.extend(60_000)
    server.travel(seconds=30)
    assert queue.take("other") is None
    server.travel(seconds=30)
    job = queue.take("other")
    assert job is not None
    assert job.fields == {"to": "ann"}
    assert not lost.extend(60_000)


def test_a_paused_queue_gives_nothing(queue: Queue) -> None:
    queue.enqueue({"to": "ann"})
    queue.pause()
    assert queue.take("w") is None
    queue.resume()
    assert queue.take("w") is not None


def test_to_declare_it_again_changes_its_settings(queue: Queue) -> None:
    Queue(queue.client, "mails", max_pending=1).declare()
    queue.enqueue({"to": "ann"})
    queue.enqueue({"to": "bob"})
    assert queue.take("w") is not None
    assert queue.take("w") is None


def test_several_threads_work_until_they_are_stopped(queue: Queue) -> None:
    names, together = set(), threading.Barrier(3, timeout=20)

    def meet(job: Job) -> None:
        names.add(job.worker)
        together.wait()
        if job.fields["last"] == "yes":
            worker.stop()

    worker = Worker(queue, meet, name="w", threads=3)
    for number in range(6):
        queue.enqueue({"last": "yes" if number == 5 else "no"})
    worker.run()
    assert len(names) == 3
    assert left(queue) == (0, 0)
    assert queue.client.xinfo_consumers(queue.name, queue.group) == []
