"""penstock.queues.asyncio on a real server, whose clock the tests move."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio
import redis
import redis.asyncio
from redis.backoff import ConstantBackoff

from penstock import queues
from penstock.queues import asyncio as async_queues
from penstock.queues import worker_words
from penstock.queues.asyncio import Job, Queue, Rejected, Retry, Worker
from penstock.testing import PenstockServer
from tests.package.queues.conftest import WorkerClock

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture(params=[2, 3])
async def client(
    request: pytest.FixtureRequest, server: PenstockServer
) -> AsyncIterator[redis.asyncio.Redis]:
    client = server.async_client(decode_responses=True, protocol=request.param)
    yield client
    await client.aclose()


@pytest_asyncio.fixture
async def queue(client: redis.asyncio.Redis) -> Queue:
    queue = Queue(client, "mails", max_deliveries=2)
    await queue.declare()
    await queue.declare()
    return queue


async def nothing(_: Job) -> None:
    pass


async def left(queue: Queue) -> tuple[int, int]:
    """How many jobs are pending, and how many are dead letters."""
    pending = await queue.client.xpending(queue.name, queue.group)
    return pending["pending"], await queue.client.xlen(queue.dead_letters)


async def test_jobs_are_done_once_in_their_order(queue: Queue) -> None:
    done: list[str] = []

    async def work(job: Job) -> None:
        done.append(job.fields["to"])

    await queue.enqueue({"to": "ann"})
    await queue.enqueue_many([{"to": "bob"}, {"to": "cem"}])
    assert await Worker(queue, work).drain() == 3
    assert await Worker(queue, work).drain() == 0
    assert (done, await left(queue)) == (["ann", "bob", "cem"], (0, 0))


async def test_a_job_that_fails_comes_again_and_then_is_a_dead_letter(
    queue: Queue, server: PenstockServer
) -> None:
    async def fail(job: Job) -> None:
        raise RuntimeError("no such address")

    await queue.enqueue({"to": "nobody"})
    for expected in ((1, 1, 0), (1, 0, 1), (0, 0, 1)):
        assert (await Worker(queue, fail).drain(), *await left(queue)) == expected
        server.travel(seconds=1)
    assert await queue.redrive() == 1
    assert await Worker(queue, nothing).drain() == 1


async def test_a_plain_function_does_jobs_too(queue: Queue) -> None:
    done: list[str] = []
    await queue.enqueue({"to": "ann"})
    assert await Worker(queue, lambda job: done.append(job.fields["to"])).drain() == 1
    assert (done, await left(queue)) == (["ann"], (0, 0))


async def test_a_rejected_job_is_a_dead_letter_at_once(queue: Queue) -> None:
    async def reject(job: Job) -> None:
        raise Rejected(job.id)

    await queue.enqueue({"to": "nobody"})
    await Worker(queue, reject).drain()
    assert await left(queue) == (0, 1)


async def test_a_job_is_kept_longer_done_or_rejected_by_hand(
    queue: Queue, server: PenstockServer
) -> None:
    await queue.enqueue_many([{"to": "ann"}, {"to": "bob"}])
    first, second = await queue.take("w"), await queue.take("w", 10)
    assert first is not None
    assert second is not None
    assert await queue.take("w") is None
    assert await first.extend(60_000)
    server.travel(seconds=31)
    again = await queue.take("other")
    assert again is not None
    assert again.fields == {"to": "bob"}
    assert not await second.extend(60_000)
    await first.done()
    await again.reject()
    assert await left(queue) == (0, 1)


async def test_a_job_that_fails_late_fails_if_it_was_extended(
    client: redis.asyncio.Redis, server: PenstockServer, worker_clock: WorkerClock
) -> None:
    queue = Queue(client, "long", visibility_ms=100)
    await queue.declare()
    await queue.enqueue({"to": "ann"})

    async def put_off(job: Job) -> None:
        assert await job.extend(3_600_000)
        server.travel(milliseconds=150)
        worker_clock.ahead_s += 0.15
        raise Retry(5000)

    assert await Worker(queue, put_off).drain() == 1
    server.travel(seconds=5)
    assert await Worker(queue, nothing).drain() == 1


async def test_a_job_that_is_put_off_late_is_put_off(
    client: redis.asyncio.Redis, server: PenstockServer, worker_clock: WorkerClock
) -> None:
    queue = Queue(client, "short", visibility_ms=400)
    await queue.declare()
    await queue.enqueue({"to": "ann"})
    server.freeze()

    async def put_off(job: Job) -> None:
        worker_clock.ahead_s += 0.25
        raise Retry(60_000)

    assert await Worker(queue, put_off).drain() == 1
    server.travel(milliseconds=59_999)
    assert await queue.take("w") is None
    server.travel(milliseconds=1)
    assert await queue.take("w") is not None


async def test_a_job_by_hand_fails_or_is_put_off_unless_it_is_another_s(
    queue: Queue, server: PenstockServer
) -> None:
    await queue.enqueue_many([{"to": "ann"}, {"to": "bob"}])
    first, second = await queue.take("w"), await queue.take("w")
    assert first is not None
    assert second is not None
    assert await first.fail()
    assert await second.retry(3_600_000)
    assert not await second.reject()
    server.travel(seconds=1)
    again = await queue.take("w")
    assert again is not None
    assert again.id == first.id
    assert await left(queue) == (2, 0)


async def test_a_paused_queue_gives_nothing(queue: Queue) -> None:
    await queue.enqueue({"to": "ann"})
    await queue.pause()
    assert await Worker(queue, nothing).drain() == 0
    await queue.resume()
    assert await Worker(queue, nothing).drain() == 1


async def test_delayed_and_recurring_jobs(queue: Queue, server: PenstockServer) -> None:
    await queue.enqueue({"to": "ann"}, delay_ms=3_600_000)
    assert await queue.cancel(await queue.enqueue({"to": "bob"}, delay_ms=3_600_000))
    await queue.schedule("ping", {"to": "cem"}, every_ms=3_000_000)
    assert await Worker(queue, nothing).drain() == 0
    server.travel(hours=1, seconds=1)
    assert await Worker(queue, nothing).drain() == 2
    assert await queue.unschedule("ping")


async def test_a_worker_does_at_least_one_job_at_a_time(queue: Queue) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Worker(queue, nothing, concurrency=0)


async def test_a_wait_may_be_longer_than_the_client_s_patience(server: PenstockServer) -> None:
    client = server.async_client(socket_timeout=1.2)
    queue = Queue(client, "quiet")
    await queue.declare()
    assert await queue.take("w", 0) is None
    assert await queue.take("w", 1300) is None
    await client.aclose()


async def test_a_job_that_is_no_text_takes_no_other_with_it(
    queue: Queue, server: PenstockServer
) -> None:
    await queue.enqueue_many([{"n": "1"}] * 200)
    await queue.enqueue({"n": b"\xff"})
    await queue.enqueue_many([{"n": "1"}] * 200)
    assert await Worker(queue, nothing).drain() == 400
    assert await left(queue) == (0, 1)
    ((_, letter),) = server.call("XRANGE", queue.dead_letters, "-", "+")
    assert letter[1] == b"\xff"
    assert letter[-1].startswith(b"UnicodeDecodeError: ")


async def test_what_is_taken_by_hand_is_text(queue: Queue) -> None:
    await queue.enqueue({"n": b"\xff"})
    job_id = await queue.enqueue({"n": "1"})
    job = await queue.take("w")
    assert job is not None
    assert job.id == job_id
    assert await left(queue) == (1, 1)


async def test_the_first_of_many_jobs_without_fields_is_named(queue: Queue) -> None:
    with pytest.raises(ValueError, match="job 1 has no fields"):
        await queue.enqueue_many([{"n": "1"}, {}, {"n": "2"}])
    assert await queue.client.xlen("mails") == 0


async def test_a_job_is_added_once(queue: Queue) -> None:
    ids = [await queue.enqueue({"n": "1"}, once="order 7") for _ in range(2)]
    assert ids[0] == ids[1]
    assert await queue.client.xlen("mails") == 1


async def test_several_jobs_are_done_at_a_time(queue: Queue) -> None:
    together, ids = asyncio.Event(), set()

    async def meet(job: Job) -> None:
        ids.add(job.id)
        if len(ids) == 3:
            together.set()
            worker.stop()
        await together.wait()

    worker = Worker(queue, meet, name="w", concurrency=3)
    await queue.enqueue_many([{"n": "1"}] * 3)
    await asyncio.wait_for(worker.run(), 20)
    assert await left(queue) == (0, 0)
    assert await queue.client.xinfo_consumers(queue.name, queue.group) == []


async def test_what_was_not_begun_goes_back_uncounted_when_a_worker_stops(
    client: redis.asyncio.Redis,
) -> None:
    queue = Queue(client, "once", max_deliveries=1)
    await queue.declare()
    ids = await queue.enqueue_many([{"n": "1"}] * 1000)
    done = []

    async def work(job: Job) -> None:
        done.append(job.id)
        if len(done) == 300:
            worker.stop()

    worker = Worker(queue, work, concurrency=4)
    await worker.run()
    assert len(done) == 300
    assert await Worker(queue, work).drain() == 700
    assert (sorted(done), await left(queue)) == (sorted(ids), (0, 0))


async def test_a_drain_that_is_stopped_gives_back_what_it_has_not_begun(queue: Queue) -> None:
    async def work(job: Job) -> None:
        if job.fields["n"] == "300":
            worker.stop()

    await queue.enqueue_many({"n": str(number)} for number in range(1, 1001))
    worker = Worker(queue, work)
    assert await worker.drain() == 300
    assert await Worker(queue, nothing).drain() == 700


async def test_a_worker_that_is_cancelled_loses_no_job(
    queue: Queue, server: PenstockServer
) -> None:
    begun, done = asyncio.Event(), []

    async def hang(job: Job) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def work(job: Job) -> None:
        done.append(job.id)

    ids = await queue.enqueue_many([{"n": "1"}] * 3)
    running = asyncio.create_task(Worker(queue, hang, concurrency=2).run())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    server.travel(seconds=31)
    await Worker(queue, work).drain()
    assert sorted(done) == ids


async def test_a_cancelled_worker_ends_if_its_job_keeps_that_to_itself(queue: Queue) -> None:
    begun = asyncio.Event()

    async def hold_out(job: Job) -> None:
        begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    await queue.enqueue({"to": "ann"})
    worker = Worker(queue, hold_out)
    running = asyncio.create_task(worker.run())
    await begun.wait()
    running.cancel()
    ended, _ = await asyncio.wait([running], timeout=5)
    worker.stop()
    assert ended
    assert running.cancelled()
    assert await left(queue) == (0, 0)


async def test_a_job_that_waits_for_what_is_cancelled_has_failed(queue: Queue) -> None:
    async def work(job: Job) -> None:
        other = asyncio.create_task(asyncio.Event().wait())
        other.cancel()
        await other

    await queue.enqueue_many([{"n": "1"}] * 2)
    assert await Worker(queue, work).drain() == 2
    assert await left(queue) == (2, 0)


async def test_a_worker_goes_on_when_the_server_is_back(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_queues, "AGAIN_S", 0)
    call, failures = queue.call, [redis.ConnectionError(), redis.TimeoutError()]

    async def lost(*commands: tuple[object, ...]) -> list[object]:
        if failures and commands[0][0] == "XACK":
            raise failures.pop()
        return await call(*commands)

    monkeypatch.setattr(queue, "call", lost)
    done = []

    async def work(job: Job) -> None:
        done.append(job.fields["n"])
        if len(done) == 3:
            worker.stop()

    worker = Worker(queue, work)
    await queue.enqueue_many({"n": number} for number in "123")
    await worker.run()
    assert (done, failures, await left(queue)) == (["1", "2", "3"], [], (0, 0))


async def test_a_worker_goes_on_when_its_server_was_a_replica_for_a_while(
    queue: Queue, server: PenstockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_queues, "AGAIN_S", 0.01)
    done: list[str] = []

    async def work(job: Job) -> None:
        done.append(job.id)
        worker.stop()

    worker = Worker(queue, work)
    working = asyncio.create_task(worker.run())
    while not await queue.client.xinfo_consumers(queue.name, queue.group):
        await asyncio.sleep(0.01)
    server.call("CONFIG", "RESETSTAT")
    server.call("REPLICAOF", "127.0.0.1", "1")
    while "errorstat_READONLY" not in await queue.client.info("errorstats"):
        await asyncio.sleep(0.01)
    server.call("REPLICAOF", "NO", "ONE")
    job_id = await queue.enqueue({"to": "ann"})
    await asyncio.wait_for(working, 20)
    assert (done, await left(queue)) == ([job_id], (0, 0))


async def test_a_worker_that_signs_off_drops_no_job_of_another_of_its_name(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumers = queue.client.xinfo_consumers

    async def and_then_the_other_reads(name: str, group: str) -> Any:
        answer = await consumers(name, group)
        await queue.enqueue({"to": "ann"})
        assert await queue.take("w") is not None
        return answer

    monkeypatch.setattr(queue.client, "xinfo_consumers", and_then_the_other_reads)
    worker = Worker(queue, nothing, name="w")
    assert await queue.take("w") is None
    worker.stop()
    await worker.run()
    assert await queue.take("v") is not None


async def test_a_worker_ends_if_there_is_no_such_queue(client: redis.asyncio.Redis) -> None:
    queue = Queue(client, "nowhere")
    with pytest.raises(redis.ResponseError, match="NOGROUP"):
        await Worker(queue, nothing, concurrency=2).run()


@pytest.mark.parametrize("kind", ["away", "silent"])
async def test_a_worker_ends_when_it_is_stopped_even_without_a_server(
    request: pytest.FixtureRequest, kind: str
) -> None:
    retry = redis.asyncio.retry.Retry(ConstantBackoff(3), 3)
    client = redis.asyncio.Redis(port=request.getfixturevalue(kind), retry=retry)
    worker = Worker(Queue(client, "mails"), nothing, concurrency=3)
    working = asyncio.create_task(worker.run())
    await asyncio.sleep(0)
    worker.stop()
    ended, _ = await asyncio.wait([working], timeout=6)
    assert ended
    await client.aclose()


async def test_what_a_stopped_worker_is_given_after_all_goes_back(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, goes_on = asyncio.Event(), asyncio.Event()
    call = queue.call

    async def late(*commands: tuple[object, ...]) -> list[object]:
        if commands[-1][0] == "XREADGROUP":
            asked.set()
            await goes_on.wait()
        return await call(*commands)

    monkeypatch.setattr(queue, "call", late)
    monkeypatch.setattr(worker_words, "PATIENCE_S", 0)
    worker = Worker(queue, nothing)
    working = asyncio.create_task(worker.run())
    await asked.wait()
    worker.stop()
    await asyncio.wait_for(working, 20)
    await queue.enqueue({"to": "ann"})
    goes_on.set()
    while (await queue.client.xpending(queue.name, queue.group))["consumers"] or not (
        await left(queue)
    )[0]:
        await asyncio.sleep(0.01)
    assert await Worker(queue, nothing).drain() == 1


async def test_both_kinds_of_queues_have_the_same_methods() -> None:
    pairs = ((queues.Queue, Queue), (queues.Worker, Worker), (queues.Job, Job))
    for ours, other in pairs:
        assert {name for name in vars(ours) if name[0] != "_"} == {
            name for name in vars(other) if name[0] != "_"
        }
