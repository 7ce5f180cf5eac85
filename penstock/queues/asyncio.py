"""Queue, Worker and Job on redis.asyncio.Redis: a worker's jobs are coroutines of one loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from inspect import isawaitable
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import redis
import redis.asyncio

from penstock.queues.answers import entries_in, has_nothing, is_lost, is_missing, is_unused
from penstock.queues.hand import DONE, Entry, Outcome, Outcomes
from penstock.queues.outcomes import Rejected, Retry, failed, rejected
from penstock.queues.words import AT_ONCE, WAIT_MS, QueueWords, Words, batches, options_of, waits
from penstock.queues.worker_words import AGAIN_S, KEEP_S, PATIENCE_S, JobWords, WorkerWords

if TYPE_CHECKING:
    Client: TypeAlias = redis.asyncio.Redis

__all__ = ["Job", "Queue", "Rejected", "Retry", "Worker"]


class Queue(QueueWords["Client"]):
    __doc__ = QueueWords.__doc__

    async def call(self, *commands: Words) -> list[Any]:
        """Run *commands* in one round trip. Raises the first of their errors."""
        if len(commands) == 1:
            execute: Any = self.client.execute_command
            return [await execute(*commands[0], **options_of(commands[0]))]
        async with self.client.pipeline(transaction=False) as pipeline:
            add: Any = pipeline.execute_command
            for words in commands:
                add(*words, **options_of(words))
            return await pipeline.execute()

    async def declare(self) -> None:
        """Make the queue, if it is not there, and give it these settings.

        Raises ResponseError if the server refuses that, as Redis and Valkey do; then what this call
        has made is removed.
        """
        try:
            await self.call(self.to_set(), self.to_set_retention())
        except redis.ResponseError as error:
            if not is_missing(error):
                raise
            absent = await self._create()
            try:
                await self.call(self.to_set(), self.to_set_retention())
            except redis.ResponseError:
                if absent is not None:
                    await self._undo(absent)
                raise

    async def _create(self) -> list[str | bytes] | None:
        """Make the group. Returns which streams were not there; None if the group was."""
        streams = (self.name, self.dead_letters)
        absent = [stream for stream in streams if not await self.client.exists(stream)]
        try:
            await self.call(self.to_create())
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):  # somebody else has made it meanwhile
                raise
            return None
        return absent

    async def _undo(self, absent: list[str | bytes]) -> None:
        """Remove the group, and those streams that nobody has used since."""
        with suppress(redis.RedisError):
            await self.call(self.to_destroy())
        for stream in absent:
            with suppress(redis.RedisError):
                async with self.client.pipeline() as pipeline:
                    transaction: Any = pipeline
                    await transaction.watch(stream)
                    if is_unused(await transaction.xinfo_stream(stream)):
                        transaction.multi()
                        transaction.delete(stream)
                        await transaction.execute()

    async def enqueue(
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
        return (await self.call(self.to_add(fields, delay_ms, expire_ms, once)))[0]

    async def enqueue_many(self, jobs: Iterable[Mapping[Any, Any]]) -> list[Any]:
        """Add a job of each of these fields, a thousand in a round trip. Returns their ids.

        Raises ValueError if a job has no fields, before any of its thousand is sent. If the server
        refuses some, it raises the first of these errors, and the others of the thousand are added.
        """
        added: list[Any] = []
        for some in batches(jobs, AT_ONCE):
            added += await self.call(*self.to_add_many(some, len(added)))
        return added

    async def cancel(self, job_id: Any) -> bool:
        """Forget a delayed job; whether it was still there, and not due yet."""
        return bool((await self.call(self.to_cancel(job_id)))[0])

    async def schedule(
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
        return int((await self.call(words))[0])

    async def unschedule(self, job: str) -> bool:
        """End schedule(); whether there was such a job."""
        return bool((await self.call(self.to_unschedule(job)))[0])

    async def pause(self) -> None:
        """Let no worker get a job until resume()."""
        await self.call(self.to_pause())

    async def resume(self) -> None:
        """End pause()."""
        await self.call(self.to_resume())

    async def redrive(self, count: int = 100) -> int:
        """Send up to *count* dead letters back into the queue. Returns how many there were."""
        return int((await self.call(self.to_redrive(count)))[0])

    async def take(self, worker: str, wait_ms: int | None = None) -> Job | None:
        """The next job for *worker*, or None after *wait_ms* ms (None, or 0: at once).

        A job that the client cannot decode is rejected.
        """
        for some_ms in waits(wait_ms):
            to_take = self.to_take(worker, 1, some_ms)
            while entries := entries_in((await self.call(to_take))[0]):
                try:
                    return Job(self, worker, *self.reader()(entries[0]))
                except UnicodeDecodeError as error:
                    await self.call(self.to_refuse(entries[0][0], error))
        return None


class Job(JobWords[Queue]):
    """A job that a worker has."""

    __slots__ = ()

    async def done(self) -> None:
        """Say that it is done. A worker does so when its function has returned."""
        await self.queue.call(self.queue.to_tell(DONE, [self.id]))
        self.is_told = True

    async def fail(self, reason: str = "") -> bool:
        """Have it tried again after the queue's back-off. False if it is not ours any more.

        After its last delivery it is a dead letter with that *reason*, as after retry().
        """
        return await self._give_up(failed(reason))

    async def retry(self, delay_ms: int, reason: str = "") -> bool:
        """Have it tried again after *delay_ms* ms. False if it is not ours any more."""
        return await self._give_up(failed(reason, delay_ms))

    async def reject(self, reason: str = "") -> bool:
        """Put it among the dead letters at once. False if it is not ours any more."""
        return await self._give_up(rejected(reason))

    async def _give_up(self, outcome: Outcome) -> bool:
        """Tell the *outcome*, unless the job is another worker's, which shall keep it, or done."""
        is_ours = await self.extend(self.queue.visibility_ms)
        if is_ours:
            await self.queue.call(self.queue.to_tell(outcome, [self.id]))
        self.is_told = True
        return is_ours

    async def extend(self, ms: int) -> bool:
        """Keep it for *ms* ms from now. False if it is another worker's already, or done."""
        asked = time.monotonic()
        ((until,),) = await self.queue.call(self.queue.to_extend(self.worker, ms, self.id))
        return self._extended(asked, ms, until)


