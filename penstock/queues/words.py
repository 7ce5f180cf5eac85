"""What queues and workers say to the server, and what its answers mean. Without I/O."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from traceback import format_exception_only
from typing import Any, Generic, TypeAlias, TypeVar

import redis
from redis.client import NEVER_DECODE

from penstock.queues.hand import (
    DONE,
    FAILED,
    MOST_BYTES,
    REJECTED,
    RELEASED,
    Entry,
    Hand,
    Outcome,
    Outcomes,
)

Words: TypeAlias = tuple[Any, ...]
Item = TypeVar("Item")
AnyClient = TypeVar("AnyClient")
AnyQueue = TypeVar("AnyQueue", bound="QueueWords[Any]")

log = logging.getLogger("penstock.queues")

# For a while no server works for us: it cannot be reached, or says so.
LOST = (
    redis.ConnectionError,
    redis.TimeoutError,
    redis.ReadOnlyError,
    redis.OutOfMemoryError,
    redis.exceptions.ClusterDownError,  # MASTERDOWN, too
)
BUSY = ("BUSY ", "MISCONF ", "NOREPLICAS ", "NOQUORUM ", "NOTCONFIRMED ", "UNBLOCKED ")
WAIT_MS = 1000  # for a job, before a worker looks whether it shall stop
KEEP_S = 0.1  # between two looks at what a worker has in hand
AGAIN_S = 1.0  # after which a worker that has lost the server tries again
PATIENCE_S = 1.5  # for a server that says nothing, once a worker shall stop: WAIT_MS, and some
AT_ONCE = 1000  # jobs that enqueue_many() sends together
DEAD_MS = 86_400_000  # after which a worker that is silent leaves no trace in its group
MOST_DELAY_MS = 2**52  # half of what the server can count: the time comes on top of it
MOST_REASON = 1000  # bytes of an exception that a dead letter keeps


class Rejected(Exception):
    """Raised by a worker's function: the job is no good, and shall not be tried again."""


class Retry(Exception):
    """Raised by a worker's function: try again, but not before *delay_ms* ms have passed."""

    delay_ms = 0  # of a subclass that says nothing else

    def __init__(self, delay_ms: int, reason: str = "") -> None:
        super().__init__(reason or f"after {delay_ms} ms")
        self.delay_ms = min(max(0, int(delay_ms)), MOST_DELAY_MS)


class NotRunError(TypeError):
    """A worker's function has returned what is to be awaited, and nobody awaits that."""


