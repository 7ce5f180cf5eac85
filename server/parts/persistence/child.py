"""A forked child that does one job on the data as it is now, while the server keeps serving.

    server                                  child
    ChildSlot.start(job) ---- fork -------> job(report)
    ChildSlot.poll()  <------ pipe -------- report(keys)     see child_job.py
    ChildSlot.poll()  <----- waitpid ------ exit status
      on_end(outcome)

There is at most one child at a time, as in Redis: two would copy the memory twice.

While there is a child, Python's garbage collection is off: it writes to every container, and each
page that is written to is copied. For the same reason reads do not set the last use of keys then.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

from server.observe.latency_events import LatencyEvents
from server.parts.persistence import child_job
from server.parts.persistence.child_job import Job
from server.parts.persistence.processes import ForkedProcess, Processes
from storage.keyspace.settings import Lookup


class Purpose(Enum):
    """What a child is for."""

    SAVE = "a snapshot"
    COPY = "a copy for replicas"  # which is a snapshot, too
    REWRITE = "a rewrite of the AOF"


class ChildBusy(Exception):
    """Another child is running."""


class Outcome(NamedTuple):
    """How a child ended. *error* is "" if its job was done; *signal* is 0 if none ended it."""

    pid: int
    error: str
    signal: int
    duration_s: float
    cow_bytes: int

    @property
    def ok(self) -> bool:
        return not self.error

    @property
    def killed(self) -> bool:
        """Whether the server itself ended it, which is no failure."""
        return self.signal == child_job.KILLED_BY


OnEnd: TypeAlias = Callable[[Outcome], None]


class Child:
    """A child that runs, as its parent sees it. *total* is how many keys its job is about."""

    def __init__(self, purpose: Purpose, process: ForkedProcess, total: int, now_s: float) -> None:
        self.purpose = purpose
        self.process = process
        self.pid = process.pid
        self.started_s = now_s
        self.total = total
        self.done = 0
        self.cow_bytes = 0  # memory copied on write, when it was last counted
        self.cow_peak = 0
        self.cow_counted_s = now_s
        self._unread = b""
        self._error = ""

    def poll(self, now_s: float, wait: bool = False) -> Outcome | None:
        """Take its reports. Returns how it ended; None while it runs, unless *wait*."""
        code = self.process.ended(wait)
        self._read(now_s)
        if code is None:
            return None
        self.process.close()
        error = self._error
        if code < 0:
            error = f"terminated by signal {-code}"
        elif code and not error:
            error = f"exit status {code}"
        return Outcome(self.pid, error, max(0, -code), now_s - self.started_s, self.cow_bytes)

    def _read(self, now_s: float) -> None:
        *lines, self._unread = (self._unread + self.process.read()).split(b"\n")
        for line in lines:
            kind, _, rest = line.partition(b" ")
            if kind == child_job.FAILED:
                self._error = rest.decode("utf-8", "replace")
            elif kind == child_job.DONE:
                self.done, self.cow_bytes = map(int, rest.split())
                self.cow_peak = max(self.cow_peak, self.cow_bytes)
                self.cow_counted_s = now_s


class ChildSlot:
    """The place of the one child; the figures of INFO about children are read here."""

    def __init__(
        self,
        lookup: Lookup,
        monotonic_s: Callable[[], float] = time.monotonic,
        unix_s: Callable[[], float] = time.time,
        latency_events: LatencyEvents | None = None,
        processes: Processes | None = None,
    ) -> None:
        self.child: Child | None = None
        self.total_forks = 0
        self.latest_fork_usec = 0
        self.forks_ns = 0  # what all forks took together
        self.last_snapshot_s = -1  # how long the last child that wrote a snapshot took
        self._lookup = lookup
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._latency_events = latency_events or LatencyEvents()
        self._processes = processes or Processes()
        self._on_end: OnEnd = _forget
        self._collects = False  # whether garbage collection is to be on again after the child

    def start(
        self, purpose: Purpose, total: int, job: Job, on_end: OnEnd, kept: Sequence[int] = ()
    ) -> Child:
        """Fork a child that runs *job*, about *total* keys; poll() calls *on_end* with its outcome.

        Of the server's file descriptors, the child has those that are *kept*.

        Raises ChildBusy, or OSError when the system has no room for another process.
        """
        if self.child is not None:
            raise ChildBusy(self.child.purpose.value)
        self._collects = gc.isenabled()
        gc.disable()
        try:
            started_ns = time.monotonic_ns()
            process = self._processes.fork(job, kept)
            took_ns = time.monotonic_ns() - started_ns
        except OSError:
            if self._collects:
                gc.enable()
            raise
        self.total_forks += 1
        self.latest_fork_usec = took_ns // 1000
        self.forks_ns += took_ns
        self._latency_events.add_if_long(b"fork", took_ns, int(self._unix_s()))
        self._on_end = on_end
        self._lookup.spares_pages = True
        self.child = Child(purpose, process, total, self._monotonic_s())
        return self.child

    def runs(self, *purposes: Purpose) -> bool:
        """Whether there is a child with one of these *purposes*."""
        return self.child is not None and self.child.purpose in purposes

    def kill(self) -> None:
        """End the child, if there is one; poll() will see it go.

        A child that waits for the disk ends only when the disk has answered.
        """
        if self.child is not None:
            self.child.process.kill()

    def end(self) -> None:
        """End the child, if there is one, and wait for it; its end is passed to *on_end*."""
        self.kill()
        self.poll(wait=True)

    def poll(self, wait: bool = False) -> None:
        """Take what the child reports; its end is passed to *on_end*. To be called by cron.

        With *wait*, return when there is no child any more.
        """
        if self.child is None:
            return
        outcome = self.child.poll(self._monotonic_s(), wait)
        if outcome is not None:
            if self.runs(Purpose.SAVE, Purpose.COPY):
                self.last_snapshot_s = int(outcome.duration_s)
            self.child = None
            self._lookup.spares_pages = False
            if self._collects:
                gc.enable()
            on_end, self._on_end = self._on_end, _forget
            on_end(outcome)

    # ------------------------------------------------------------------ INFO; 0 without a child

    @property
    def running_s(self) -> float:
        """Seconds since the child was forked."""
        return self._monotonic_s() - self.child.started_s if self.child else 0.0

    @property
    def cow_size_age(self) -> int:
        """Seconds since the copied memory was counted."""
        return int(self._monotonic_s() - self.child.cow_counted_s) if self.child else 0

    @property
    def fork_perc(self) -> float:
        """How much of its work the child has reported as done, in percent."""
        child = self.child
        return 100 * child.done / child.total if child and child.total else 0.0


def _forget(_outcome: Outcome) -> None:
    """The on_end while there is no child."""
