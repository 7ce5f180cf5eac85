"""What is said to the server of a queue. Without I/O."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

from redis.client import NEVER_DECODE

from penstock.queues.hand import MOST_BYTES, Entry, Outcome
from penstock.queues.outcomes import reason_of, rejected

Words: TypeAlias = tuple[Any, ...]
Item = TypeVar("Item")
AnyClient = TypeVar("AnyClient")

log = logging.getLogger("penstock.queues")

WAIT_MS = 1000  # for a job, before a worker looks whether it shall stop
AT_ONCE = 1000  # jobs that enqueue_many() sends together
DEAD_MS = 86_400_000  # after which a worker that is silent leaves no trace in its group


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
