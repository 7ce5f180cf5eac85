"""A simulated disk: what processes see, and what is left when the power fails.

    names      path -> file      as processes see it; this is left by kill -9
    kept       path -> file      as the platter has it
    journal    changes of names that the platter lacks; any first part of them may get there
    file       data / kept       the same for its bytes; of the rest any first part may get there

A background fsync makes safe what was written when it began, and no more.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

from server.parts.persistence.files import Files

Change: TypeAlias = "tuple[Path | None, Path | None, File | None]"  # old name, new name, file


class File:
    """Its bytes as they were written, and as the platter has them."""

    def __init__(self, data: bytes = b"", is_folder: bool = False) -> None:
        self.data = bytearray(data)
        self.kept = bytearray(data)
        self.is_folder = is_folder

    def sync(self, size: int) -> None:
        """Its first *size* bytes get to the platter."""
        self.kept[:] = self.data[:size]

    def after_power_cut(self, random: Random) -> File:
        """The platter's bytes, and perhaps some that were written after them: torn anywhere."""
        kept = bytes(self.kept[: len(self.data)])
        unsynced = bytes(self.data[len(kept) :])
        more = random.choice((0, len(unsynced), random.randint(0, len(unsynced))))
        return File(kept + unsynced[:more], self.is_folder)


class Faults(NamedTuple):
    """How often a disk fails, and how slow it is."""

    full: float = 0.0  # of writes: ENOSPC, after a part of them
    broken: float = 0.0  # of fsyncs: EIO, and the bytes never get to the platter
    slowest_s: float = 0.01  # an fsync in the background


class Disk:
    """A host's disk, with all its files."""

    def __init__(self, random: Random, note: Callable[..., None]) -> None:
        self.random = random
        self._note = note
        self.steps_left = 0  # until the end that was ordered; 0: there is none
        self._end: Callable[[], None] = _nothing
        self.faults = Faults()
        self.names: dict[Path, File] = {Path(): File(is_folder=True)}
        self.kept: dict[Path, File] = dict(self.names)
        self.journal: list[Change] = []

    def note(self, step: str, *what: object) -> None:
        """The next step is *step*; it may be the one that never comes."""
        self._note(step, *what)
        if self.steps_left:
            self.steps_left -= 1
            if not self.steps_left:
                self._end()

    def end_at(self, steps: int, end: Callable[[], None]) -> None:
        """Call *end* before that step from now; 0: never."""
        self.steps_left, self._end = steps, end

    def after_kill(self) -> Disk:
        """The disk as the next process finds it: all that was written."""
        disk = self._new()
        copies = {id(file): _copy(file) for file in [*self.names.values(), *self.kept.values()]}
        for _, _, file in self.journal:
            if file is not None:
                copies.setdefault(id(file), _copy(file))
        disk.names = {path: copies[id(file)] for path, file in self.names.items()}
        disk.kept = {path: copies[id(file)] for path, file in self.kept.items()}
        disk.journal = [
            (old, new, None if file is None else copies[id(file)])
            for old, new, file in self.journal
        ]
        return disk

    def after_power_cut(self) -> Disk:
        """The disk as the machine finds it when it has power again."""
        names = dict(self.kept)
        for change in self.journal[: self.random.randint(0, len(self.journal))]:
            apply(names, change)
        disk = self._new()
        folders = {path for path, file in names.items() if file.is_folder}
        left = {id(file): file.after_power_cut(self.random) for file in names.values()}
        disk.names = {
            path: left[id(file)] for path, file in names.items() if path.parent in folders
        }
        disk.kept = dict(disk.names)
        return disk

    def _new(self) -> Disk:
        disk = Disk(self.random, self._note)
        disk.faults = self.faults
        return disk

    def flip_a_bit(self, suffix: str) -> tuple[Path, int, int] | None:
        """Flip a bit of a file whose name ends in *suffix*: where, or None if there is none."""
        found = [
            path for path, file in self.names.items() if path.name.endswith(suffix) and file.data
        ]
        if not found:
            return None
        path = self.random.choice(found)
        at = self.random.randrange(len(self.names[path].data))
        bit = 1 << self.random.randrange(8)
        self.flip_back(path, at, bit)
        return path, at, bit

    def names_of(self, path: Path) -> list[str]:
        """All names that the file at *path* has."""
        file = self.names[path]
        return [other.name for other, one in self.names.items() if one is file]

    def flip_back(self, path: Path, at: int, bit: int) -> None:
        """Flip that bit once more."""
        file = self.names[path]
        self._note("flip", str(path), at, bit)
        file.data[at] ^= bit
        if at < len(file.kept):
            file.kept[at] ^= bit


