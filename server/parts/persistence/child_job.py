"""The child's side of a fork: shedding what is the parent's, doing the job, reporting, exiting.

What a child sends its parent through the pipe, one line a message:

    done 52000 1310720      keys dealt with so far, and bytes of memory copied on write
    failed No space left    why the job was not done, at the end

Other threads of the parent may have held locks at the moment of the fork, and nobody releases the
child's copies. So the child takes no locks, and reports what is to be logged instead of logging it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

Report: TypeAlias = Callable[[int], None]  # how many keys have been dealt with
Job: TypeAlias = Callable[[Report], None]

DONE = b"done"
FAILED = b"failed"

REPORT_EVERY_S = 1.0
REPORT_DUTY = 100  # counting copied memory may take one part in so many of the child's time
MOST_TEXT = 1000  # bytes of a reason: a message must fit into the pipe at once
FIRST_FD = 3  # the first after the standard streams

KILLED_BY = signal.SIGUSR1  # how the parent ends its child: no failure of the job
IGNORED = (signal.SIGINT, signal.SIGTERM)  # sent to the whole group: the parent decides


def no_report(_done: int) -> None:
    """The report of a job that runs in the server itself."""


def run_and_exit(job: Job, pipe: int, parent: int, kept: Sequence[int] = ()) -> NoReturn:
    """Run *job* in this process, which was just forked off, and end it.

    It has the descriptors that are *kept*, and no others of the parent's.

    The exit status is 0 if *job* returned. The parent's atexit handlers do not run here. The
    caller has blocked signals; here they are unblocked.
    """
    status = 1
    try:
        _drop_signals()
        _close_all_but(pipe, *kept)
        reporter = Reporter(pipe, parent)
        try:
            job(reporter)
        except BaseException as error:  # whatever it is, this process ends
            reporter.fail(str(error) or type(error).__name__)
        else:
            reporter.tell()
            status = 0
    finally:
        os._exit(status)


def _drop_signals() -> None:
    """Remove the parent's handlers: they write to the descriptors of its event loop."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _close_all_but(*kept: int) -> None:
    """Close all descriptors but the standard streams and those that are *kept*.

    Otherwise a client's connection would stay open after the parent has closed it, and the port
    would stay taken after the parent has ended.
    """
    first = FIRST_FD
    for fd in sorted(kept):
        os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


class Orphaned(Exception):
    """The parent has died, and another server may be writing the same files by now."""


class Reporter:
    """Tells the parent how far the job is. Calling it for every key is cheap."""

    def __init__(self, pipe: int, parent: int) -> None:
        self._pipe = pipe
        self._parent = parent
        self._done = 0
        self._due_s = time.monotonic() + REPORT_EVERY_S

    def __call__(self, done: int) -> None:
        """Note that *done* keys have been dealt with; report it about once a second.

        Raises Orphaned if the parent has died.
        """
        self._done = done
        if os.getppid() != self._parent:
            raise Orphaned
        if time.monotonic() >= self._due_s:
            self.tell()

    def tell(self) -> None:
        """Report now."""
        started_s = time.monotonic()
        copied = private_dirty_bytes()
        now_s = time.monotonic()
        self._due_s = now_s + max(REPORT_EVERY_S, (now_s - started_s) * REPORT_DUTY)
        os.write(self._pipe, DONE + b" %d %d\n" % (self._done, copied))

    def fail(self, reason: str) -> None:
        """Report why the job was not done."""
        text = " ".join(reason.split()).encode("utf-8", "backslashreplace")
        os.write(self._pipe, FAILED + b" " + text[:MOST_TEXT] + b"\n")


def private_dirty_bytes() -> int:
    """Bytes of memory that this process shares with no other any more; 0 if unknown.

    In a forked child that is the memory copied on write (proc(5): smaps_rollup, Private_Dirty).
    """
    try:
        with open("/proc/self/smaps_rollup", "rb", buffering=0) as rollup:
            text = rollup.read(8192)
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith(b"Private_Dirty:"):
            return int(line.split()[1]) * 1024
    return 0
