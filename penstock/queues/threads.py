"""Queue, Worker and Job on redis.Redis: a worker does its jobs in threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from inspect import isawaitable, iscoroutinefunction
from math import ceil
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

import redis

from penstock.queues.answers import entries_in, has_nothing, is_lost, is_missing, is_unused
from penstock.queues.hand import DONE, Entry, Outcome, Outcomes
from penstock.queues.outcomes import NotRunError, failed, rejected
from penstock.queues.words import AT_ONCE, WAIT_MS, QueueWords, Words, batches, options_of, waits
from penstock.queues.worker_words import AGAIN_S, KEEP_S, JobWords, WorkerWords

if TYPE_CHECKING:
    Client: TypeAlias = redis.Redis

FOR_ASYNCIO = "a function that returns a coroutine is for the Worker of penstock.queues.asyncio"


class Queue(QueueWords["Client"]):
    __doc__ = QueueWords.__doc__

    def call(self, *commands: Words) -> list[Any]:
        """Run *commands* in one round trip. Raises the first of their errors."""
        if len(commands) == 1:
            execute: Any = self.client.execute_command
            return [execute(*commands[0], **options_of(commands[0]))]
        with self.client.pipeline(transaction=False) as pipeline:
            add: Any = pipeline.execute_command
            for words in commands:
                add(*words, **options_of(words))
            return pipeline.execute()

    def declare(self) -> None:
        """Make the queue, if it is not there, and give it these settings.

        Raises ResponseError if the server refuses that, as Redis and Valkey do; then what this call
        has made is removed.
        """
        try:
            self.call(self.to_set(), self.to_set_retention())
        except redis.ResponseError as error:
            if not is_missing(error):
                raise
            absent = self._create()
            try:
                self.call(self.to_set(), self.to_set_retention())
            except redis.ResponseError:
                if absent is not None:
                    self._undo(absent)
                raise

    def _create(self) -> list[str | bytes] | None:
        """Make the group. Returns which streams were not there; None if the group was."""
        streams = (self.name, self.dead_letters)
        absent = [stream for stream in streams if not self.client.exists(stream)]
        try:
            self.call(self.to_create())
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):  # somebody else has made it meanwhile
                raise
            return None
        return absent

    def _undo(self, absent: list[str | bytes]) -> None:
        """Remove the group, and those streams that nobody has used since."""
        with suppress(redis.RedisError):
            self.call(self.to_destroy())
        for stream in absent:
            with suppress(redis.RedisError), self.client.pipeline() as pipeline:
                transaction: Any = pipeline
                transaction.watch(stream)
                if is_unused(transaction.xinfo_stream(stream)):
                    transaction.multi()
                    transaction.delete(stream)
                    transaction.execute()

    def enqueue(
        self,
        fields: Mapping[Any, Any],
        *,
        delay_ms: int = 0,
        expire_ms: int = 0,
        once: str | bytes = "",
    ) -> Any:
        """Add a job of these *fields*, in *delay_ms* ms. Returns its id.

        That of a delayed job is for cancel(): it gets another one when it is due. A job that is not
        done *expire_ms* ms after it was added is a dead letter. With the word *once* it is added
        only if none was with that word of late, by default within 100 s; else the id of that one is
        returned. So a call whose answer was lost, and that redis-py sends again, adds one job.

        Raises ValueError if there are no fields, or for *once* with *delay_ms*.
        """
        return self.call(self.to_add(fields, delay_ms, expire_ms, once))[0]

    def enqueue_many(self, jobs: Iterable[Mapping[Any, Any]]) -> list[Any]:
        """Add a job of each of these fields, a thousand in a round trip. Returns their ids.

        Raises ValueError if a job has no fields, before any of its thousand is sent. If the server
        refuses some, it raises the first of these errors, and the others of the thousand are added.
        """
        added: list[Any] = []
        for some in batches(jobs, AT_ONCE):
            added += self.call(*self.to_add_many(some, len(added)))
        return added

    def cancel(self, job_id: Any) -> bool:
        """Forget a delayed job; whether it was still there, and not due yet."""
        return bool(self.call(self.to_cancel(job_id))[0])

    def schedule(
        self,
        job: str,
        fields: Mapping[Any, Any],
        *,
        every_ms: int = 0,
        cron: str = "",
        zone: str = "",
    ) -> int:
        """Have a job of these *fields* added again and again, under the name *job*.

        Either *every_ms*, or when *cron* says so in the time zone *zone*, by default UTC. One of
        that name is replaced. Returns when the next time is: unix time in ms.
        """
        words = self.to_schedule(job, fields, every_ms, cron, zone)
        return int(self.call(words)[0])

    def unschedule(self, job: str) -> bool:
        """End schedule(); whether there was such a job."""
        return bool(self.call(self.to_unschedule(job))[0])

    def pause(self) -> None:
        """Let no worker get a job until resume()."""
        self.call(self.to_pause())

    def resume(self) -> None:
        """End pause()."""
        self.call(self.to_resume())

    def redrive(self, count: int = 100) -> int:
        """Send up to *count* dead letters back into the queue. Returns how many there were."""
        return int(self.call(self.to_redrive(count))[0])

    def take(self, worker: str, wait_ms: int | None = None) -> Job | None:
        """The next job for *worker*, or None after *wait_ms* ms (None, or 0: at once).

        A job that the client cannot decode is rejected.
        """
        for some_ms in waits(wait_ms):
            to_take = self.to_take(worker, 1, some_ms)
            while entries := entries_in((self.call(to_take))[0]):
                try:
                    return Job(self, worker, *self.reader()(entries[0]))
                except UnicodeDecodeError as error:
                    self.call(self.to_refuse(entries[0][0], error))
        return None


class Job(JobWords[Queue]):
    """A job that a worker has."""

    __slots__ = ()

    def done(self) -> None:
        """Say that it is done. A worker does so when its function has returned."""
        self.queue.call(self.queue.to_tell(DONE, [self.id]))
        self.is_told = True

    def fail(self, reason: str = "") -> bool:
        """Have it tried again after the queue's back-off. False if it is not ours any more.

        After its last delivery it is a dead letter with that *reason*, as after retry().
        """
        return self._give_up(failed(reason))

    def retry(self, delay_ms: int, reason: str = "") -> bool:
        """Have it tried again after *delay_ms* ms. False if it is not ours any more."""
        return self._give_up(failed(reason, delay_ms))

    def reject(self, reason: str = "") -> bool:
        """Put it among the dead letters at once. False if it is not ours any more."""
        return self._give_up(rejected(reason))

    def _give_up(self, outcome: Outcome) -> bool:
        """Tell the *outcome*, unless the job is another worker's, which shall keep it, or done."""
        is_ours = self.extend(self.queue.visibility_ms)
        if is_ours:
            self.queue.call(self.queue.to_tell(outcome, [self.id]))
        self.is_told = True
        return is_ours

    def extend(self, ms: int) -> bool:
        """Keep it for *ms* ms from now. False if it is another worker's already, or done."""
        asked = time.monotonic()
        ((until,),) = self.queue.call(self.queue.to_extend(self.worker, ms, self.id))
        return self._extended(asked, ms, until)


