"""The child's side of a fork: becoming one that only works, reporting, and leaving.

What a child tells its parent by the pipe, one line a message:

    done 52000 1310720      keys dealt with so far, and bytes of memory copied on write
    failed No space left    why the job was not done, at the end

It may be the copy of a process whose other threads held locks at that moment: it takes none, which
is why it reports what is to be logged instead of logging it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import NoReturn, TypeAlias

Report: TypeAlias = Callable[[int], None]  # how many keys have been dealt with
Job: TypeAlias = Callable[[Report], None]

DONE = b"done"
FAILED = b"failed"

REPORT_EVERY_S = 1.0
REPORT_DUTY = 100  # counting copied memory may take one part in so many of the child's time
MOST_TEXT = 1000  # bytes of a reason: a message must fit into the pipe at once
FIRST_FD = 3  # behind the standard streams

KILLED_BY = signal.SIGUSR1  # how the parent ends its child: no failure of the job
IGNORED = (signal.SIGINT, signal.SIGTERM)  # sent to the whole group: the parent decides


def no_report(_done: int) -> None:
    """Stand in for a report when the job runs in the server itself."""


def run_and_leave(job: Job, pipe: int, parent: int) -> NoReturn:
    """Run *job* in this process, which was just forked off, and end it.

    The exit status is 0 if *job* returned. Nothing that was to happen at the end of the parent
    happens here. Signals are taken from here on; the caller has blocked them.
    """
    status = 1
    try:
        _drop_signals()
        _close_others(pipe)
        reporter = Reporter(pipe, parent)
        status = _run(job, reporter)
    finally:
        os._exit(status)


def _run(job: Job, reporter: Reporter) -> int:
    try:
        job(reporter)
    except BaseException as error:  # whatever it was, this process ends
        reporter.fail(str(error) or type(error).__name__)
        return 1
    reporter.tell()
    return 0


def _drop_signals() -> None:
    """Have nothing of the parent's handlers: these write to its loop's descriptors."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _close_others(pipe: int) -> None:
    """Keep the standard streams and *pipe* only.

    A client's socket that a child holds would stay open when the parent has closed it; a listening
    one would keep the port when the parent has ended.
    """
    os.closerange(FIRST_FD, pipe)
    os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))


class Orphaned(Exception):
    """The parent has died. Nobody waits for the job, and a successor may be at the same files."""


class Reporter:
    """Tells the parent how far the job is; called, it is cheap enough for every key."""

    def __init__(self, pipe: int, parent: int) -> None:
        self._pipe = pipe
        self._parent = parent
        self._done = 0
        self._due_s = time.monotonic() + REPORT_EVERY_S

    def __call__(self, done: int) -> None:
        """Say that *done* keys have been dealt with; passed on about once a second.

        Raises Orphaned when there is nobody to go on for.
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
        self._send(DONE + b" %d %d" % (self._done, copied))

    def fail(self, reason: str) -> None:
        """Report why the job was not done."""
        text = " ".join(reason.split()).encode("utf-8", "backslashreplace")
        self._send(FAILED + b" " + text[:MOST_TEXT])

    def _send(self, message: bytes) -> None:
        os.write(self._pipe, message + b"\n")


def private_dirty_bytes() -> int:
    """Memory of this process that it shares with no other any more; 0 if it cannot be known.

    In a forked child that is what the two have copied (proc(5): smaps_rollup, Private_Dirty).
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
