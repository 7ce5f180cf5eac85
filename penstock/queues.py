"""Job queues on a Penstock server, for programs that use redis-py.

    queue = Queue(redis.Redis(), "mails")
    queue.declare()
    queue.enqueue({"to": "ann"})

    Worker(queue, send).run()     # send(job) until stop(); a job that fails comes again

The server does the work: it delivers again what is not done in time, and puts what fails too often
among the dead letters (docs/queues.md). So a worker may die at any moment, and any client library
of any language can take part: a queue is a stream, a worker a consumer of its group.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import redis

if TYPE_CHECKING:
    Client: TypeAlias = redis.Redis

_log = logging.getLogger("penstock.queues")

WAIT_MS = 1000  # for a job, before a worker looks whether it shall stop


class Rejected(Exception):
    """Raised by a worker's function: the job is no good, and shall not be tried again."""


@dataclass(frozen=True)
class Job:
    """A job that a worker has: its id, and its fields as the client decodes them."""

    queue: Queue
    worker: str
    id: Any
    fields: dict[Any, Any]

    def done(self) -> None:
        """Say that it is done. A worker does so when its function returns."""
        self.queue.client.xack(self.queue.name, self.queue.group, self.id)

    def reject(self) -> None:
        """Put it among the dead letters at once."""
        name, group = self.queue.name, self.queue.group
        self.queue.call("XNACK", name, group, "FATAL", "IDS", 1, self.id)

    def extend(self, ms: int) -> bool:
        """Keep it for *ms* ms from now. False if it is another worker's already, or done."""
        name, group = self.queue.name, self.queue.group
        (until,) = self.queue.call("XEXTEND", name, group, self.worker, ms, self.id)
        return until is not None


class Queue:
    """The queue *name*: a stream, and a group that all workers share.

    A job that is not done after *visibility_ms* is given to another worker; after *max_deliveries*
    it goes to the stream *dead_letters*, by default ``<name>:dead``. At most *max_pending* are
    under way at a time; 0: any number.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        group: str = "workers",
        visibility_ms: int = 30_000,
        max_deliveries: int = 5,
        max_pending: int = 0,
        dead_letters: str = "",
    ) -> None:
        self.client = client
        self.name = name
        self.group = group
        self.dead_letters = dead_letters or f"{name}:dead"
        self._settings = (
            "VISIBILITY", visibility_ms, "MAXDELIVERIES", max_deliveries,
            "DEADLETTER", self.dead_letters, "MKSTREAM", "MAXPENDING", max_pending,
        )  # fmt: skip

    def call(self, *words: object) -> Any:
        """Run a command that redis-py has no method for."""
        execute: Any = self.client.execute_command
        return execute(*words)

    def declare(self) -> None:
        """Make the queue, if it is not there, and give it these settings."""
        try:
            self.client.xgroup_create(self.name, self.group, id="0", mkstream=True)
        except redis.ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
        self.call("XGROUP CFGSET", self.name, self.group, *self._settings)

    def enqueue(self, fields: Mapping[Any, Any]) -> Any:
        """Add a job of these *fields*. Returns its id."""
        return self.client.xadd(self.name, dict(fields))

    def pause(self) -> None:
        """Let no worker get a job until resume()."""
        self.call("XGROUP PAUSE", self.name, self.group)

    def resume(self) -> None:
        """End pause()."""
        self.call("XGROUP RESUME", self.name, self.group)

    def redrive(self, count: int = 100) -> int:
        """Send up to *count* dead letters back into the queue. Returns how many there were."""
        return int(self.call("XREDRIVE", self.dead_letters, "COUNT", count))

    def take(self, worker: str, wait_ms: int | None = None) -> Job | None:
        """The next job for *worker*, or None after *wait_ms* ms (None: at once)."""
        answer: Any = self.client.xreadgroup(
            self.group, worker, {self.name: ">"}, count=1, block=wait_ms
        )
        if not answer:
            return None
        # RESP3 answers a map of lists of entries, RESP2 pairs.
        entries = next(iter(answer.values()))[0] if isinstance(answer, dict) else answer[0][1]
        job_id, fields = entries[0]
        return Job(self, worker, job_id, fields)


class Worker:
    """Has *function* do the jobs of *queue*, in as many *threads* at a time.

    A job is done when *function* returns. If it raises, the job comes again when its visibility
    ends, and goes to the dead letters in the end; if it raises Rejected, it goes there at once.
    """

    def __init__(
        self, queue: Queue, function: Callable[[Job], object], *, name: str = "", threads: int = 1
    ) -> None:
        self._queue = queue
        self._function = function
        self._name = name or f"worker-{uuid.uuid4().hex[:12]}"
        self._threads = threads
        self._stopped = threading.Event()

    def run(self) -> None:
        """Do jobs until stop(). Then what is being done is finished, and the workers sign off."""
        names = [f"{self._name}-{number}" for number in range(1, self._threads)]
        others = [threading.Thread(target=self._work, args=(name,)) for name in names]
        for thread in others:
            thread.start()
        try:
            self._work(self._name)
        finally:
            self.stop()
            for thread in others:
                thread.join()

    def stop(self) -> None:
        """Let run() end soon: within a second, and when the jobs that it has begun are done."""
        self._stopped.set()

    def drain(self) -> int:
        """Do the jobs that are there now, in this thread; return how many there were. For tests."""
        done = 0
        while (job := self._queue.take(self._name)) is not None:
            self._do(job)
            done += 1
        return done

    def _work(self, name: str) -> None:
        try:
            while not self._stopped.is_set():
                job = self._queue.take(name, WAIT_MS)
                if job is not None:
                    self._do(job)
        finally:
            self._sign_off(name)

    def _do(self, job: Job) -> None:
        try:
            self._function(job)
        except Rejected:
            _log.warning("job %s of %s was rejected", job.id, self._queue.name)
            job.reject()
        except Exception:
            _log.exception("job %s of %s has failed", job.id, self._queue.name)
        else:
            job.done()

    def _sign_off(self, name: str) -> None:
        """Remove the consumer. Jobs that have failed stay its own: they wait for their time."""
        queue = self._queue
        info: Any = queue.client.xinfo_consumers(queue.name, queue.group)
        for consumer in info:
            shown = consumer["name"]
            text = shown.decode() if isinstance(shown, bytes) else shown
            if text == name and not consumer["pending"]:
                queue.client.xgroup_delconsumer(queue.name, queue.group, name)
