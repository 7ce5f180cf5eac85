"""Runs jobs as one local client: their commands one after another, each in a step of its own.

A job is a generator. It yields a command and is sent the reply, so it reads like a program:

    reply = yield [b"XINFO", b"STREAMS", cursor]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator
from time import thread_time_ns
from typing import TypeAlias

from server.console.local_client import Hearer, LocalClient
from server.console.pace import Pace
from server.console.replies import is_error
from server.process import faults

# Defends the server against a browser that sends requests without end while one takes long.
MOST_WAITING = 64

Steps: TypeAlias = Generator["list[bytes] | None", bytes, None]


class Job(ABC):
    """Commands that are run in a row. *cost_ns* is the CPU time that they have taken so far.

    With *keeps_replies* they count as what the client holds until the job lets go of them.
    """

    cost_ns = 0
    keeps_replies = False

    @abstractmethod
    def steps(self) -> Steps:
        """Yield each command, and be sent its reply; None waits until the runner is to go on."""

    @abstractmethod
    def done(self) -> None:
        """All has been run."""

    @abstractmethod
    def lost(self, may_have_run: bool) -> None:
        """The client is disconnected: what is left is not run.

        *may_have_run* is said of the command that was yielded last and has no reply.
        """


class Runner(Hearer):
    """Has jobs, and the *client* that runs them. *ended* is called when that is disconnected."""

    def __init__(self, client: LocalClient, pace: Pace, ended: Callable[[], None]) -> None:
        self.client = client
        self._pace = pace
        self._ended = ended
        self._jobs: deque[Job] = deque()  # the first of them is being run
        self._steps: Steps | None = None  # of the first job
        self._reply = b""  # to its last command
        self._is_held = False
        client.tell(self)

    @property
    def is_full(self) -> bool:
        return len(self._jobs) >= MOST_WAITING

    @property
    def is_idle(self) -> bool:
        return not self._jobs

    def add(self, job: Job) -> None:
        """Run *job* after those that were added before."""
        if not self.client.is_open:
            job.lost(may_have_run=False)
            return
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._pace.soon(self._begin)

    def go_on(self) -> None:
        """A job that has yielded None may take its next step."""
        if self._is_held:
            self._is_held = False
            self._pace.soon(self._step)

    def close(self) -> None:
        """Disconnect."""
        self.client.abort()

    # ------------------------------------------------------------------ what the client tells

    def answered(self, reply: bytes) -> None:
        self._reply = reply
        self._pace.soon(self._step)

    def left(self) -> None:
        may_have_run = not self._reply
        if self._reply and self._jobs:  # that was sent before the end
            self._hear_last_words()
        jobs, self._jobs = self._jobs, deque()
        self._steps = None
        for job in jobs:
            job.lost(may_have_run)
            may_have_run = False
        self._ended()

    def _hear_last_words(self) -> None:
        """The job gets the last reply: perhaps an error by which the client was turned away."""
        if self._steps is None:
            self._steps = self._jobs[0].steps()
            next(self._steps, None)
        self._step()

    # ------------------------------------------------------------------ steps

    def _begin(self) -> None:
        if self._jobs:
            self._steps = self._jobs[0].steps()
            self._step()

    def _step(self) -> None:
        """Pass the last reply to the job, and run what it wants run next."""
        steps = self._steps
        if steps is None:
            return
        job = self._jobs[0]
        reply, self._reply = self._reply, b""
        begun_ns = thread_time_ns()
        try:
            argv = steps.send(reply) if reply else next(steps)
        except StopIteration:
            self._steps = None
            self._finish()
        except Exception as error:
            faults.report("running commands of the console", error)
            self.close()
        else:
            self._is_held = argv is None
            if argv is not None:
                self.client.run(argv)
        if reply and not job.keeps_replies:
            self.client.let_go(len(reply))
        job.cost_ns += thread_time_ns() - begun_ns

    def _finish(self) -> None:
        job = self._jobs.popleft()
        if self._jobs:
            self._pace.soon(self._begin)
        try:
            job.done()
        except Exception as error:
            faults.report("answering from the console", error)
            self.close()


def in_database(client: LocalClient, db: int) -> Generator[list[bytes], bytes, bytes | None]:
    """The steps after which *client* works on database *db*; the error if it may not."""
    if client.client.db_index == db:
        return None
    reply = yield [b"SELECT", b"%d" % db]
    return reply if is_error(reply) else None
