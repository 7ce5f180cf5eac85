"""Writing a snapshot to the disk: the new one replaces the old one completely, or not at all.

    pieces -> temp-<pid>.rdb -> sync        the old dump.rdb stays complete
    rename temp-<pid>.rdb -> dump.rdb       atomic: dump.rdb is the old or the new one
    sync of the directory                   the new one survives a power cut

A step that fails removes the temporary file and leaves the old one as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from server.config.parameters import Config
from server.observe.memory import resident_bytes
from server.parts.persistence.child_job import Report
from server.parts.persistence.files import Files, remove_quietly, write_all
from server.parts.persistence.stored_history import StoredHistory
from server.process.build import REDIS_VERSION
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.snapshot_writer import SnapshotWriter

SYNC_EVERY_BYTES = 4 * 1024 * 1024  # rdb-save-incremental-fsync, as redis has it


class SaveFailed(Exception):
    """The snapshot could not be written; the message is for the server log."""


class Pieces(Protocol):
    """The bytes of a snapshot, piece by piece; see storage/snapshot/snapshot_writer.py."""

    @property
    def keys_written(self) -> int: ...

    def __iter__(self) -> Iterator[bytes]: ...


def snapshot_of(
    databases: Sequence[Keyspace],
    config: Config,
    now_s: int,
    aof_base: bool = False,
    libraries: Sequence[bytes] = (),
    history: StoredHistory | None = None,
    version: int | None = None,
) -> SnapshotWriter:
    """The snapshot of *databases* as *config* wants it written; its aux fields are redis 7.0's.

    *libraries* are the texts of functions; *history* says where it was made, if that is known;
    *version* is the newest RDB version that its reader knows, if that is not what *config* says.
    """
    aux = {
        b"redis-ver": REDIS_VERSION.encode(),
        b"redis-bits": b"64",
        b"ctime": b"%d" % now_s,
        b"used-mem": b"%d" % resident_bytes(),
        b"aof-base": b"%d" % aof_base,
    }
    if history is not None:
        aux |= history.aux()
    options = config.write_options(version)
    return SnapshotWriter(databases, aux, options, libraries)


def temporary_path(pid: int) -> Path:
    """The file that the process *pid* writes and then renames."""
    return Path(f"temp-{pid}.rdb")


def save_snapshot(
    files: Files, path: Path, pieces: Pieces, report: Report, incremental_sync: bool
) -> None:
    """Write *pieces* to *path*, in place of the present file. Raises SaveFailed."""
    temporary = temporary_path(os.getpid())
    write_snapshot(files, temporary, pieces, report, incremental_sync)
    try:
        files.rename(temporary, path)
    except OSError as error:
        remove_quietly(files, temporary)
        raise SaveFailed(
            f"Error moving temp DB file {temporary} on the final destination {path} "
            f"(in server root dir {_directory()}): {error.strerror or error}"
        ) from error
    try:
        files.sync_directory(path.parent)
    except OSError as error:
        raise SaveFailed(
            f"Failed to fsync directory while saving DB: {error.strerror or error}"
        ) from error


def write_snapshot(
    files: Files, path: Path, pieces: Pieces, report: Report, incremental_sync: bool
) -> None:
    """Write *pieces* to a new file at *path* and fsync it. Raises SaveFailed.

    With *incremental_sync* it is fsynced every SYNC_EVERY_BYTES as well.
    """
    try:
        fd = files.create(path)
    except OSError as error:
        raise SaveFailed(
            f"Failed opening the temp RDB file {path} (in server root dir {_directory()}) "
            f"for saving: {error.strerror or error}"
        ) from error
    try:
        try:
            _write(files, fd, pieces, report, incremental_sync)
        finally:
            files.close(fd)
    except OSError as error:
        remove_quietly(files, path)
        raise SaveFailed(f"Write error saving DB on disk: {error.strerror or error}") from error
    except BaseException:
        remove_quietly(files, path)
        raise


def _write(files: Files, fd: int, pieces: Pieces, report: Report, incremental_sync: bool) -> None:
    unsynced = 0
    for piece in pieces:
        write_all(files, fd, piece)
        unsynced += len(piece)
        if incremental_sync and unsynced >= SYNC_EVERY_BYTES:
            files.sync(fd)
            unsynced = 0
        report(pieces.keys_written)
    files.sync(fd)
    report(pieces.keys_written)  # after the fsync; raises Orphaned if the parent has died


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "unknown"  # it was removed