class Line:
    """A thread that talks to the server, so that who asks need not wait for the answer.

    redis-py waits, and tries again, for as long as its settings say, and nothing ends that but to
    cut the connection, which may be another's.
    """

    def __init__(self) -> None:
        self._asked: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()
        self.error: BaseException | None = None  # what the last call has raised
        threading.Thread(target=self._work, daemon=True).start()  # the program may end before it

    def ask(self, do: Callable[[], object]) -> None:
        """Begin to *do* this, after what it was asked before."""
        self._asked.put(do)

    def has_ended(self, wait_s: float) -> bool:
        """Whether it is done, or is within *wait_s* seconds."""
        try:
            self._ended.get(timeout=wait_s)
        except Empty:
            return False
        return True

    def hang_up(self) -> None:
        """End the thread when it has done what it was asked."""
        self._asked.put(None)

    def _work(self) -> None:
        while (do := self._asked.get()) is not None:
            self.error = None
            try:
                do()
            except BaseException as error:  # who has asked raises it
                self.error = error
            self._ended.put(None)


class Worker(WorkerWords[Queue]):
    """Has *function* do the jobs of *queue*, in as many *threads* at a time.

    A job is done when *function* returns. If it raises, the job comes again after the queue's
    back-off, or that of Retry, and is a dead letter in the end; if it raises Rejected, at once.

    Raises TypeError if *function* is a coroutine function, which only asyncio's Worker runs, and
    ValueError if *threads* is not positive. run() and drain() raise TypeError if *function* returns
    a coroutine, and the job goes back.
    """

    def __init__(
        self, queue: Queue, function: Callable[[Job], object], *, name: str = "", threads: int = 1
    ) -> None:
        if iscoroutinefunction(function):
            raise TypeError(FOR_ASYNCIO)
        super().__init__(queue, name, threads)
        self._function = function
        self._reading = threading.Lock()  # one thread reads for all
        self._failed: BaseException | None = None
        self._lines: list[Line] = []  # that nobody uses now

    def run(self) -> None:
        """Do jobs until stop(), one of the threads being this one. Who was stopped does none.

        While the server cannot be reached, or refuses all work, it tries again. Raises
        redis.ResponseError if there is no such queue, redis.AuthenticationError for a password
        that is not right.
        """
        others = [threading.Thread(target=self._work) for _ in range(self._abreast - 1)]
        others.append(threading.Thread(target=self._keep))
        for thread in others:
            thread.start()
        try:
            self._work()
        finally:
            self.stop()
            for thread in others:
                thread.join()
            try:
                self._ask(self._sign_off)
            finally:
                for line in self._lines:
                    line.hang_up()
                self._lines.clear()
        if self._failed is not None:
            raise self._failed

    def drain(self) -> int:
        """Do the jobs that are there now, in this thread; return how many there were. For tests."""
        done = 0
        try:
            while not self._stopping and self._read(wait_ms=None):
                while (entry := self._begin()) is not None:
                    self._do(entry)
                    done += 1
        finally:
            self._hand.release(time.monotonic(), everything=True)
            self._tell()
        return done

    def _work(self) -> None:
        """What each thread does until the worker shall stop, or one of them fails."""
        try:
            while not self._stopping:
                entry = self._begin()
                if entry is not None:
                    self._do(entry)
                else:
                    self._get_more()
        except BaseException as error:  # run() raises it, even if this thread has no say
            self._failed = error
        finally:
            self.stop()
            self._ask(self._put_away)

    def _do(self, entry: Entry) -> None:
        job = Job(self._queue, self._name, *entry)
        with self._attempt(job):
            try:
                result = self._function(job)
                if result is not None and isawaitable(result):
                    if isinstance(result, Coroutine):
                        result.close()
                    raise NotRunError(FOR_ASYNCIO)
            finally:
                self._heard = time.monotonic()

    def _get_more(self) -> None:
        """Wait for jobs. One reads for all; what it does not do itself wakes the next."""
        if self._reading.locked():
            self._ask(self._tell)
        with self._reading:
            if self._hand.is_empty() and not self._stopping:
                try:
                    self._ask(lambda: self._read(WAIT_MS))
                except redis.RedisError as error:
                    if not is_lost(error):
                        raise
                    self._warn("lost the server")
                    self._rest()

    def _read(self, wait_ms: int | None) -> bool:
        """Tell what has become of jobs, and read some; whether there were any."""
        with self._telling() as outcomes:
            told = self._checked(outcomes)
            answers = self._queue.call(*told, self._to_take(wait_ms))
        return self._took(answers[-1])

    def _tell(self) -> None:
        """Tell what has become of jobs, now or, if the server is lost, the next time."""
        try:
            with self._telling() as outcomes:
                if told := self._checked(outcomes):
                    self._queue.call(*told)
        except redis.RedisError:
            self._warn("could not tell what is done")
            self._rest()

    def _checked(self, outcomes: Outcomes) -> list[Words]:
        """What to tell of these jobs, but of no late one that has become another's."""
        questions = self._to_check(outcomes)
        return self._to_tell(outcomes, self._queue.call(*questions) if questions else [])

    def _keep(self) -> None:
        """Tell in time, even if all that is being done is slow."""
        while not self._stopping:
            time.sleep(KEEP_S)
            self._release()
            self._ask(self._tell)

    def _put_away(self) -> None:
        """Give back what has not begun, and tell what is done."""
        self._release()
        self._tell()

    def _ask(self, do: Callable[[], object]) -> None:
        """*do* what needs the server; from stop() on, wait only while the server answers."""
        if self._is_out_of_patience():
            return
        try:
            line = self._lines.pop()
        except IndexError:
            line = Line()
        line.ask(do)
        ended = False
        try:
            while not (ended := line.has_ended(KEEP_S)):
                if self._is_out_of_patience():
                    self._warn_of_silence()
                    return
        finally:
            if not ended:
                line.ask(self._put_away)  # jobs that the server gives after all
                line.hang_up()
        self._lines.append(line)
        if line.error is not None:
            raise line.error
        self._heard = time.monotonic()

    def _rest(self) -> None:
        """Wait before the next try, unless the worker shall stop."""
        for _ in range(ceil(AGAIN_S / KEEP_S)):
            if not self._stopping:
                time.sleep(min(AGAIN_S, KEEP_S))

    def _sign_off(self) -> None:
        """Remove the consumer, unless a job is left to it, which waits for its visibility."""
        client, name, group = self._queue.client, self._queue.name, self._queue.group
        try:
            if has_nothing(client.xinfo_consumers(name, group), self._name):
                self._queue.call(self._queue.to_delete(self._name))
        except redis.RedisError:
            self._warn("could not sign off")
