"""Forking a child, and how its parent hears of it: by a pipe, and by its end."""

from __future__ import annotations

import contextlib
import os
import signal
import warnings
from collections.abc import Sequence

from server.parts.persistence import child_job
from server.parts.persistence.child_job import Job

PIPE_BYTES = 65536  # what a pipe holds (pipe(7))


class ForkedProcess:
    """A child as its parent sees it: *pipe* is where its reports are read."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self._pipe = pipe

    def ended(self, wait: bool) -> int | None:
        """Its exit code, below 0 if a signal ended it; None while it runs, unless *wait*."""
        try:
            pid, status = os.waitpid(self.pid, 0 if wait else os.WNOHANG)
        except ChildProcessError:  # other code has waited for it
            pid, status = self.pid, 1 << 8
        return os.waitstatus_to_exitcode(status) if pid else None

    def read(self) -> bytes:
        """What it has reported since the last time."""
        read = b""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._pipe, PIPE_BYTES):
                read += data
        return read

    def kill(self) -> None:
        """End it. One that waits for the disk ends only when the disk has answered."""
        os.kill(self.pid, child_job.KILLED_BY)

    def close(self) -> None:
        """It has ended, and all was read."""
        os.close(self._pipe)


class Processes:
    """The system's."""

    def fork(self, job: Job, kept: Sequence[int]) -> ForkedProcess:
        """Fork a child that runs *job*, with those descriptors of the server's that are *kept*.

        Raises OSError when the system has no room for another process.
        """
        reading, writing = os.pipe()
        try:
            pid = _fork(job, writing, kept)
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        os.set_blocking(reading, False)
        return ForkedProcess(pid, reading)


def _fork(job: Job, pipe: int, kept: Sequence[int]) -> int:
    """Fork; the child runs *job* and never returns. Returns its process id.

    Signals are blocked meanwhile: the child still has the parent's handlers.
    """
    parent = os.getpid()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns of other threads; the child takes none of their locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            child_job.run_and_exit(job, pipe, parent, kept)
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