class QueueWords(Generic[AnyClient]):
    """The queue *name*: a stream, and a group that all workers share.

    A job that is not done after *visibility_ms* is given to another worker. One that fails, or
    whose worker dies, waits as long as *backoff_ms* says before the second delivery, the third and
    so on; the last number repeats. After *max_deliveries* a job goes to the stream *dead_letters*,
    by default ``<name>:dead``. At most *max_pending* are under way at a time; 0: any number.
    Jobs with an equal field *order_by* are done one at a time, in order; one that fails holds
    back those after it.
    A worker that neither reads nor extends for a day, or twice *visibility_ms*, is taken for dead.
    Done jobs leave the stream when all its groups have done them, unless *keep_done*.

    Raises ValueError if *visibility_ms* is not positive, or *backoff_ms* not a whole
    number, or several.
    """

    def __init__(
        self,
        client: AnyClient,
        name: str | bytes,
        *,
        group: str | bytes = "workers",
        visibility_ms: int = 30_000,
        backoff_ms: Sequence[int] | int = (1_000, 10_000, 60_000),
        max_deliveries: int = 5,
        max_pending: int = 0,
        order_by: str = "",
        dead_letters: str | bytes = "",
        keep_done: bool = False,
    ) -> None:
        if visibility_ms < 1:
            raise ValueError("visibility_ms must be positive: else a job of a dead worker is lost")
        self.client = client
        self.name = name
        self.group = group
        self.visibility_ms = visibility_ms
        self.dead_letters = dead_letters or (
            name + b":dead" if isinstance(name, bytes) else f"{name}:dead"
        )
        self._keep_done = keep_done
        self._settings = (
            "VISIBILITY", visibility_ms, "BACKOFF", *_waits(backoff_ms),
            "MAXDELIVERIES", max_deliveries,
            "DEADLETTER", self.dead_letters, "MKSTREAM", "MAXPENDING", max_pending,
            "CONSUMERTIMEOUT", max(DEAD_MS, 2 * visibility_ms),
            "ORDERBY", order_by, "MAXPENDINGPERVALUE", 1 if order_by else 0,
        )  # fmt: skip

    def to_create(self) -> Words:
        return ("XGROUP CREATE", self.name, self.group, "0", "MKSTREAM")

    def to_destroy(self) -> Words:
        return ("XGROUP DESTROY", self.name, self.group)

    def to_set(self) -> Words:
        return ("XGROUP CFGSET", self.name, self.group, *self._settings)

    def to_set_retention(self) -> Words:
        return ("XCFGSET", self.name, "RETAIN-ACKED", "no" if self._keep_done else "yes")

    def to_add(
        self,
        fields: Mapping[Any, Any],
        delay_ms: int = 0,
        expire_ms: int = 0,
        once: str | bytes = "",
    ) -> Words:
        """Raises ValueError if there are no fields, or for a delayed job that is added once."""
        if not fields:
            raise ValueError("a job has a field at least")
        if once and delay_ms:
            raise ValueError("a delayed job cannot be added once: it is added when it is due")
        # A producer of its own, as the server knows only so many ids of each.
        first = ("IDMP", once, "once") if once else ()
        when = ("DELAY", delay_ms) if delay_ms else ()
        until = ("EXPIRE", expire_ms) if expire_ms else ()
        return ("XADD", self.name, *when, *until, *first, "*", *_flat(fields))

    def to_add_many(self, jobs: Sequence[Mapping[Any, Any]], first: int) -> list[Words]:
        """Raises ValueError if one has no fields; it is counted from *first* on."""
        for number, fields in enumerate(jobs, first):
            if not fields:
                raise ValueError(f"job {number} has no fields: none was added from {first} on")
        return [self.to_add(fields) for fields in jobs]

    def to_cancel(self, job_id: Any) -> Words:
        return ("XUNSCHEDULE", self.name, job_id)

    def to_schedule(
        self, job: str, fields: Mapping[Any, Any], every_ms: int, cron: str, zone: str
    ) -> Words:
        """Raises ValueError unless it says when, in one way."""
        if bool(every_ms) == bool(cron):
            raise ValueError("a recurring job has either every_ms or cron")
        when = ("EVERY", every_ms) if every_ms else ("CRON", cron)
        where = ("TZ", zone) if zone else ()
        return ("XSCHEDULE", self.name, job, *when, *where, "*", *_flat(fields))

    def to_unschedule(self, job: str) -> Words:
        return ("XUNSCHEDULE", self.name, "NAMES", job)

    def to_take(self, worker: str, count: int, wait_ms: int | None) -> Words:
        wait = () if wait_ms is None else ("BLOCK", wait_ms)
        return (
            "XREADGROUP", "GROUP", self.group, worker, "COUNT", count,
            "MAXSIZE", MOST_BYTES, *wait, "STREAMS", self.name, ">",
        )  # fmt: skip

    def reader(self) -> Callable[[Entry], Entry]:
        """What makes entries text, if the client decodes. It raises UnicodeDecodeError."""
        client: Any = self.client
        encoder = client.get_encoder()
        how = encoder.encoding, encoder.encoding_errors

        def read(entry: Entry) -> Entry:
            fields = entry[1].items()
            return str(entry[0], *how), {str(k, *how): str(v, *how) for k, v in fields}

        return read if encoder.decode_responses else lambda entry: entry

    def to_refuse(self, job_id: Any, error: UnicodeDecodeError) -> Words:
        """It cannot be read: what Worker does with it as well."""
        log.warning("queue %s: job %s was rejected: %s", self.name, job_id, error)
        return self.to_tell(rejected(reason_of(error)), [job_id])

    def to_tell(self, outcome: Outcome, ids: Sequence[Any]) -> Words:
        """What has become of these jobs."""
        if not outcome.mode:
            return ("XACK", self.name, self.group, *ids)
        told = ("IDS", len(ids), *ids, *outcome.options)
        return ("XNACK", self.name, self.group, outcome.mode, *told)

    def to_extend(self, worker: str, ms: int, *ids: Any) -> Words:
        return ("XEXTEND", self.name, self.group, worker, ms, *ids)

    def to_delete(self, worker: str) -> Words:
        """A job that was just given to another worker of this name is released, not lost."""
        return ("XGROUP DELCONSUMER", self.name, self.group, worker, "HANDOVER")

    def to_pause(self) -> Words:
        return ("XGROUP PAUSE", self.name, self.group)

    def to_resume(self) -> Words:
        return ("XGROUP RESUME", self.name, self.group)

    def to_redrive(self, count: int) -> Words:
        return ("XREDRIVE", self.dead_letters, "COUNT", count)


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


