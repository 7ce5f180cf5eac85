"""Snapshots: SAVE, BGSAVE, the save points, and their results.

The keyspace's events count all changes and are never reset; the changes since the last save are
counted from a mark. A successful background save moves the mark to the count at the child's fork.

    changes   0 ------- mark ------------- fork -------------- now
                        last save          moves the mark      changes_since_save = now - mark
                                           here if it succeeds
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from protocol.replies import Status
from server.config.parameters import Config
from server.parts.persistence.child import ChildSlot, Outcome, Purpose
from server.parts.persistence.child_job import Report, no_report
from server.parts.persistence.data_folder import DataFolder
from server.parts.persistence.files import Files, remove_quietly
from server.parts.persistence.folder_lock import FolderInUse
from server.parts.persistence.key_delay import slowed
from server.parts.persistence.snapshot_file import (
    SaveFailed,
    save_snapshot,
    snapshot_of,
    temporary_path,
)
from server.parts.persistence.stored_functions import FunctionStore, NoFunctions
from server.parts.persistence.stored_history import HistoryKeeper, NoHistory
from server.process.progress_bar import ProgressBar
from server.table import errors
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

_log = logging.getLogger("penstock")

RETRY_AFTER_S = 5  # a save that failed is not tried again sooner (redis: BGSAVE_RETRY_DELAY)
MEGABYTE = 1024 * 1024

STARTED = Status(b"Background saving started")
SCHEDULED = Status(b"Background saving scheduled")


class Snapshots:
    """The snapshots of one server, and INFO's figures about them."""

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        events: KeyEvents,
        children: ChildSlot,
        files: Files,
        folder: DataFolder,
        unix_s: Callable[[], float] = time.time,
        functions: FunctionStore | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
        report: Report = no_report,
    ) -> None:
        self._config = config
        self._functions = functions or NoFunctions()
        self._databases = databases
        self._events = events
        self._children = children
        self._files = files
        self._folder = folder
        self._unix_s = unix_s
        self._monotonic_s = monotonic_s
        self._report = report  # of a save in this process
        self.history: HistoryKeeper = NoHistory()  # of the data as they are now
        self.last_save_s = int(unix_s())  # unix time; at the start all is as saved
        self._saved_s = monotonic_s()  # the same moment
        self.last_ok = True
        self.last_cow_bytes = 0
        self.failures = 0  # of background saves, since one has succeeded
        self.saves = 0  # background saves that were begun
        self.scheduled = False  # a background save is to begin when the present child has ended
        self._tried_s = self._saved_s
        self._mark = events.changes
        self._mark_of_child = events.changes

    # ------------------------------------------------------------------ how it stands

    @property
    def in_progress(self) -> bool:
        """Whether a child is writing a snapshot, be it for replicas."""
        return self._children.runs(Purpose.SAVE, Purpose.COPY)

    @property
    def running_s(self) -> int:
        """Seconds that it has been writing; -1 if there is none."""
        return int(self._children.running_s) if self.in_progress else -1

    @property
    def last_duration_s(self) -> int:
        """Seconds that the last one took; -1 if there was none."""
        return self._children.last_snapshot_s

    @property
    def changes_since_save(self) -> int:
        return self._events.changes - self._mark

    @property
    def refuses_writes(self) -> bool:
        """Whether writes get MISCONF because the last background save has failed."""
        config = self._config
        return bool(not self.last_ok and config.stop_writes_on_bgsave_error and config.save)

    def forget_changes(self) -> None:
        """The data was just loaded, so it is the same as on the disk."""
        self._mark = self._events.changes

    # ------------------------------------------------------------------ commands

    def save(self) -> None:
        """SAVE: write a snapshot in this process. Raises ErrorReply."""
        if self.in_progress:
            raise errors.SAVE_IN_PROGRESS
        self._claim_folder()
        self.saves += 1
        if not self.save_in_foreground():
            raise errors.FAILED

    def _claim_folder(self) -> None:
        """Lock the data folder. Raises ErrorReply."""
        try:
            self._folder.claim()
        except FolderInUse as error:
            raise errors.folder_in_use(str(error)) from None

    def save_in_foreground(self) -> bool:
        """Save in this process, even while a child runs. False if it failed, which is logged."""
        try:
            self._folder.claim()
            with ProgressBar("Saving", sum(map(len, self._databases)), "keys") as bar:
                self._write(_both(self._report, bar.show))
        except (FolderInUse, SaveFailed, MemoryError) as error:
            _log.warning("%s", str(error) or "no memory to save the DB with")
            return False
        _log.info("DB saved on disk")
        self._saved(self._events.changes)
        return True

    def save_in_background(self, schedule: bool, in_transaction: bool) -> Status:
        """BGSAVE: let a child write a snapshot; while another child runs, later if *schedule*.

        Within a transaction it always waits for the end of it. Raises ErrorReply.
        """
        if self.in_progress:
            raise errors.SAVE_IN_PROGRESS
        self._claim_folder()
        if self._children.child is not None or in_transaction:
            if not (schedule or in_transaction):
                raise errors.OTHER_CHILD
            self.scheduled = True
            return SCHEDULED
        if not self._start():
            raise errors.FAILED
        return STARTED

    def all_flushed(self) -> None:
        """After FLUSHALL: end a save of the old data; save again if there are save points."""
        if self._children.runs(Purpose.SAVE):
            self._children.end()
        if self._config.save:
            self.save_in_foreground()

    # ------------------------------------------------------------------ the end of the server

    def close(self, save: bool, nosave: bool) -> bool:
        """End a child that is saving; then save if there are save points or *save*, not *nosave*.

        False if that failed: then the server should not end.
        """
        if self._children.runs(Purpose.SAVE):
            _log.warning("There is a child saving an .rdb. Killing it!")
            self._children.end()
        if not save and (nosave or not self._config.save):
            return True
        _log.info("Saving the final RDB snapshot before exiting.")
        return self.save_in_foreground()

    # ------------------------------------------------------------------ cron

    def start_due(self) -> None:
        """Begin a background save that is scheduled, or if a save point is reached. For cron."""
        if self._children.child is not None:
            return
        since_s = self._monotonic_s() - self._saved_s  # save points protect: no clock moves them
        for seconds, changes in self._config.save:
            if self.changes_since_save >= changes and since_s > seconds and self._may_try():
                _log.info("%d changes in %d seconds. Saving...", changes, seconds)
                self._start()
                return
        if self.scheduled and self._may_try():
            self.scheduled = not self._start()

    def _may_try(self) -> bool:
        return self.last_ok or self._monotonic_s() - self._tried_s > RETRY_AFTER_S

    # ------------------------------------------------------------------ saving

    def _start(self) -> bool:
        """Fork a child that saves; False if the fork fails."""
        self.saves += 1
        self._tried_s = self._monotonic_s()
        self._mark_of_child = self._events.changes
        total = sum(len(db) for db in self._databases)
        try:
            child = self._children.start(Purpose.SAVE, total, self._write, self._ended)
        except OSError as error:
            self.last_ok = False
            self.failures += 1
            _log.warning("Can't save in background: fork: %s", error.strerror)
            return False
        _log.info("Background saving started by pid %d", child.pid)
        return True

    def _write(self, report: Report) -> None:
        config = self._config
        libraries = self._functions.library_sources
        snapshot = snapshot_of(
            self._databases, config, int(self._unix_s()), False, libraries, self.history.stored()
        )
        sync_on_the_way = config.rdb_save_incremental_fsync
        report = slowed(report, config.rdb_key_save_delay)
        save_snapshot(self._files, Path(config.dbfilename), snapshot, report, sync_on_the_way)

    def _saved(self, mark: int) -> None:
        self._mark = max(self._mark, mark)
        self.last_save_s = int(self._unix_s())
        self._saved_s = self._monotonic_s()
        self.last_ok = True
        self.failures = 0

    def _ended(self, outcome: Outcome) -> None:
        """The child that was saving has ended."""
        self.last_cow_bytes = outcome.cow_bytes
        if outcome.ok:
            _log.info("DB saved on disk")
            _log.info("RDB: %d MB of memory used by copy-on-write", outcome.cow_bytes // MEGABYTE)
            _log.info("Background saving terminated with success")
            self._saved(self._mark_of_child)
            return
        self.failures += 1
        remove_quietly(self._files, temporary_path(outcome.pid))
        if outcome.signal:
            _log.warning("Background saving %s", outcome.error)
        else:
            _log.warning("%s", outcome.error)
            _log.warning("Background saving error")
        self.last_ok = self.last_ok and outcome.killed


def _both(one: Report, other: Report) -> Report:
    """A report to two."""

    def report(keys: int) -> None:
        one(keys)
        other(keys)

    return report