def _nothing() -> None:
    """No end was ordered."""


def _copy(file: File) -> File:
    new = File(bytes(file.data), file.is_folder)
    new.kept = bytearray(file.kept)
    return new


def apply(names: dict[Path, File], change: Change) -> None:
    """Make *change* to *names*."""
    old, new, file = change
    if old is not None:
        names.pop(old, None)
    if new is not None and file is not None:
        names[new] = file


class SimulatedFiles(Files):
    """A process's view of *disk*."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._open: dict[int, File] = {}
        self._last_fd = 1000

    # ------------------------------------------------------------------ steps that may fail

    def write(self, fd: int, data: bytes | memoryview) -> int:
        disk = self.disk
        if disk.faults.full and disk.random.random() < disk.faults.full:
            part = disk.random.randint(0, len(data))
            disk.note("full", part, len(data))
            if not part:
                raise OSError(errno.ENOSPC, "No space left on device")
            data = data[:part]
        disk.note("write", bytes(data))
        self._open[fd].data += data
        return len(data)

    def sync(self, fd: int) -> None:
        self.sync_up_to(fd, len(self._open[fd].data))

    def sync_up_to(self, fd: int, size: int) -> None:
        """Make the first *size* bytes safe."""
        disk, file = self.disk, self._open[fd]
        disk.note("sync", size)
        if disk.faults.broken and disk.random.random() < disk.faults.broken:
            disk.note("broken")
            raise OSError(errno.EIO, "Input/output error")
        file.sync(size)

    # ------------------------------------------------------------------ names

    def create(self, path: Path) -> int:
        return self._opened(path, File())

    def open_to_append(self, path: Path) -> int:
        return self._opened(path, self.disk.names.get(path) or File())

    def lock(self, path: Path) -> int:
        return self.open_to_append(path)

    def open_to_read(self, path: Path) -> int:
        return self._hold(self._named(path))

    def detach(self, path: Path) -> int:
        file = self._named(path)
        self._change((path, None, None))
        return self._hold(file)

    def rename(self, old: Path, new: Path) -> None:
        self.disk.note("rename", str(new))
        self._change((old, new, self._named(old)))

    def link(self, path: Path, other: Path) -> None:
        if other in self.disk.names:
            raise FileExistsError(errno.EEXIST, "File exists", str(other))
        self._change((None, other, self._named(path)))

    def remove(self, path: Path) -> None:
        if path in self.disk.names:
            self._change((path, None, None))

    def make_directory(self, path: Path) -> None:
        if path not in self.disk.names:
            self._change((None, path, File(is_folder=True)))

    def sync_directory(self, path: Path) -> None:
        self.disk.note("sync_directory", str(path))
        left: list[Change] = []
        for change in self.disk.journal:
            if path in {name.parent for name in change[:2] if name is not None}:
                apply(self.disk.kept, change)
            else:
                left.append(change)
        self.disk.journal = left

    # ------------------------------------------------------------------ open files

    def truncate(self, fd: int, size: int) -> None:
        del self._open[fd].data[size:]

    def close(self, fd: int) -> None:
        del self._open[fd]

    def duplicate(self, fd: int) -> int:
        return self._hold(self._open[fd])

    def length(self, fd: int) -> int:
        return len(self._open[fd].data)

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        return bytes(self._open[fd].data[offset : offset + size])

    # ------------------------------------------------------------------ looking

    def exists(self, path: Path) -> bool:
        return path in self.disk.names

    def is_directory(self, path: Path) -> bool:
        return path in self.disk.names and self.disk.names[path].is_folder

    def listing(self, path: Path) -> list[str]:
        return [name.name for name in self.disk.names if name.parent == path and name != path]

    def size(self, path: Path) -> int:
        return len(self._named(path).data)

    def read(self, path: Path) -> Any:
        return bytes(self._named(path).data)

    # ------------------------------------------------------------------

    def _named(self, path: Path) -> File:
        if path not in self.disk.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        return self.disk.names[path]

    def _opened(self, path: Path, file: File) -> int:
        if path.parent not in self.disk.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        if self.disk.names.get(path) is not file:
            self._change((None, path, file))
        return self._hold(file)

    def _hold(self, file: File) -> int:
        self._last_fd += 1
        self._open[self._last_fd] = file
        return self._last_fd

    def _change(self, change: Change) -> None:
        apply(self.disk.names, change)
        self.disk.journal.append(change)
