"""The data folder: it is locked, cleared of leftovers of killed processes, and tried for writing.

All of this is done at the start if the configuration saves anything. Otherwise several servers may
share a folder, and a server that has to save later locks it first, or refuses to save.
"""

from __future__ import annotations

import errno
import logging
import os
import re
from pathlib import Path

from server.config.parameters import Config
from server.parts.persistence.files import Files, reason, write_all
from server.parts.persistence.folder_lock import FolderLock
from server.parts.persistence.snapshot_file import temporary_path

HERE = Path()
LEFTOVER = re.compile(r"temp-[0-9]+\.rdb|temp-rewriteaof-(bg-)?[0-9]+\.aof")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

_log = logging.getLogger("penstock")


class DataFolder:
    """The working directory, for everything that writes there."""

    def __init__(self, config: Config, files: Files) -> None:
        self._config = config
        self._files = files
        self._lock = FolderLock(files)

    def open(self) -> None:
        """At the start: make sure that saving is possible.

        Raises OSError with a message for the user, and FolderInUse.
        """
        if self._is_needed:
            self.claim()
            self._check_writable()

    def claim(self, folder: Path = HERE) -> None:
        """Lock *folder*, before anything is written there. Raises FolderInUse."""
        if not self._lock.holds(folder) and self._lock.take(folder):
            self._clear(folder)

    def claim_next(self, folder: Path) -> None:
        """The server is about to move to *folder*. Raises FolderInUse.

        The folder it leaves stays locked: a child or the AOF may still write there.
        """
        if self._is_needed or self._lock:
            self.claim(folder)

    @property
    def _is_needed(self) -> bool:
        """Whether the configuration saves anything without a command."""
        return bool(self._config.save or self._config.appendonly)

    # ------------------------------------------------------------------ clearing

    def _clear(self, folder: Path) -> None:
        """Remove the temporary files of killed servers and children.

        The folder is locked, so no other process is writing them.
        """
        stem, below = self._config.appendfilename, folder / self._config.appenddirname
        unfinished = (f"temp-{stem}.incr", f"temp-{stem}.manifest")
        leftovers = [folder / name for name in self._names(folder) if LEFTOVER.fullmatch(name)]
        leftovers += [below / name for name in self._names(below) if name in unfinished]
        for path in leftovers:
            try:
                self._files.remove(path)
            except OSError as error:
                _log.warning("Can't remove the temporary file %s", reason(error))
            else:
                _log.info("Removed %s, which a process that was killed had left", path)

    def _names(self, folder: Path) -> list[str]:
        try:
            return self._files.listing(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            _log.warning("Can't look for temporary files: %s", reason(error))
            return []

    # ------------------------------------------------------------------ trying out

    def _check_writable(self) -> None:
        """Create the files that saving will create: nothing else proves that this is possible."""
        config = self._config
        self._try_to_write(temporary_path(os.getpid()))
        snapshot, log = Path(config.dbfilename), Path(config.appenddirname)
        if config.save and self._files.is_directory(snapshot):
            raise OSError(f"Can't save to {snapshot.absolute()} ('dbfilename'): it is a directory")
        if not config.appendonly or not self._files.exists(log):
            return
        if not self._files.is_directory(log):
            raise OSError(f"{log.absolute()} ('appenddirname') is not a directory")
        self._try_to_write(log / f"temp-{config.appendfilename}.manifest")

    def _try_to_write(self, path: Path) -> None:
        try:
            fd = self._files.create(path)
            try:
                write_all(self._files, fd, b"\n")
            finally:
                self._files.close(fd)
                self._files.remove(path)
        except OSError as error:
            if error.errno not in NO_ROOM:
                user, group = os.geteuid(), os.getegid()
                raise OSError(
                    f"Can't write in {path.parent.absolute()}, where data are to be saved, as user"
                    f" {user} (group {group}): {error.strerror}. Let that user write there (chown"
                    f" {user}:{group}), choose another folder with 'dir', or save nothing:"
                    ' --save "" --appendonly no'
                ) from error
            _log.warning(
                "The disk of %s is full: nothing can be saved until there is room",
                path.parent.absolute(),
            )
