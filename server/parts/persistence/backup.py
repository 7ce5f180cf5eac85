"""BACKUP: a copy of the data that grows with them, until it is sealed; of hard links to the AOF.

    idle -> START -> pending -> snapshotting -> incrementing -> SEAL -> sealed -> CLEANUP -> idle
                        |            |               |
                        +----- ABORT, a failure -----+-> failed -> START

    pending        the AOF is to be rewritten, when the present child has ended
    snapshotting   it is being rewritten: that makes a new base
    incrementing   the base is in the folder, and so is each increment after it, as it is written
    sealed         the log goes on in another increment; base, increments and a manifest are whole

The folder can be copied then, and is the append-only folder of a server that is to have the data. A
link keeps a file that a later rewrite gives up. So what is written meanwhile is on the disk once.

It needs the append-only file, and does not outlive the process: what an earlier one has left is
removed by CLEANUP.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from server.config.parameters import Config
from server.parts.persistence.append_only import AppendOnly, Mode
from server.parts.persistence.child import ChildSlot
from server.parts.persistence.files import Files, reason, write_all
from server.parts.persistence.manifest import LogFile, Manifest

ABORTED = "backup was aborted"
REWRITE_FAILED = "the append-only file could not be rewritten"
LOG_FAILED = "the append-only file could not be written, or was switched off"

_log = logging.getLogger("penstock")


class State(Enum):
    """See above. The values are those of BACKUP STATUS."""

    IDLE = "idle"
    PENDING = "pending"
    SNAPSHOTTING = "snapshotting"
    INCREMENTING = "incrementing"
    SEALED = "sealed"
    FAILED = "failed"


IN_PROGRESS = (State.PENDING, State.SNAPSHOTTING, State.INCREMENTING)


class CannotBackUp(Exception):
    """What was asked for cannot be done now; the message says why."""


class Backup:
    """The backup of *append_only*. Times are unix seconds; 0: it did not come to that."""

    def __init__(
        self,
        config: Config,
        files: Files,
        append_only: AppendOnly,
        children: ChildSlot,
        unix_s: Callable[[], int],
    ) -> None:
        self._config = config
        self._files = files
        self._append_only = append_only
        self._children = children
        self._unix_s = unix_s
        self.state = State.IDLE
        self.error = ""
        self.started_s = 0
        self.ended_s = 0
        self._base: LogFile | None = None
        self._increments: list[LogFile] = []  # those that are linked
        self._base_before = 0  # the number of the base when it was started

    @property
    def in_progress(self) -> bool:
        return self.state in IN_PROGRESS

    @property
    def folder(self) -> Path:
        return Path(self._config.backupdirname)

    def paths(self) -> list[Path]:
        """The files that do not change any more, by their absolute paths."""
        names = [] if self._base is None else [self._base.name]
        if self.state is State.SEALED:
            names += [file.name for file in self._increments]
            names.append(self._manifest_name)
        return [(self.folder / name).absolute() for name in names]

    @property
    def _manifest_name(self) -> str:
        return f"{self._config.appendfilename}.manifest"

    # ------------------------------------------------------------------ what is asked for

    def start(self, amid_command: bool) -> None:
        """Begin. *amid_command*: the data have changes that are still to be logged.

        Raises CannotBackUp and OSError.
        """
        if self.in_progress:
            raise CannotBackUp("a backup is already in progress")
        if self.state is State.SEALED:
            raise CannotBackUp("there is a sealed backup: copy it, then use BACKUP CLEANUP")
        if self._append_only.mode is not Mode.ON:
            raise CannotBackUp("a backup needs the append-only file: set appendonly to yes")
        if self._files.exists(self.folder) and self._files.listing(self.folder):
            raise CannotBackUp("the backup directory is not empty: use BACKUP CLEANUP")
        self._files.make_directory(self.folder)
        self._base, self._increments = None, []
        self._base_before = self._append_only.folder.manifest.base_seq
        self.state, self.error = State.PENDING, ""
        self.started_s, self.ended_s = self._unix_s(), 0
        if self._append_only.is_rewriting:  # its base is as good
            self.state = State.SNAPSHOTTING
        elif self._children.child is not None or amid_command:
            self._append_only.scheduled = True
        elif self._append_only.start_rewrite():
            self.state = State.SNAPSHOTTING
        else:
            self._fail(REWRITE_FAILED)
            raise CannotBackUp(REWRITE_FAILED)
        _log.info("Backup started, in %s", self.folder.absolute())

    def seal(self, amid_command: bool) -> None:
        """Complete it: the data are those of this moment. Raises CannotBackUp and OSError."""
        if self.state is not State.INCREMENTING:
            raise CannotBackUp(f"a backup that is {self.state.value} cannot be sealed")
        if amid_command:
            raise CannotBackUp("a backup cannot be sealed in a transaction")
        if self._append_only.is_rewriting:
            raise CannotBackUp("the append-only file is being rewritten: try again after that")
        if not self._log_is_whole() or not self._append_only.log.write_and_sync():
            self._fail(LOG_FAILED)
            raise CannotBackUp(LOG_FAILED)
        self._link_increments()
        self._append_only.rotate()
        self._write_manifest()
        self.state = State.SEALED
        self.ended_s = self._unix_s()
        _log.info("Backup sealed")

    def abort(self) -> None:
        """Give up. Raises CannotBackUp."""
        if not self.in_progress:
            raise CannotBackUp("there is no backup in progress")
        self._fail(ABORTED)

    def clean_up(self) -> None:
        """Remove the files of a backup that is not in progress. Raises CannotBackUp and OSError."""
        if self.in_progress:
            raise CannotBackUp("a backup is in progress: use BACKUP ABORT")
        self._remove_files()
        self.state, self.error = State.IDLE, ""
        self.started_s = self.ended_s = 0

    # ------------------------------------------------------------------ cron

    def tick(self) -> None:
        """Follow the rewrite and the log. Called before, and after, children are looked at."""
        if self.state is State.SEALED:
            kept_s = self._config.backup_sealed_ttl
            if kept_s and self._unix_s() - self.ended_s >= kept_s:
                self._clean_up_in_time()
        elif self.in_progress:
            try:
                self._follow()
            except OSError as error:
                self._fail(reason(error))

    def _follow(self) -> None:
        if not self._log_is_whole():
            self._fail(LOG_FAILED)
        elif self.state is State.INCREMENTING:
            self._link_increments()
        elif self._append_only.folder.manifest.base_seq > self._base_before:
            self._take_base()
        elif self._append_only.is_rewriting:
            self.state = State.SNAPSHOTTING
        elif self.state is State.SNAPSHOTTING:
            self._fail(REWRITE_FAILED)

    def _log_is_whole(self) -> bool:
        return self._append_only.mode is Mode.ON and not self._append_only.log.broken

    def _clean_up_in_time(self) -> None:
        try:
            self.clean_up()
        except OSError as error:
            _log.warning("Cannot remove the sealed backup: %s", reason(error))
            self.ended_s = self._unix_s()  # it is tried again after as long

    # ------------------------------------------------------------------ files

    def _take_base(self) -> None:
        """The new base is there: it and the increments after it are the backup so far."""
        base = self._append_only.folder.manifest.base
        assert base is not None
        self._link(base)
        self._base = base
        self._link_increments()
        self.state = State.INCREMENTING

    def _link_increments(self) -> None:
        """Link the increments that have come since."""
        known = self._increments[-1].seq if self._increments else 0
        for file in self._append_only.folder.manifest.increments:
            if file.seq > known:
                self._link(file)
                self._increments.append(file)

    def _link(self, file: LogFile) -> None:
        self._files.link(self._append_only.folder.path_of(file), self.folder / file.name)

    def _write_manifest(self) -> None:
        fd = self._files.create(self.folder / self._manifest_name)
        try:
            named = Manifest(self._base, tuple(self._increments))
            write_all(self._files, fd, named.encode(self._config.aof_checksums))
            self._files.sync(fd)
        finally:
            self._files.close(fd)
        self._files.sync_directory(self.folder)

    def _fail(self, why: str) -> None:
        self.state, self.error = State.FAILED, why
        _log.warning("Backup failed: %s", why)
        try:
            self._remove_files()
        except OSError as error:
            _log.warning("Cannot remove the files of the failed backup: %s", reason(error))

    def _remove_files(self) -> None:
        self._base, self._increments = None, []
        if self._files.exists(self.folder):
            for name in self._files.listing(self.folder):
                self._files.remove(self.folder / name)
