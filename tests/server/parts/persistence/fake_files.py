"""A disk for tests. It fails at chosen steps, and a power cut loses what was not synced.

    names    path -> file      as processes see it          what is there after kill -9
    kept     path -> file      as the disk has it           after a power cut: this, and perhaps
    journal  changes of names  not yet on the disk          some of what was not yet on the disk
    file     data / on_disk    the same for its bytes

Nothing gets to the disk by itself: sync() brings bytes there, and sync_directory() names. Bytes
whose sync failed never get there, whatever a later sync answers: the kernel has dropped them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from copy import copy
from pathlib import Path
from typing import Any, TypeAlias

from server.parts.persistence.child import Outcome, Purpose
from server.parts.persistence.child_job import Job, no_report
from server.parts.persistence.files import Files

FULL = OSError(errno.ENOSPC, "No space left on device")
BROKEN = OSError(errno.EIO, "Input/output error")

Fault: TypeAlias = OSError | BaseException
Plan: TypeAlias = Callable[[int, str], "Fault | None"]  # (number, name) of a step -> fault


class PowerCut(BaseException):
    """The machine is off: no further step happens, not even to clean up."""


class FakeFile:
    """Its bytes as they were written, and as the disk has them."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.on_disk = bytearray(data)
        self.lost: list[range] = []  # bytes whose sync failed

    def sync(self) -> None:
        self.on_disk[:] = self.data
        for gap in self.lost:
            self.on_disk[gap.start : gap.stop] = bytes(len(gap))

    def forget(self) -> None:
        """Let a sync fail: the bytes that it should have written never get to the disk."""
        self.lost.append(range(len(self.on_disk), len(self.data)))

    def after_power_cut(self, share: float) -> FakeFile:
        """What the disk has, and *share* of the bytes that were not synced."""
        unsynced = self.data[len(self.on_disk) :]
        left = FakeFile(
            bytes(self.on_disk[: len(self.data)] + unsynced[: int(len(unsynced) * share)])
        )
        left.lost = self.lost
        return left


Change: TypeAlias = "tuple[Path | None, Path | None, FakeFile | None]"  # old name, new name, file


