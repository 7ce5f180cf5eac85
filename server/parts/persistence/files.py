"""The one layer through which persistence touches the disk.

Each method is one system call, or one step that either happens as a whole or raises OSError. Tests
put a Files in its place that fails at a chosen step; see ``tests/server/parts/persistence``.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from pathlib import Path

NEW_FILE_MODE = 0o644  # as redis creates its files


class Files:
    """The system's files. Paths are relative to the working directory, as in Redis."""

    def create(self, path: Path) -> int:
        """Create an empty file at *path*, in place of any that is there; its descriptor."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        return os.open(path, flags, NEW_FILE_MODE)

    def open_to_append(self, path: Path) -> int:
        """Open or create *path* for appending; its descriptor."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        return os.open(path, flags, NEW_FILE_MODE)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write to *fd*. Returns how many bytes were written: on a full disk maybe not all."""
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        """Return when what was written to *fd* is on the disk."""
        os.fdatasync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """Truncate the file of *fd* to *size* bytes."""
        os.ftruncate(fd, size)

    def close(self, fd: int) -> None:
        os.close(fd)

    def rename(self, old: Path, new: Path) -> None:
        """Rename *old* to *new*, in place of any file of that name, in one atomic step."""
        os.rename(old, new)

    def link(self, path: Path, other: Path) -> None:
        """Give the file at *path* another name in the same file system, which must be free."""
        os.link(path, other)

    def sync_directory(self, path: Path) -> None:
        """Return when the names in the directory *path* are on the disk."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def lock(self, path: Path) -> int:
        """Open or create *path* and lock it until the descriptor, which is returned, is closed.

        Raises BlockingIOError if another process has locked it.
        """
        flags = os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | flags, NEW_FILE_MODE)
        except PermissionError:  # another user made it; read access is enough to lock it
            fd = os.open(path, os.O_RDONLY | flags)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise
        return fd

    def make_directory(self, path: Path) -> None:
        """Make the directory *path* if it does not exist."""
        path.mkdir(mode=0o755, exist_ok=True)

    def remove(self, path: Path) -> None:
        """Remove *path*, if it exists."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def detach(self, path: Path) -> int:
        """Remove the name *path*; the descriptor, which is returned, holds the file until closed.

        To free a large file takes long: a thread may close it.
        """
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.unlink(path)
        except OSError:
            os.close(fd)
            raise
        return fd

    def open_to_read(self, path: Path) -> int:
        """Its descriptor."""
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def duplicate(self, fd: int) -> int:
        """One more descriptor of the file of *fd*."""
        return os.dup(fd)

    def length(self, fd: int) -> int:
        """How many bytes the file of *fd* holds."""
        return os.fstat(fd).st_size

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        """At most *size* bytes of the file of *fd*, from *offset* on."""
        return os.pread(fd, size, offset)

    def exists(self, path: Path) -> bool:
        return path.exists()

    def is_directory(self, path: Path) -> bool:
        return path.is_dir()

    def listing(self, path: Path) -> list[str]:
        """The names in the directory *path*."""
        return os.listdir(path)

    def size(self, path: Path) -> int:
        """How many bytes *path* holds."""
        return path.stat().st_size

    def read(self, path: Path) -> bytes | mmap.mmap:
        """The contents of *path*, mapped: a large file takes no memory of the process."""
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return b""  # an empty file cannot be mapped
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def reason(error: OSError) -> str:
    """What went wrong, and with which file."""
    if error.filename is None or not error.strerror:
        return error.strerror or str(error)
    return f"{error.filename}: {error.strerror}"


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Write the whole of *data*. If it raises OSError, any part of it may have been written."""
    view = memoryview(data)
    while view:
        view = view[files.write(fd, view) :]


def remove_quietly(files: Files, path: Path) -> None:
    """Remove *path* if possible; the error before this one is the one to report."""
    with contextlib.suppress(OSError):
        files.remove(path)


def replace_secret(files: Files, path: Path, data: bytes) -> None:
    """Let *path* hold *data*: all of it, or still what it held if this raises OSError.

        data -> users.acl.tmp-<pid> -> sync    the old file stays complete
        rename -> users.acl                    atomic: it is the old or the new one
        sync of the directory                  the new one survives a power cut

    Only the server's user may read a new file.
    """
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    fd = files.create(temporary)
    try:
        os.fchmod(fd, mode)
        write_all(files, fd, data)
        files.sync(fd)
        files.rename(temporary, path)
    except OSError:
        remove_quietly(files, temporary)
        raise
    finally:
        files.close(fd)
    files.sync_directory(path.parent)