class Worker(WorkerWords[Queue]):
    """Has *function* do the jobs of *queue*, *concurrency* of them at a time.

    A job is done when *function* returns. If it raises, the job comes again after the queue's
    back-off, or that of Retry, and is a dead letter in the end; if it raises Rejected, at once.
    A plain function may be one, too; while it works, the loop stands still.

    Raises ValueError if *concurrency* is not positive.
    """

    def __init__(
        self,
        queue: Queue,
        function: Callable[[Job], object],
        *,
        name: str = "",
        concurrency: int = 1,
    ) -> None:
        super().__init__(queue, name, concurrency)
        self._function = function
        self._left: set[asyncio.Task[None]] = set()  # calls that nobody waits for any more
        self._reading = asyncio.Lock()  # one coroutine reads for all

    async def run(self) -> None:
        """Do jobs until stop(). Who was stopped does none.

        While the server cannot be reached, or refuses all work, it tries again. Raises
        redis.ResponseError if there is no such queue, redis.AuthenticationError for a password
        that is not right. If it is cancelled, so are the jobs that it does; they come again.
        """
        works = [self._work() for _ in range(self._abreast)]
        try:
            ends = await asyncio.gather(*works, self._keep(), return_exceptions=True)
        finally:
            await self._ask(self._sign_off)
        for error in filter(None, ends):
            raise error

    async def drain(self) -> int:
        """Do the jobs that are there now, one by one; return how many there were. For tests."""
        done = 0
        try:
            while not self._stopping and await self._read(wait_ms=None):
                while (entry := self._begin()) is not None:
                    await self._do(entry)
                    done += 1
        finally:
            self._hand.release(time.monotonic(), everything=True)
            await self._tell()
        return done

    async def _work(self) -> None:
        """What is done *concurrency* times until the worker shall stop, or one of them fails."""
        try:
            while not self._stopping:
                entry = self._begin()
                if entry is not None:
                    await self._do(entry)
                else:
                    await self._get_more()
        finally:
            self.stop()
            await self._ask(self._put_away)

    async def _do(self, entry: Entry) -> None:
        job = Job(self._queue, self._name, *entry)
        with self._attempt(job):
            try:
                result = self._function(job)
                if isawaitable(result):
                    await result
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                raise RuntimeError("what the job waited for was cancelled") from error
            finally:
                self._heard = time.monotonic()

    async def _get_more(self) -> None:
        """Wait for jobs. One reads for all; what it does not do itself wakes the next."""
        if self._reading.locked():
            await self._ask(self._tell)
        async with self._reading:
            if self._hand.is_empty() and not self._stopping:
                try:
                    await self._ask(lambda: self._read(WAIT_MS))
                except redis.RedisError as error:
                    if not is_lost(error):
                        raise
                    self._warn("lost the server")
                    await self._rest()

    async def _read(self, wait_ms: int | None) -> bool:
        """Tell what has become of jobs, and read some; whether there were any."""
        with self._telling() as outcomes:
            told = await self._checked(outcomes)
            answers = await self._queue.call(*told, self._to_take(wait_ms))
        return self._took(answers[-1])

    async def _tell(self) -> None:
        """Tell what has become of jobs, now or, if the server is lost, the next time."""
        try:
            with self._telling() as outcomes:
                if told := await self._checked(outcomes):
                    await self._queue.call(*told)
        except redis.RedisError:
            self._warn("could not tell what is done")
            await self._rest()

    async def _checked(self, outcomes: Outcomes) -> list[Words]:
        """What to tell of these jobs, but of no late one that has become another's."""
        questions = self._to_check(outcomes)
        return self._to_tell(outcomes, await self._queue.call(*questions) if questions else [])

    async def _keep(self) -> None:
        """Tell in time, even if all that is being done is slow."""
        try:
            while not self._stopping:
                await asyncio.sleep(KEEP_S)
                self._release()
                await self._ask(self._tell)
        finally:
            self.stop()  # cancelled: so that it ends even if a job does not let itself be

    async def _put_away(self) -> None:
        """Give back what has not begun, and tell what is done."""
        self._release()
        await self._tell()

    async def _ask(self, do: Callable[[], Awaitable[object]]) -> None:
        """*do* what needs the server; from stop() on, wait only while the server answers.

        redis-py waits, and tries again, for as long as its settings say. To cancel that would cut
        a connection that may be another's, so then it goes on without the worker.
        """
        if self._is_out_of_patience():
            return
        call = asyncio.ensure_future(do())
        try:
            while not call.done():
                await asyncio.wait([call], timeout=KEEP_S)
                if not call.done() and self._is_out_of_patience():
                    self._warn_of_silence()
                    self._leave(call)
                    return
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.wait([call], timeout=PATIENCE_S)
            raise
        call.result()
        self._heard = time.monotonic()

    def _leave(self, call: asyncio.Future[object]) -> None:
        """Let *call* go on alone, and give back the jobs that it is given after all."""

        async def follow() -> None:
            with suppress(redis.RedisError):
                await call
            await self._put_away()

        following = asyncio.ensure_future(follow())
        self._left.add(following)
        following.add_done_callback(self._left.discard)

    async def _rest(self) -> None:
        """Wait before the next try, unless the worker shall stop."""
        for _ in range(ceil(AGAIN_S / KEEP_S)):
            if not self._stopping:
                await asyncio.sleep(min(AGAIN_S, KEEP_S))

    async def _sign_off(self) -> None:
        """Remove the consumer, unless a job is left to it, which waits for its visibility."""
        client, name, group = self._queue.client, self._queue.name, self._queue.group
        try:
            if has_nothing(await client.xinfo_consumers(name, group), self._name):
                await self._queue.call(self._queue.to_delete(self._name))
        except redis.RedisError:
            self._warn("could not sign off")