class FakeFiles(Files):
    """*plan* says which step fails. *steps* has the names of all steps so far."""

    def __init__(self, plan: Plan | None = None) -> None:
        self.plan = plan
        self.steps: list[str] = []
        self.names: dict[Path, FakeFile] = {}
        self.kept: dict[Path, FakeFile] = {}
        self.journal: list[Change] = []
        self.short_writes = False  # a write that fails writes half of its bytes first
        self._fds: dict[int, FakeFile] = {}
        self._next_fd = 1000
        self._is_off = False

    # ------------------------------------------------------------------ for tests

    def put(self, path: Path | str, data: bytes) -> None:
        """Let *path* hold *data*, synced."""
        self.names[Path(path)] = self.kept[Path(path)] = FakeFile(data)

    def get(self, path: Path | str) -> bytes:
        return bytes(self.names[Path(path)].data)

    @property
    def has_holes(self) -> bool:
        """Whether a sync has failed, so that a file may lack bytes in the middle."""
        return any(file.lost for file in self.names.values())

    @property
    def open_files(self) -> int:
        return len(self._fds)

    def after_kill(self) -> FakeFiles:
        """The disk as the next process finds it if this one is killed."""
        return _disk_of({path: FakeFile(bytes(file.data)) for path, file in self.names.items()})

    def after_power_cut(self) -> Iterator[FakeFiles]:
        """The disks that the next start may find, if the power fails now."""
        for changes in {0, len(self.journal) // 2, len(self.journal)}:
            for share in (0, 0.5, 1):
                names = dict(self.kept)
                for change in self.journal[:changes]:
                    _apply(names, change)
                yield _disk_of({path: file.after_power_cut(share) for path, file in names.items()})

    # ------------------------------------------------------------------ server.persistence.files

    def create(self, path: Path) -> int:
        self._step(f"create {path}")
        return self._open(path, FakeFile())

    def open_to_append(self, path: Path) -> int:
        self._step(f"open {path}")
        return self._open(path, self.names.get(path) or FakeFile())

    def write(self, fd: int, data: bytes | memoryview) -> int:
        file = self._fds[fd]
        try:
            self._step("write")
        except OSError:
            if not self.short_writes or len(data) < 2:
                raise
            data = data[: len(data) // 2]
        file.data += data
        return len(data)

    def sync(self, fd: int) -> None:
        file = self._fds[fd]
        try:
            self._step("sync")
        except OSError:
            file.forget()
            raise
        file.sync()

    def truncate(self, fd: int, size: int) -> None:
        self._step("truncate")
        del self._fds[fd].data[size:]

    def close(self, fd: int) -> None:
        del self._fds[fd]
        self._step("close")

    def rename(self, old: Path, new: Path) -> None:
        self._step(f"rename {old} {new}")
        if old not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(old))
        self._change((old, new, self.names[old]))

    def link(self, path: Path, other: Path) -> None:
        self._step(f"link {path} {other}")
        if other in self.names:
            raise FileExistsError(errno.EEXIST, "File exists", str(other))
        self._change((None, other, self._named(path)))

    def sync_directory(self, path: Path) -> None:
        self._step(f"sync_directory {path}")
        left = []
        for change in self.journal:
            if path in {name.parent for name in change[:2] if name is not None}:
                _apply(self.kept, change)
            else:
                left.append(change)
        self.journal = left

    def make_directory(self, path: Path) -> None:
        self._step(f"make_directory {path}")
        if path not in self.names:
            self._change((None, path, FakeFile()))

    def remove(self, path: Path) -> None:
        self._step(f"remove {path}")
        if path in self.names:
            self._change((path, None, None))

    def detach(self, path: Path) -> int:
        self._step(f"remove {path}")
        file = self._named(path)
        self._change((path, None, None))
        return self._hold(file)

    def lock(self, path: Path) -> int:
        self._step(f"lock {path}")
        return self._open(path, self.names.get(path) or FakeFile())

    def listing(self, path: Path) -> list[str]:
        return [name.name for name in self.names if name.parent == path]

    def exists(self, path: Path) -> bool:
        return path in self.names

    def size(self, path: Path) -> int:
        return len(self._named(path).data)

    def read(self, path: Path) -> bytes:
        return bytes(self._named(path).data)

    # ------------------------------------------------------------------

    def _step(self, name: str) -> None:
        if self._is_off:
            raise PowerCut
        self.steps.append(name)
        fault = self.plan(len(self.steps), name) if self.plan else None
        if fault is not None:
            self._is_off = isinstance(fault, PowerCut)
            raise copy(fault)  # plans share it: its traceback would keep whole stacks alive

    def _named(self, path: Path) -> FakeFile:
        if path not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        return self.names[path]

    def _open(self, path: Path, file: FakeFile) -> int:
        if path.parent != Path() and path.parent not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        if self.names.get(path) is not file:
            self._change((None, path, file))
        return self._hold(file)

    def _hold(self, file: FakeFile) -> int:
        self._next_fd += 1
        self._fds[self._next_fd] = file
        return self._next_fd

    def _change(self, change: Change) -> None:
        _apply(self.names, change)
        self.journal.append(change)


def _apply(names: dict[Path, FakeFile], change: Change) -> None:
    old, new, file = change
    if old is not None:
        names.pop(old, None)
    if new is not None and file is not None:
        names[new] = file


def _disk_of(names: dict[Path, FakeFile]) -> FakeFiles:
    """A disk with *names*, except for files whose folder does not exist."""
    disk = FakeFiles()
    for path, file in names.items():
        if path.parent == Path() or path.parent in names:
            disk.names[path] = disk.kept[path] = file
    return disk


class LateFuture(Future[Any]):
    """Its work is done when its result is asked for, or when the executor is run."""

    def __init__(self, executor: LateThread) -> None:
        super().__init__()
        self._executor = executor

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._executor.run_until(self)
        return super().exception(timeout)

    def result(self, timeout: float | None = None) -> Any:
        self._executor.run_until(self)
        return super().result(timeout)


class LateThread(Executor):
    """One thread that works only when the test runs it."""

    def __init__(self) -> None:
        self._work: list[tuple[LateFuture, Callable[[], Any]]] = []

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = LateFuture(self)
        self._work.append((future, lambda: work(*args, **kwargs)))
        return future

    def run(self) -> None:
        """Do all work that was submitted."""
        while self._work:
            future, work = self._work.pop(0)
            try:
                value = work()
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(value)

    def run_until(self, future: LateFuture) -> None:
        if not future.done():
            self.run()


class FakeChildren:
    """Takes the place of ChildSlot: the job runs at once, and the child ends when it is polled."""

    def __init__(self, *_surroundings: object) -> None:
        self.child: FakeChildren | None = None
        self.pid = os.getpid()
        self.total_forks = 0
        self.last_snapshot_s = -1
        self.purpose: Purpose | None = None
        self._error = ""
        self._signal = 0
        self._on_end: Callable[[Outcome], None] | None = None

    def start(
        self, purpose: Purpose, total: int, job: Job, on_end: Callable[[Outcome], None]
    ) -> Any:
        assert self.child is None
        self.purpose, self._on_end, self._error, self._signal = purpose, on_end, "", 0
        try:
            job(no_report)
        except Exception as error:
            self._error = str(error)
        self.child = self
        self.total_forks += 1
        return self

    def runs(self, *purposes: Purpose) -> bool:
        return self.child is not None and self.purpose in purposes

    def kill(self) -> None:
        self._signal = 10

    def end(self) -> None:
        self.kill()
        self.poll(wait=True)

    def poll(self, wait: bool = False) -> None:
        """The child ends, if there is one."""
        if self.child is not None:
            self.child = None
            error = "terminated by signal 10" if self._signal else self._error
            assert self._on_end is not None
            self._on_end(Outcome(self.pid, error, self._signal, 1.0, 4096))
