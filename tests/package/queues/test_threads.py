"""penstock.queues on a real server, whose clock the tests move."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from redis.backoff import ConstantBackoff

from penstock.queues import Job, Queue, Rejected, Retry, Worker, threads, words, worker_words
from penstock.queues.answers import is_lost
from penstock.testing import PenstockServer
from tests.package.queues.conftest import WorkerClock
from tests.polling import until

LONG_SCRIPT = """
local first = redis.call('TIME')
repeat
  local now = redis.call('TIME')
until (now[1] - first[1]) * 1000000 + now[2] - first[2] > 500000
"""


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


def held(queue: Queue) -> int:
    """How many jobs workers have: not those that were given back."""
    found = queue.client.xpending_range(queue.name, queue.group, "-", "+", 1000)
    return sum(bool(entry["consumer"]) for entry in found)


def taken(queue: Queue) -> Job:
    job = queue.take("w")
    assert job is not None
    return job


def reasons(queue: Queue) -> list[str]:
    """What the dead letters say."""
    letters: Any = queue.client.xrange(queue.dead_letters)
    return [fields["dead-reason"] for _, fields in letters]


def test_jobs_are_done_once_in_their_order(queue: Queue) -> None:
    done: list[str] = []
    for name in ("ann", "bob"):
        queue.enqueue({"to": name})
    assert Worker(queue, lambda job: done.append(job.fields["to"])).drain() == 2
    assert Worker(queue, lambda job: done.append(job.fields["to"])).drain() == 0
    assert done == ["ann", "bob"]
    assert left(queue) == (0, 0)


def test_a_job_that_fails_waits_comes_again_and_then_is_a_dead_letter(
    queue: Queue, server: PenstockServer
) -> None:
    attempts: list[str] = []

    def fail(job: Job) -> None:
        attempts.append(job.fields["to"])
        raise RuntimeError("no such address")

    queue.enqueue({"to": "nobody"})
    assert (Worker(queue, fail).drain(), *left(queue)) == (1, 1, 0)
    server.travel(milliseconds=900)
    assert Worker(queue, fail).drain() == 0
    server.travel(milliseconds=100)
    assert (Worker(queue, fail).drain(), *left(queue)) == (1, 0, 1)
    assert reasons(queue) == ["RuntimeError: no such address"]
    assert queue.redrive() == 1
    assert Worker(queue, lambda job: attempts.append(job.id)).drain() == 1
    assert len(attempts) == 3


def test_the_waits_grow_and_the_last_one_repeats(
    client: redis.Redis, server: PenstockServer
) -> None:
    queue = Queue(client, "slower", backoff_ms=(1000, 5000), max_deliveries=4)
    queue.declare()
    queue.enqueue({"n": "1"})
    server.freeze()

    def fail(job: Job) -> None:
        raise RuntimeError

    assert Worker(queue, fail).drain() == 1
    for wait_ms in (1000, 5000, 5000):
        server.travel(milliseconds=wait_ms - 1)
        assert Worker(queue, fail).drain() == 0
        server.travel(milliseconds=1)
        assert Worker(queue, fail).drain() == 1
    assert left(queue) == (0, 1)


def test_without_back_off_a_job_comes_again_at_once(client: redis.Redis) -> None:
    queue = Queue(client, "eager", backoff_ms=(), max_deliveries=3)
    queue.declare()
    queue.enqueue({"n": "1"})

    def fail(job: Job) -> None:
        raise RuntimeError

    assert (Worker(queue, fail).drain(), *left(queue)) == (3, 0, 1)


def test_a_job_says_when_it_wants_to_be_tried_again(queue: Queue, server: PenstockServer) -> None:
    def put_off(job: Job) -> None:
        raise Retry(3_600_000, "the office is closed")

    queue.enqueue({"to": "ann"})
    Worker(queue, put_off).drain()
    server.travel(minutes=59)
    assert Worker(queue, put_off).drain() == 0
    server.travel(minutes=1)
    assert (Worker(queue, put_off).drain(), *left(queue)) == (1, 0, 1)
    assert reasons(queue) == ["the office is closed"]


def test_a_job_may_be_put_off_for_ever(queue: Queue) -> None:
    def put_off(job: Job) -> None:
        raise Retry(10**30)

    queue.enqueue_many([{"to": "ann"}] * 2)
    assert Worker(queue, put_off).drain() == 2
    assert (left(queue), held(queue)) == ((2, 0), 0)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class MutelyRejected(Mute, Rejected): ...


class MuteRetry(Mute, Retry):
    def __init__(self) -> None: ...


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("x" * 5000), f"RuntimeError: {'x' * 986}"),
        (RuntimeError("€" * 5000), f"RuntimeError: {'€' * 328}"),
        (RuntimeError("\udcff\r\n1"), "RuntimeError: \\udcff\r\n1"),
        (Mute(), f"{__name__}.Mute: <exception str() failed>"),
        (MutelyRejected(), f"{__name__}.MutelyRejected: <exception str() failed>"),
        (MuteRetry(), f"{__name__}.MuteRetry: <exception str() failed>"),
        (Retry(-1.5), "after -1.5 ms"),  # type: ignore[arg-type]
        (Rejected("no such address"), "no such address"),
        (Rejected(), ""),
    ],
)
def test_a_reason_may_be_anything(client: redis.Redis, error: Exception, reason: str) -> None:
    queue = Queue(client, "loud", max_deliveries=1)
    queue.declare()
    queue.enqueue({"n": "1"})

    def fail(job: Job) -> None:
        raise error

    Worker(queue, fail).drain()
    assert reasons(queue) == [reason or "fatal"]


def test_a_queue_needs_a_visibility(client: redis.Redis) -> None:
    with pytest.raises(ValueError, match="visibility_ms"):
        Queue(client, "lost", visibility_ms=0)


def test_a_coroutine_function_is_for_another_worker(queue: Queue) -> None:
    async def send(job: Job) -> None: ...

    with pytest.raises(TypeError, match=r"penstock\.queues\.asyncio"):
        Worker(queue, send)


def test_what_returns_a_coroutine_is_for_another_worker(queue: Queue) -> None:
    async def send(job: Job) -> None: ...

    class Sender:
        async def __call__(self, job: Job) -> None: ...

    class Later:
        def __await__(self) -> Iterator[None]:
            return iter(())

    queue.enqueue({"to": "ann"})

    def begin(job: Job) -> object:
        return send(job)

    for function in (begin, Sender(), lambda job: Later()):
        with pytest.raises(TypeError, match=r"penstock\.queues\.asyncio"):
            Worker(queue, function).drain()
    assert (held(queue), *left(queue)) == (0, 1, 0)
    assert Worker(queue, print).drain() == 1


def test_a_rejected_job_is_a_dead_letter_at_once(queue: Queue) -> None:
    def reject(job: Job) -> None:
        raise Rejected(job.id)

    queue.enqueue({"to": "nobody"})
    Worker(queue, reject).drain()
    assert left(queue) == (0, 1)


def test_a_job_that_fails_late_fails_if_it_was_extended(
    client: redis.Redis, server: PenstockServer, worker_clock: WorkerClock
) -> None:
    queue = Queue(client, "long", visibility_ms=100)
    queue.declare()
    queue.enqueue({"to": "ann"})

    def put_off(job: Job) -> None:
        assert job.extend(3_600_000)
        server.travel(milliseconds=150)
        worker_clock.ahead_s += 0.15
        raise Retry(5000, "the office is closed")

    assert Worker(queue, put_off).drain() == 1
    server.travel(seconds=5)
    assert Worker(queue, lambda job: None).drain() == 1


def test_a_job_that_fails_after_it_was_lost_is_left_to_who_has_it(client: redis.Redis) -> None:
    queue = Queue(client, "lost", visibility_ms=3_600_000)
    queue.declare()
    queue.enqueue({"to": "ann"})

    def fail(job: Job) -> None:
        client.xclaim(queue.name, queue.group, "other", 0, [job.id])
        assert not job.extend(60_000)
        raise RuntimeError

    assert Worker(queue, fail).drain() == 1
    assert held(queue) == 1


@pytest.fixture
def short(client: redis.Redis, server: PenstockServer) -> Queue:
    """A queue in which a job of 0.25 s ends late, and never too late: the clock stands still."""
    queue = Queue(client, "short", visibility_ms=400)
    queue.declare()
    queue.enqueue({"to": "ann"})
    server.freeze()
    return queue


def test_a_job_that_is_put_off_late_is_put_off(
    short: Queue, server: PenstockServer, worker_clock: WorkerClock
) -> None:
    def put_off(job: Job) -> None:
        worker_clock.ahead_s += 0.25
        raise Retry(60_000)

    assert Worker(short, put_off).drain() == 1
    server.travel(milliseconds=59_999)
    assert short.take("w") is None
    server.travel(milliseconds=1)
    assert short.take("w") is not None


@pytest.mark.parametrize("error", [RuntimeError("no such address"), Rejected("no such address")])
def test_a_job_that_fails_late_says_why(
    short: Queue, error: Exception, worker_clock: WorkerClock
) -> None:
    def fail(job: Job) -> None:
        worker_clock.ahead_s += 0.25
        raise error

    Queue(short.client, "short", visibility_ms=400, max_deliveries=1).declare()
    assert (Worker(short, fail).drain(), *left(short)) == (1, 0, 1)
    assert "no such address" in reasons(short)[0]


@pytest.mark.parametrize("error", [RuntimeError(), Rejected(), Retry(0)])
def test_a_job_that_ends_when_it_is_another_s_is_left_to_that(
    short: Queue,
    error: Exception,
    worker_clock: WorkerClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(job: Job) -> None:
        worker_clock.ahead_s += 0.25
        short.client.xclaim("short", "workers", "other", 0, [job.id])
        raise error

    assert (Worker(short, fail).drain(), *left(short)) == (1, 1, 0)
    assert held(short) == 1
    assert "1 jobs ended too late" in caplog.text


def test_a_failure_is_told_when_the_server_is_back(
    queue: Queue, server: PenstockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "AGAIN_S", 0)
    call, failures = queue.call, [redis.ConnectionError()]

    def lost(*commands: tuple[object, ...]) -> list[object]:
        if failures and commands[0][0] == "XNACK":
            raise failures.pop()
        return call(*commands)

    def work(job: Job) -> None:
        if job.fields["to"] == "ann":
            raise Retry(3_600_000)
        until(lambda: held(queue) == 1, "the other job was put off")
        worker.stop()

    monkeypatch.setattr(queue, "call", lost)
    worker = Worker(queue, work)
    queue.enqueue_many([{"to": "ann"}, {"to": "bob"}])
    worker.run()
    server.travel(minutes=59)
    assert (queue.take("w"), failures) == (None, [])


def test_a_job_by_hand_fails_or_is_put_off_or_rejected(
    client: redis.Redis, server: PenstockServer
) -> None:
    queue = Queue(client, "by hand", max_deliveries=3)
    queue.declare()
    queue.enqueue({"to": "ann"})
    server.freeze()
    assert taken(queue).fail("busy")
    server.travel(milliseconds=999)
    assert queue.take("w") is None
    server.travel(milliseconds=1)
    assert taken(queue).retry(60_000)
    server.travel(milliseconds=59_999)
    assert queue.take("w") is None
    server.travel(milliseconds=1)
    assert taken(queue).fail("no such address")
    queue.enqueue({"to": "bob"})
    assert taken(queue).reject("not bob")
    assert reasons(queue) == ["no such address", "not bob"]


def test_a_job_by_hand_that_is_another_s_is_left_to_that(queue: Queue) -> None:
    queue.enqueue({"to": "ann"})
    job = taken(queue)
    queue.client.xclaim(queue.name, queue.group, "other", 0, [job.id])
    assert (job.fail(), job.retry(0), job.reject()) == (False, False, False)
    assert (held(queue), *left(queue)) == (1, 1, 0)


def test_what_a_job_has_said_itself_holds(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue({"to": "ann"})
    assert Worker(queue, lambda job: job.fail()).drain() == 1
    assert left(queue) == (1, 0)
    server.travel(seconds=1)
    assert Worker(queue, lambda job: job.reject()).drain() == 1
    assert left(queue) == (0, 1)


def test_a_job_that_says_too_late_that_it_failed_is_not_done(queue: Queue) -> None:
    def fail(job: Job) -> None:
        queue.client.xclaim(queue.name, queue.group, "other", 0, [job.id])
        assert not job.fail()

    queue.enqueue({"to": "ann"})
    assert (Worker(queue, fail).drain(), *left(queue)) == (1, 1, 0)
    assert held(queue) == 1


def test_a_job_that_could_not_say_what_it_is_has_failed(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = queue.call

    def lost(*commands: tuple[object, ...]) -> list[object]:
        if commands[0][:1] == ("XACK",):
            raise redis.ConnectionError
        return call(*commands)

    monkeypatch.setattr(queue, "call", lost)
    queue.enqueue({"to": "ann"})
    assert (Worker(queue, lambda job: job.done()).drain(), held(queue)) == (1, 0)


def test_a_job_of_a_worker_that_died_is_another_s(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue({"to": "ann"})
    lost = queue.take("dead")
    assert lost is not None
    assert lost.extend(60_000)
    server.travel(seconds=31)
    assert queue.take("other") is None
    server.travel(seconds=30)
    job = queue.take("other")
    assert job is not None
    assert job.fields == {"to": "ann"}
    assert not lost.extend(60_000)


def test_a_worker_that_died_leaves_no_consumer(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue({"to": "ann"})
    assert queue.take("dead") is not None
    server.travel(hours=23)
    assert len(queue.client.xinfo_consumers(queue.name, queue.group)) == 1
    for _ in range(2):  # a silence is looked at twice
        server.travel(hours=23)
    assert queue.client.xinfo_consumers(queue.name, queue.group) == []
    assert Worker(queue, lambda job: None).drain() == 1


def test_a_paused_queue_gives_nothing(queue: Queue) -> None:
    queue.enqueue({"to": "ann"})
    queue.pause()
    assert queue.take("w") is None
    queue.resume()
    assert queue.take("w") is not None


def test_a_delayed_job_comes_when_it_is_due(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue({"to": "ann"}, delay_ms=3_600_000)
    other = queue.enqueue({"to": "bob"}, delay_ms=3_600_000)
    assert queue.cancel(other)
    assert not queue.cancel(other)
    done: list[str] = []
    worker = Worker(queue, lambda job: done.append(job.fields["to"]))
    server.travel(minutes=59)
    assert worker.drain() == 0
    server.travel(minutes=1)
    assert worker.drain() == 1
    assert done == ["ann"]


def test_a_job_that_has_expired_is_a_dead_letter(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue({"to": "ann"}, expire_ms=60_000)
    queue.enqueue({"to": "bob"}, delay_ms=60_000, expire_ms=60_000)
    server.travel(seconds=61)
    assert Worker(queue, lambda job: None).drain() == 1
    assert (left(queue), reasons(queue)) == ((0, 1), ["expired"])


def test_a_recurring_job_comes_again_and_again(queue: Queue, server: PenstockServer) -> None:
    server.travel_to(datetime(2030, 1, 1, tzinfo=UTC))
    at_three = datetime(2030, 1, 1, 2, tzinfo=UTC)
    next_ms = queue.schedule("report", {"n": "1"}, cron="0 3 * * *", zone="Europe/Berlin")
    assert next_ms == at_three.timestamp() * 1000
    queue.schedule("ping", {"n": "2"}, every_ms=3_600_000)
    worker = Worker(queue, lambda job: None)
    counts = []
    for _ in range(4):
        counts.append(worker.drain())
        server.travel(hours=1)
    assert counts == [0, 1, 2, 1]
    assert queue.unschedule("ping")
    assert queue.unschedule("report")
    assert not queue.unschedule("report")


def test_a_recurring_job_has_one_rule(queue: Queue) -> None:
    for every_ms, cron in ((0, ""), (1000, "0 3 * * *")):
        with pytest.raises(ValueError, match="either"):
            queue.schedule("report", {"n": "1"}, every_ms=every_ms, cron=cron)


def test_done_jobs_leave_the_stream_unless_they_are_kept(
    client: redis.Redis, server: PenstockServer
) -> None:
    for keep_done, kept in ((False, 1), (True, 10)):
        queue = Queue(client, f"kept-{kept}", keep_done=keep_done)
        queue.declare()
        queue.enqueue_many([{"n": "1"}] * 10)
        job = queue.take("w")
        assert job is not None
        assert Worker(queue, lambda job: None).drain() == 9
        server.travel(seconds=10)
        assert client.xlen(queue.name) == kept
        assert job.extend(60_000)


def test_to_declare_it_again_changes_its_settings(queue: Queue) -> None:
    Queue(queue.client, "mails", max_pending=1).declare()
    queue.enqueue({"to": "ann"})
    queue.enqueue({"to": "bob"})
    assert queue.take("w") is not None
    assert queue.take("w") is None


def test_a_worker_does_at_least_one_job_at_a_time(queue: Queue) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Worker(queue, print, threads=0)


def test_a_wait_may_be_longer_than_the_client_s_patience(server: PenstockServer) -> None:
    client = server.client(socket_timeout=1.2)
    queue = Queue(client, "quiet")
    queue.declare()
    assert queue.take("w", 0) is None
    assert queue.take("w", 1300) is None
    client.close()


def test_a_job_that_is_no_text_takes_no_other_with_it(queue: Queue, server: PenstockServer) -> None:
    queue.enqueue_many([{"n": "1"}] * 200)
    queue.enqueue({"n": b"\xff"})
    queue.enqueue_many([{"n": "1"}] * 200)
    assert Worker(queue, lambda job: None).drain() == 400
    assert left(queue) == (0, 1)
    ((_, letter),) = server.call("XRANGE", queue.dead_letters, "-", "+")
    assert letter[1] == b"\xff"
    assert letter[-1].startswith(b"UnicodeDecodeError: ")


def test_what_is_taken_by_hand_is_text(queue: Queue) -> None:
    queue.enqueue({"n": b"\xff"})
    queue.enqueue({"n": b"\xfe"})
    job_id = queue.enqueue({"n": "1"})
    assert taken(queue).id == job_id
    assert queue.client.xlen(queue.dead_letters) == 2
    queue.enqueue({"n": b"\xff"})
    assert queue.take("w", 1) is None
    assert (held(queue), *left(queue)) == (1, 1, 3)


def test_no_more_octets_are_read_than_fit(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_BYTES", 2500)
    most: list[int] = []
    queue.enqueue_many([{"n": "x" * 1000}] * 100)
    queue.enqueue({"n": "x" * 10_000})
    assert Worker(queue, lambda job: most.append(held(queue))).drain() == 101
    assert max(most) <= 4  # the job itself, and one that is done and not told yet, or two


def test_the_first_of_many_jobs_without_fields_is_named(queue: Queue) -> None:
    jobs: list[dict[str, str]] = [{"n": "1"}, {}, {"n": "2"}]
    with pytest.raises(ValueError, match="job 1 has no fields"):
        queue.enqueue_many(jobs)
    assert queue.client.xlen("mails") == 0
    with pytest.raises(ValueError, match="job 1001 has no fields: none was added from 1000 on"):
        queue.enqueue_many([*[{"n": "1"}] * 1000, *jobs])
    assert queue.client.xlen("mails") == 1000
    with pytest.raises(ValueError, match="field"):
        queue.enqueue({})


def test_a_job_is_added_once(queue: Queue) -> None:
    ids = [queue.enqueue({"n": "1"}, once="order 7", expire_ms=60_000) for _ in range(2)]
    others = {queue.enqueue({"n": "1"}, once=f"order {number}") for number in range(200)}
    assert queue.enqueue({"n": "1"}, once="order 7") == ids[0] == ids[1]
    assert (len(others), queue.client.xlen("mails")) == (200, 200)
    with pytest.raises(ValueError, match="delayed"):
        queue.enqueue({"n": "1"}, once="order 8", delay_ms=1)


def test_several_threads_work_until_they_are_stopped(queue: Queue) -> None:
    together = threading.Barrier(3, timeout=20)
    ids, places = set(), set()

    def meet(job: Job) -> None:
        places.add(threading.get_ident())
        together.wait()
        ids.add(job.id)
        if len(ids) == 6:
            worker.stop()

    worker = Worker(queue, meet, name="w", threads=3)
    queue.enqueue_many({"n": str(number)} for number in range(6))
    worker.run()
    assert (len(ids), len(places)) == (6, 3)
    assert left(queue) == (0, 0)
    assert queue.client.xinfo_consumers(queue.name, queue.group) == []


def test_what_was_not_begun_goes_back_uncounted_when_a_worker_stops(client: redis.Redis) -> None:
    queue = Queue(client, "once", max_deliveries=1)
    queue.declare()
    ids = queue.enqueue_many([{"n": "1"}] * 1000)
    done = []

    def work(job: Job) -> None:
        done.append(job.id)
        if len(done) == 300:
            worker.stop()

    worker = Worker(queue, work)
    worker.run()
    assert len(done) == 300
    assert held(queue) == 0
    assert Worker(queue, lambda job: done.append(job.id)).drain() == 700
    assert (sorted(done), left(queue)) == (sorted(ids), (0, 0))


def test_a_drain_that_is_stopped_gives_back_what_it_has_not_begun(queue: Queue) -> None:
    def work(job: Job) -> None:
        if job.fields["n"] == "300":
            worker.stop()

    queue.enqueue_many({"n": str(number)} for number in range(1, 1001))
    worker = Worker(queue, work)
    assert worker.drain() == 300
    assert Worker(queue, lambda job: None).drain() == 700


def test_a_slow_job_does_not_hold_up_what_was_read_with_it(client: redis.Redis) -> None:
    queue = Queue(client, "slow", visibility_ms=2000)
    queue.declare()
    queue.enqueue_many([{"n": "1"}] * 1000)
    done: set[str] = set()

    def work(job: Job) -> None:
        done.add(job.id)
        if len(done) == 300:
            while len(done) < 1000:
                Worker(queue, lambda other: done.add(other.id)).drain()
            worker.stop()

    worker = Worker(queue, work)
    worker.run()
    assert left(queue) == (0, 0)


def test_what_is_done_is_told_while_the_next_job_is_slow(queue: Queue) -> None:
    done = []

    def work(job: Job) -> None:
        done.append(job.id)
        if len(done) == 500:
            until(lambda: held(queue) <= 1, "the end of all jobs but this one")
            worker.stop()

    queue.enqueue_many([{"n": "1"}] * 1000)
    worker = Worker(queue, work)
    worker.run()
    assert len(done) == 500


def test_a_worker_goes_on_when_the_server_is_back(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "AGAIN_S", 0)
    call, failures = queue.call, [redis.ConnectionError(), redis.TimeoutError()]

    def lost(*commands: tuple[object, ...]) -> list[object]:
        if failures and commands[0][0] == "XACK":
            raise failures.pop()
        return call(*commands)

    monkeypatch.setattr(queue, "call", lost)
    done = []

    def work(job: Job) -> None:
        done.append(job.fields["n"])
        if len(done) == 3:
            worker.stop()

    worker = Worker(queue, work)
    queue.enqueue_many({"n": number} for number in "123")
    worker.run()
    assert (done, failures, left(queue)) == (["1", "2", "3"], [], (0, 0))


REFUSALS = (
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "MISCONF Errors writing to the AOF file: No space left on device",
    "NOREPLICAS Not enough good replicas to write.",
    "NOQUORUM No quorum of replicas was heard within replica-quorum-lease; nothing was executed.",
    "Command # 1 (XNACK mails) of pipeline caused error: BUSY Redis is busy running a script.",
)


@pytest.mark.parametrize("error", [
    *map(redis.ResponseError, REFUSALS), redis.exceptions.MasterDownError("Link is down"),
    redis.OutOfMemoryError("the system gives the server no more memory"),
])  # fmt: skip
def test_what_passes_is_no_reason_to_end(error: redis.RedisError) -> None:
    assert is_lost(error)


@pytest.mark.parametrize("error", [
    redis.ResponseError("NOGROUP No such key 'BUSY ' or consumer group"),
    redis.ResponseError("Command # 1 (XNACK BUSY ) of pipeline caused error: unknown command"),
    redis.exceptions.NoPermissionError("User u has no permissions to run the 'xnack' command"),
    redis.DataError("Invalid input"),
])  # fmt: skip
def test_what_does_not_pass_is_one(error: redis.RedisError) -> None:
    assert not is_lost(error)


def test_a_worker_whose_password_is_wrong_ends(queue: Queue, server: PenstockServer) -> None:
    queue.client.config_set("requirepass", "right")
    others = server.client(decode_responses=True, password="wrong")
    with pytest.raises(redis.AuthenticationError):
        Worker(Queue(others, "mails"), lambda job: None).run()
    others.close()


def test_a_worker_goes_on_when_its_server_was_a_replica_for_a_while(
    queue: Queue, server: PenstockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "AGAIN_S", 0.01)
    done: list[str] = []

    def work(job: Job) -> None:
        done.append(job.id)
        worker.stop()

    worker = Worker(queue, work)
    working = threading.Thread(target=worker.run)
    working.start()
    until(lambda: queue.client.xinfo_consumers(queue.name, queue.group), "a consumer")
    server.call("CONFIG", "RESETSTAT")
    server.call("REPLICAOF", "127.0.0.1", "1")
    until(lambda: "errorstat_READONLY" in queue.client.info("errorstats"), "a refusal")
    server.call("REPLICAOF", "NO", "ONE")
    assert working.is_alive()
    job_id = queue.enqueue({"to": "ann"})
    working.join(20)
    assert (done, left(queue)) == ([job_id], (0, 0))


def test_a_worker_goes_on_when_a_long_script_is_over(
    queue: Queue, server: PenstockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "AGAIN_S", 0.01)
    monkeypatch.setattr(threads, "WAIT_MS", 10)
    server.call("CONFIG", "SET", "busy-reply-threshold", "10")
    worker = Worker(queue, lambda job: worker.stop())
    working = threading.Thread(target=worker.run)
    working.start()
    server.call("EVAL", LONG_SCRIPT, "0")
    assert working.is_alive()
    queue.enqueue({"to": "ann"})
    working.join(20)
    assert left(queue) == (0, 0)


def test_names_of_other_workers_need_not_be_text(queue: Queue, server: PenstockServer) -> None:
    server.call("XGROUP", "CREATECONSUMER", queue.name, queue.group, b"a\xff")
    with server.client() as client:
        worker = Worker(Queue(client, "mails"), lambda job: worker.stop(), name="w")
        queue.enqueue({"to": "ann"})
        worker.run()
        names = [consumer["name"] for consumer in client.xinfo_consumers("mails", "workers")]
        assert names == [b"a\xff"]


def test_a_worker_that_signs_off_drops_no_job_of_another_of_its_name(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumers = queue.client.xinfo_consumers

    def and_then_the_other_reads(name: str, group: str) -> Any:
        answer = consumers(name, group)
        queue.enqueue({"to": "ann"})
        assert queue.take("w") is not None
        return answer

    monkeypatch.setattr(queue.client, "xinfo_consumers", and_then_the_other_reads)
    worker = Worker(queue, print, name="w")
    assert queue.take("w") is None
    worker.stop()
    worker.run()
    assert queue.take("v") is not None


def test_a_job_ends_the_program_from_any_thread(queue: Queue) -> None:
    together = threading.Barrier(2, timeout=20)

    def leave(job: Job) -> None:
        together.wait()
        if threading.current_thread() is not threading.main_thread():
            sys.exit(3)

    queue.enqueue_many([{"n": "1"}] * 2)
    with pytest.raises(SystemExit) as ended:
        Worker(queue, leave, threads=2).run()
    assert ended.value.code == 3
    assert left(queue) == (1, 0)


def test_a_worker_ends_if_there_is_no_such_queue(client: redis.Redis) -> None:
    queue = Queue(client, "nowhere")
    with pytest.raises(redis.ResponseError, match="NOGROUP"):
        Worker(queue, print, threads=2).run()


@pytest.mark.parametrize("kind", ["away", "silent"])
def test_a_worker_ends_when_it_is_stopped_even_without_a_server(
    request: pytest.FixtureRequest, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()
    retry = redis.retry.Retry(ConstantBackoff(3), 3)
    queue = Queue(redis.Redis(port=request.getfixturevalue(kind), retry=retry), "mails")
    call = queue.call

    def tell_of(*commands: tuple[object, ...]) -> list[object]:
        asked.set()
        return call(*commands)

    monkeypatch.setattr(queue, "call", tell_of)
    worker = Worker(queue, print, threads=3)
    working = threading.Thread(target=worker.run, daemon=True)
    working.start()
    assert asked.wait(20)
    worker.stop()
    working.join(6)
    assert not working.is_alive()


def test_what_a_stopped_worker_is_given_after_all_goes_back(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, goes_on = threading.Event(), threading.Event()
    call = queue.call

    def late(*commands: tuple[object, ...]) -> list[object]:
        if commands[-1][0] == "XREADGROUP":
            asked.set()
            goes_on.wait(20)
        return call(*commands)

    monkeypatch.setattr(queue, "call", late)
    monkeypatch.setattr(worker_words, "PATIENCE_S", 0)
    worker = Worker(queue, print)
    working = threading.Thread(target=worker.run)
    working.start()
    assert asked.wait(20)
    worker.stop()
    working.join(20)
    queue.enqueue({"to": "ann"})
    goes_on.set()
    until(lambda: left(queue) == (1, 0) and not held(queue), "the job was given back")
    assert Worker(queue, print).drain() == 1
