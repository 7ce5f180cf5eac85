"""What workers of both kinds do between the answers of the server and what they tell it."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from penstock.queues.answers import entries_in
from penstock.queues.hand import DONE, RELEASED, Entry, Hand, Outcome, Outcomes
from penstock.queues.outcomes import NotRunError, Rejected, Retry, failed, reason_of, rejected
from penstock.queues.words import QueueWords, Words

AnyQueue = TypeVar("AnyQueue", bound=QueueWords[Any])

log = logging.getLogger("penstock.queues")

KEEP_S = 0.1  # between two looks at what a worker has in hand
AGAIN_S = 1.0  # after which a worker that has lost the server tries again
PATIENCE_S = 1.5  # for a server that says nothing, once a worker shall stop: WAIT_MS, and some


@dataclass(slots=True)
class JobWords(Generic[AnyQueue]):
    """A job that a worker has: its id, and its fields as the client decodes them."""

    queue: AnyQueue
    worker: str
    id: Any
    fields: dict[Any, Any]
    _kept_until: float | None = field(default=None, init=False, repr=False, compare=False)
    is_told: bool = field(default=False, init=False, repr=False, compare=False)  # by itself

    def _extended(self, asked: float, ms: int, until: Any) -> bool:
        """Whether it is ours, by an answer to XEXTEND, *asked* for at a time of the worker."""
        self._kept_until = asked if until is None else asked + ms / 1000
        return until is not None

    def kept_s(self, began: float) -> float | None:
        """How long after it *began* it is ours, if it has been extended."""
        return None if self._kept_until is None else self._kept_until - began


class WorkerWords(Generic[AnyQueue]):
    """What workers of both kinds have: a name, and jobs in hand."""

    def __init__(self, queue: AnyQueue, name: str, abreast: int) -> None:
        if abreast < 1:
            raise ValueError("a worker does at least one job at a time")
        self._queue = queue
        self._name = name or f"worker-{uuid.uuid4().hex[:12]}"
        self._abreast = abreast
        self._hand = Hand(abreast, queue.visibility_ms / 1000)
        self._stopping = False
        self._heard = 0.0  # when stop() was called, a job ended or the server answered

    def stop(self) -> None:
        """Let run() end soon: within two seconds, and when the jobs that it has begun are done.

        What has not begun goes back to the queue at once. So it is whether the server answers or
        not; what could not be told stays pending, and comes again. A signal handler may call it.
        """
        if not self._stopping:
            self._heard = time.monotonic()
        self._stopping = True

    def _is_out_of_patience(self) -> bool:
        """Whether the worker shall stop, and waits in vain for the server."""
        return self._stopping and time.monotonic() > self._heard + PATIENCE_S

    def _to_take(self, wait_ms: int | None) -> Words:
        return self._queue.to_take(self._name, self._hand.room(), wait_ms)

    def _begin(self) -> Entry | None:
        """The next job in hand, unless the worker shall stop."""
        return None if self._stopping else self._hand.begin(time.monotonic())

    def _took(self, answer: Any) -> bool:
        """Take the jobs of an *answer* to XREADGROUP; whether there are any."""
        entries = entries_in(answer)
        self._hand.give(self._legible(entries), time.monotonic())
        return bool(entries)

    def _legible(self, entries: list[Entry]) -> Iterator[Entry]:
        """These jobs as the client has them. What it cannot read is rejected, and only that."""
        read = self._queue.reader()
        for entry in entries:
            try:
                yield read(entry)
            except UnicodeDecodeError as error:
                with self._attempt(JobWords(self._queue, self._name, *entry)):
                    raise Rejected(reason_of(error)) from error

    def _release(self) -> None:
        """What has waited for too long goes back; all of it, if the worker shall stop."""
        self._hand.release(time.monotonic(), everything=self._stopping)

    def _attempt(self, job: JobWords[AnyQueue]) -> Attempt:
        return Attempt(self._hand, job)

    def _warn_of_silence(self) -> None:
        log.warning("queue %s, worker %s: ends without the server", self._queue.name, self._name)

    @contextmanager
    def _telling(self) -> Iterator[Outcomes]:
        """What to tell the server of jobs. If that fails, it is kept for the next time."""
        outcomes = self._hand.take_outcomes()
        try:
            yield outcomes
        except BaseException:
            self._hand.put_back(outcomes)
            raise

    def _to_check(self, outcomes: Outcomes) -> list[Words]:
        """Questions whether the jobs of late outcomes are ours. If so, they are so for longer."""
        ms = self._queue.visibility_ms
        late = (ids for outcome, ids in outcomes if outcome.is_late)
        return [self._queue.to_extend(self._name, ms, *ids) for ids in late]

    def _to_tell(self, outcomes: Outcomes, checked: Iterable[Sequence[Any]]) -> list[Words]:
        """What to tell of jobs; of late ones, if the answers *checked* say that they are ours."""
        told, answers = [], iter(checked)
        for outcome, ids in outcomes:
            ours = ids
            if outcome.is_late:
                ours = [i for i, until in zip(ids, next(answers), strict=True) if until is not None]
                if len(ours) < len(ids):
                    log.warning(
                        "queue %s, worker %s: %d jobs ended too late, and are not its own any more",
                        *(self._queue.name, self._name, len(ids) - len(ours)),
                    )
            if ours:
                told.append(self._queue.to_tell(outcome, ours))
        return told

    def _warn(self, what: str) -> None:
        log.warning("queue %s, worker %s: %s", self._queue.name, self._name, what, exc_info=True)


class Attempt:
    """The block in which a job is done. An exception of the job ends here, and decides."""

    __slots__ = ("_began", "_hand", "_job")

    def __init__(self, hand: Hand, job: JobWords[Any]) -> None:
        self._hand, self._job = hand, job
        self._began = time.monotonic()

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> bool:
        took_s = time.monotonic() - self._began
        kept_s = self._job.kept_s(self._began)
        outcome = None if self._job.is_told else self._outcome(error)
        self._hand.end(self._job.id, outcome, took_s, kept_s)
        return isinstance(error, Exception) and not isinstance(error, NotRunError)

    def _outcome(self, error: BaseException | None) -> Outcome | None:
        if error is None:
            return DONE
        if isinstance(error, NotRunError):
            return RELEASED
        if not isinstance(error, Exception):  # the worker ends, whatever becomes of the job
            return None
        reason, where = reason_of(error), (self._job.queue.name, self._job.id)
        if isinstance(error, Rejected):
            log.warning("queue %s: job %s was rejected: %s", *where, reason)
            return rejected(reason)
        if isinstance(error, Retry):
            log.info("queue %s: job %s is put off: %s", *where, reason)
            return failed(reason, error.delay_ms)
        log.error("queue %s: job %s has failed", *where, exc_info=error)
        return failed(reason)
