"""A simulated fork: the child sees the data of that moment, and its writes come one by one.

The job is run at once, on files that only write down what it does; each of these steps is done
later, unless the child or its parent has been killed by then.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

from server.parts.persistence import child_job
from server.parts.persistence.child_job import Job, no_report
from server.parts.persistence.processes import ForkedProcess, Processes
from tests.simulation.disk import Disk, SimulatedFiles
from tests.simulation.loop import WorldLoop

STEP_S = 0.02  # at most, between two steps of a child
EXIT_BY_SIGNAL = -child_job.KILLED_BY


class SwitchedFiles(SimulatedFiles):
    """A server's files; while its child's job runs, *steps* collects what that does instead."""

    def __init__(self, disk: Disk) -> None:
        super().__init__(disk)
        self.steps: list[Callable[[], Any]] | None = None
        self._child_fds: dict[int, int] = {}  # the job's descriptors -> those that are open

    def _later(self, step: Callable[[], Any]) -> None:
        assert self.steps is not None
        self.steps.append(step)

    def create(self, path: Path) -> int:
        if self.steps is None:
            return super().create(path)
        self._last_fd += 1
        fd = self._last_fd
        self._later(partial(self._create_as, fd, path))
        return fd

    def _create_as(self, fd: int, path: Path) -> None:
        self._child_fds[fd] = super().create(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.steps is None:
            return super().write(fd, data)
        faults = self.disk.faults
        if faults.full and self.disk.random.random() < faults.full:
            raise OSError(28, "No space left on device")
        self._later(partial(self._write_as, fd, bytes(data)))
        return len(data)

    def _write_as(self, fd: int, data: bytes) -> None:
        self.disk.note("child", data)
        self._open[self._child_fds[fd]].data += data

    def sync_up_to(self, fd: int, size: int) -> None:
        if self.steps is None:
            super().sync_up_to(fd, size)

    def sync(self, fd: int) -> None:
        if self.steps is None:
            super().sync(fd)
            return
        faults = self.disk.faults
        if faults.broken and self.disk.random.random() < faults.broken:
            raise OSError(5, "Input/output error")
        self._later(partial(self._sync_as, fd))

    def _sync_as(self, fd: int) -> None:
        file = self._open[self._child_fds[fd]]
        file.sync(len(file.data))

    def close(self, fd: int) -> None:
        if self.steps is None:
            super().close(fd)
        else:
            self._later(partial(self._close_as, fd))

    def _close_as(self, fd: int) -> None:
        super().close(self._child_fds.pop(fd))

    def rename(self, old: Path, new: Path) -> None:
        if self.steps is None:
            super().rename(old, new)
        else:
            self._later(partial(super().rename, old, new))

    def remove(self, path: Path) -> None:
        if self.steps is None:
            super().remove(path)
        else:
            self._later(partial(super().remove, path))

    def sync_directory(self, path: Path) -> None:
        if self.steps is None:
            super().sync_directory(path)
        else:
            self._later(partial(super().sync_directory, path))


class SimulatedChild(ForkedProcess):
    """A child whose *steps* are done by the loop, one after the other."""

    def __init__(
        self, pid: int, steps: list[Callable[[], Any]], error: str, loop: WorldLoop, disk: Disk
    ) -> None:
        self.pid = pid
        self._steps = steps
        self._error = error
        self._loop = loop
        self._disk = disk
        self._code: int | None = None
        self._next()

    def _next(self) -> None:
        delay_s = self._disk.random.uniform(0, STEP_S)
        self._timer = self._loop.call_later(delay_s, self._do_one, context=copy_context())

    def _do_one(self) -> None:
        if self._code is not None:
            return
        if self._steps:
            self._steps.pop(0)()
            self._next()
        else:
            self._code = 1 if self._error else 0

    def ended(self, wait: bool) -> int | None:
        while wait and self._code is None:
            self._do_one()
        return self._code

    def read(self) -> bytes:
        if self._code is None or not self._error:
            return b""
        return child_job.FAILED + b" " + self._error.encode() + b"\n"

    def kill(self) -> None:
        if self._code is None:
            self._code = EXIT_BY_SIGNAL
            self._steps.clear()

    def close(self) -> None:
        self._timer.cancel()


class SimulatedProcesses(Processes):
    """The forks of one server, whose *files* its children use."""

    def __init__(self, files: SwitchedFiles, loop: WorldLoop, first_pid: int) -> None:
        self._files = files
        self._loop = loop
        self._last_pid = first_pid

    def fork(self, job: Job, _kept: Sequence[int]) -> ForkedProcess:
        self._last_pid += 1
        pid, own_pid = self._last_pid, os.getpid
        steps: list[Callable[[], Any]] = []
        error = ""
        self._files.steps = steps
        os.getpid = lambda: pid
        try:
            job(no_report)
        except Exception as failure:
            error = str(failure)
        finally:
            os.getpid = own_pid
            self._files.steps = None
        return SimulatedChild(pid, steps, error, self._loop, self._files.disk)


class SyncFuture(Future[Any]):
    """Its work is done when its time comes, or when somebody waits for it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work: Callable[[], Any] | None = work

    def run(self) -> None:
        work, self._work = self._work, None
        if work is None:
            return
        try:
            value = work()
        except Exception as error:
            self.set_exception(error)
        else:
            self.set_result(value)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.run()
        return super().exception(timeout)

    def result(self, timeout: float | None = None) -> Any:
        self.run()
        return super().result(timeout)


class SimulatedThread(Executor):
    """The thread that fsyncs: its work ends later, and what is synced is what there was before."""

    def __init__(self, files: SwitchedFiles, loop: asyncio.AbstractEventLoop) -> None:
        self._files = files
        self._loop = loop

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        files = self._files
        if work == files.sync:
            future = SyncFuture(partial(files.sync_up_to, args[0], files.length(args[0])))
        else:
            future = SyncFuture(partial(work, *args, **kwargs))
        delay_s = files.disk.random.uniform(0, files.disk.faults.slowest_s)
        self._loop.call_later(delay_s, future.run)
        return future