def rejected(reason: str) -> Outcome:
    return Outcome(REJECTED, _reason(reason))


def failed(reason: str, delay_ms: int | None = None) -> Outcome:
    """None: it waits as long as the queue's back-off says."""
    delay = () if delay_ms is None else ("DELAY", min(max(0, int(delay_ms)), MOST_DELAY_MS))
    return Outcome(FAILED, (*delay, *_reason(reason)))


def _reason(text: str) -> Words:
    """What a dead letter says. It may have any characters."""
    cut = text.encode(errors="backslashreplace")[:MOST_REASON]
    return ("REASON", cut.decode(errors="ignore").encode())  # without half a character at the end


def reason_of(error: Exception) -> str:
    """What is told of *error*: of Rejected and Retry the text alone."""
    if isinstance(error, Rejected | Retry):
        with suppress(Exception):  # that of a subclass may fail
            return str(error)
    return "".join(format_exception_only(error)).strip()


def _waits(backoff_ms: Sequence[int] | int) -> Sequence[int]:
    waits: tuple[Any, ...] = (backoff_ms,) if isinstance(backoff_ms, int) else tuple(backoff_ms)
    if not all(isinstance(ms, int) and ms >= 0 for ms in waits):
        raise ValueError(f"backoff_ms is a whole number of ms, or several: not {backoff_ms!r}")
    return waits or (0,)


def _flat(fields: Mapping[Any, Any]) -> Iterator[Any]:
    return (word for pair in fields.items() for word in pair)


def options_of(words: Words) -> dict[str, Any]:
    """How redis-py shall read the answer: jobs in octets, as one of them may be no text."""
    return {NEVER_DECODE: True} if words[0] == "XREADGROUP" else {}


def entries_in(answer: Any) -> list[Entry]:
    """The entries of an answer to XREADGROUP of one stream, in octets.

    RESP3 answers a map of lists of entries, RESP2 pairs.
    """
    if not answer:
        return []
    found: list[Entry] = (
        next(iter(answer.values()))[0] if isinstance(answer, dict) else answer[0][1]
    )
    return found


def is_missing(error: redis.ResponseError) -> bool:
    """Whether there is no such group, or no such stream."""
    return "NOGROUP" in str(error) or "requires the key to exist" in str(error)


def is_unused(stream: Mapping[str, Any]) -> bool:
    """Whether XINFO STREAM tells of a stream without entries and groups."""
    return not (stream["length"] or stream["groups"] or stream.get("scheduled"))


def is_lost(error: redis.RedisError) -> bool:
    """Whether it may be over in a while: so with a failover, a long script, a disk that is full."""
    if isinstance(error, redis.AuthenticationError):  # a ConnectionError that does not pass
        return False
    answer = str(error).rpartition("caused error: ")[2]  # redis-py puts the command before it
    return isinstance(error, LOST) or answer.startswith(BUSY)


def has_nothing(consumers: Any, worker: str) -> bool:
    """Whether XINFO CONSUMERS says that *worker* is there, and has nothing pending."""
    for consumer in consumers:
        if consumer["name"] in (worker, worker.encode()):  # those of others may be no text
            return not consumer["pending"]
    return False


def waits(wait_ms: int | None) -> Iterator[int | None]:
    """Together *wait_ms*, each shorter than redis-py 8 waits for an answer by default: 5 s."""
    if not wait_ms:
        yield None
        return
    for waited in range(0, wait_ms, WAIT_MS):
        yield min(WAIT_MS, wait_ms - waited)


def batches(items: Iterable[Item], count: int) -> Iterator[list[Item]]:
    """Lists of *count* items at most."""
    left = iter(items)
    while some := list(islice(left, count)):
        yield some
