"""The append-only file as the server has it: off, on, or on as soon as it has a base.

    OFF      nothing is logged
    WAITING  switched on while there was data: what is written goes to a file that no manifest
             names, until a child has written the base that it follows
    ON       base and increments are all there is to load

A rewrite opens a new increment first, then forks. The child writes all data to a temporary file;
that becomes the base of the new increment, and what came before is history. Whatever fails on the
way, the files that were valid stay valid.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from enum import Enum
from pathlib import Path

from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.parts.persistence.append_log import AppendLog
from server.parts.persistence.child import ChildSlot, Outcome, Purpose
from server.parts.persistence.child_job import Report
from server.parts.persistence.data_folder import DataFolder
from server.parts.persistence.files import Files, remove_quietly
from server.parts.persistence.key_delay import slowed
from server.parts.persistence.log_commands import CommandPieces
from server.parts.persistence.log_folder import LogFolder
from server.parts.persistence.manifest import BadManifest
from server.parts.persistence.snapshot_file import (
    Pieces,
    SaveFailed,
    snapshot_of,
    write_snapshot,
)
from server.parts.persistence.stored_functions import FunctionStore
from storage.keyspace.keyspace import Keyspace

FREE_FAILURES = 3  # rewrites that fail in a row without slowing down the next attempt
FIRST_DELAY_S = 60.0
LONGEST_DELAY_S = 3600.0
FIRST_REPAIR_S = 1.0  # the same while the AOF is broken: writes are refused until one succeeds
LONGEST_REPAIR_S = 30.0
MOST_DOUBLINGS = 30  # more than any of them takes
CANNOT_REWRITE = "what was written could not be written out"
SCHEDULED = "An AOF background was scheduled to start when possible."

_log = logging.getLogger("penstock")


class Mode(Enum):
    """See above."""

    OFF = 0
    WAITING = 1
    ON = 2


class AppendOnly:
    """Owns the AOF, its folder and its rewrites; the figures of INFO about them are read here."""

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        files: Files,
        data_folder: DataFolder,
        children: ChildSlot,
        threads: Executor,
        monotonic_s: Callable[[], float],
        unix_s: Callable[[], int],
        functions: FunctionStore,
        latency_events: LatencyEvents,
        report: Report,
    ) -> None:
        self.mode = Mode.OFF
        self.folder = LogFolder(config, files)
        self.log = AppendLog(
            config, files, threads, monotonic_s, unix_s, lambda: children.child is not None,
            latency_events,
        )  # fmt: skip
        self.scheduled = False  # a rewrite is to begin when the present child has ended
        self.last_ok = True
        self.last_duration_s = -1
        self.last_cow_bytes = 0
        self.rewrites = 0  # that were begun
        self.failures = 0  # of the last ones, in a row
        self.rewritten_size = 0  # bytes after the last rewrite, or at the start
        self._report = report  # of a base that this process writes
        self._config = config
        self._databases = databases
        self._files = files
        self._data_folder = data_folder
        self._children = children
        self._threads = threads
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._functions = functions
        self._older_size = 0  # bytes of the files before the one that is written to
        self._unfinished: Path | None = None  # the increment that waits for its base
        self._child_from = 0  # the AOF's offset when the child was forked off
        self._failed_s = 0.0

    # ------------------------------------------------------------------ how it stands

    @property
    def is_rewriting(self) -> bool:
        return self._children.runs(Purpose.REWRITE)

    @property
    def running_s(self) -> int:
        """Seconds that it has been rewritten; -1 if it is not."""
        return int(self._children.running_s) if self.is_rewriting else -1

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return self._older_size + self.log.file_size

    # ------------------------------------------------------------------ on and off

    def open(self) -> None:
        """Append after what has been loaded; begin with a base if there was nothing.

        Raises OSError, and SaveFailed for the base.
        """
        if self.folder.manifest.files:
            fd = self.folder.open_last_increment()
            size = self._files.size(self.folder.path_of(self.folder.manifest.increments[-1]))
            self._older_size = self.folder.size() - size
            if size and self._config.appendfsync != "no":
                self._files.sync(fd)  # a process that was killed may not have: it is shown now
        else:
            self._write_base(self._report)
            fd, unfinished = self.folder.unfinished_increment()
            size = 0
            self.folder.add_base(
                _temporary(os.getpid()), self._config.aof_use_rdb_preamble, unfinished
            )
            self._older_size = self._base_size()
        self.log.open(fd, size)
        self.rewritten_size = self._base_size()
        self.mode = Mode.ON
        if self.folder.manifest.history:  # the last process ended before it came to that
            self._threads.submit(self._close_all, self.folder.drop_history())

    def _base_size(self) -> int:
        base = self.folder.manifest.base
        return self._files.size(self.folder.path_of(base)) if base else 0

    def switch_on(self, amid_command: bool) -> None:
        """Begin to log while the server runs. Raises OSError (FolderInUse) and BadManifest.

        *amid_command*: the data have changes that are still to be logged, and a base that had them
        would have them twice. So it is begun later.
        """
        self._data_folder.claim()
        self._end_rewrite()  # its base would not have what is written before this log begins
        self.folder.read()
        fd, self._unfinished = self.folder.unfinished_increment()
        self.log.open(fd, 0, tentative=True)
        self._older_size = 0
        self.mode = Mode.WAITING
        if amid_command:
            self.scheduled = True
            _log.info("AOF was enabled during a transaction. %s", SCHEDULED)
        elif self._children.child is not None:
            self.scheduled = True
            _log.info(
                "AOF was enabled but there is already another background operation. %s", SCHEDULED
            )
        elif not self.start_rewrite():
            self.switch_off()
            raise OSError(CANNOT_REWRITE)

    def switch_off(self) -> None:
        """Stop logging; what was logged is made safe."""
        self._end_rewrite()
        self.scheduled = False
        self.log.close()
        self.mode = Mode.OFF
        self.log.listener.log_synced()  # no fsync will come: let waiters notice

    def _end_rewrite(self) -> None:
        """End the child that rewrites the AOF, if there is one."""
        child = self._children.child
        if child is not None and self.is_rewriting:
            _log.warning("Killing running AOF rewrite child: %d", child.pid)
            self._children.end()

    def close(self, force: bool) -> bool:
        """The server ends: make everything safe. If that fails all stays open, unless *force*."""
        if self.is_rewriting:
            if self.mode is Mode.WAITING and not force:
                _log.warning("Writing initial AOF, can't exit.")
                return False
            if self.mode is Mode.WAITING:
                _log.warning("Writing initial AOF. Exit anyway.")
            _log.warning("There is a child rewriting the AOF. Killing it!")
            self._children.end()
        if self.mode is Mode.OFF:
            return True
        _log.info("Calling fsync() on the AOF file.")
        if not self.log.write_and_sync():
            _log.warning("Fail to fsync the AOF file: %s", self.log.error)
            if not force:
                return False
        self.log.close()
        self.mode = Mode.OFF
        return True

    # ------------------------------------------------------------------ rewriting

    def start_rewrite(self) -> bool:
        """Let a child write a new base; False if that cannot be begun. No child may run."""
        self.scheduled = False
        self.rewrites += 1
        try:
            self._begin_increment()
            self._child_from = self.log.offset
            total = sum(len(db) for db in self._databases)
            child = self._children.start(Purpose.REWRITE, total, self._write_base, self._ended)
        except (OSError, BadManifest) as error:
            _log.warning("Can't rewrite the append only file: %s", error)
            self._failed()
            return False
        _log.info("Background append only file rewriting started by pid %d", child.pid)
        return True

    def _begin_increment(self) -> None:
        """Continue in a new increment, which will be the only one that the new base needs.

        If the AOF so far has a loss, or no base, nothing may follow it: the increment stays without
        a name in the manifest until there is that base. Otherwise it is made safe first: in a power
        cut it must not be the one that lacks something.
        """
        if self.mode is Mode.OFF:
            self._data_folder.claim()
            self.folder.read()
            return
        is_safe = self.mode is Mode.ON and self.log.write_and_sync()
        if self.mode is Mode.WAITING or self.log.broken:
            fd, self._unfinished = self.folder.unfinished_increment()
            self.log.move_to(fd, tentative=True)
            return
        if not is_safe:
            raise OSError(CANNOT_REWRITE)
        self.rotate()

    def rotate(self) -> None:
        """Go on in a new increment: those so far do not change any more. No child may rewrite.

        Raises OSError.
        """
        size = self.log.file_size
        self.log.move_to(self.folder.add_increment())
        self._older_size += size

    def _write_base(self, report: Report) -> None:
        """Write all data to the temporary file of this process."""
        config = self._config
        libraries = self._functions.library_sources
        now_s = self._unix_s()
        pieces: Pieces = CommandPieces(
            self._databases, libraries, now_s if config.aof_timestamp_enabled else None,
            config.aof_checksums,
        )  # fmt: skip
        if config.aof_use_rdb_preamble:
            pieces = snapshot_of(self._databases, config, now_s, True, libraries)
        sync_on_the_way = config.aof_rewrite_incremental_fsync
        report = slowed(report, config.rdb_key_save_delay)
        write_snapshot(self._files, _temporary(os.getpid()), pieces, report, sync_on_the_way)

    def _ended(self, outcome: Outcome) -> None:
        """The child has ended."""
        self.last_duration_s = int(outcome.duration_s)
        self.last_cow_bytes = outcome.cow_bytes
        temporary = _temporary(outcome.pid)
        try:
            if not outcome.ok:
                raise SaveFailed(outcome.error)
            self._take_base(temporary)
        except (OSError, SaveFailed) as error:
            reason = error if outcome.signal else f"terminated with error: {error}"
            _log.warning("Background AOF rewrite %s", reason)
            remove_quietly(self._files, temporary)
            if not outcome.killed:
                self._failed()
            return
        self.last_ok = True
        self.failures = 0
        if self.mode is Mode.ON:
            self.log.base_written(self._child_from)
        _log.info("Background AOF rewrite finished successfully")

    def _take_base(self, temporary: Path) -> None:
        """Let what the child has written take its place."""
        unfinished = self._unfinished
        if self.mode is Mode.OFF:  # it needs an increment to begin with when it is switched on
            fd, unfinished = self.folder.unfinished_increment()
            self._files.close(fd)
        self.folder.add_base(temporary, self._config.aof_use_rdb_preamble, unfinished)
        self._unfinished = None
        if self.mode is Mode.WAITING:
            self.mode = Mode.ON
        self._older_size = self._base_size()
        self.rewritten_size = self.size
        self._threads.submit(self._close_all, self.folder.drop_history())

    def _close_all(self, fds: Iterable[int]) -> None:
        for fd in fds:
            with contextlib.suppress(OSError):  # nothing in it is needed
                self._files.close(fd)

    def _failed(self) -> None:
        self.last_ok = False
        self.failures += 1
        self._failed_s = self._monotonic_s()

    # ------------------------------------------------------------------ cron

    def tick(self) -> None:
        """Write and sync what waits for it, and begin the rewrites that are due."""
        if self.mode is not Mode.OFF:
            self.log.write()
        if self._children.child is None and not self._is_slowed() and self._is_due():
            self.start_rewrite()

    def _is_due(self) -> bool:
        if self.scheduled or self.mode is Mode.WAITING:
            return True
        if self.mode is Mode.OFF:
            return False
        if self.log.broken:
            return True
        percent = self._config.auto_aof_rewrite_percentage
        if not percent or self.size <= self._config.auto_aof_rewrite_min_size:
            return False
        growth = self.size * 100 // (self.rewritten_size or 1) - 100
        if growth < percent:
            return False
        _log.info("Starting automatic rewriting of AOF on %d%% growth", growth)
        return True

    def _is_slowed(self) -> bool:
        """Whether it is too soon after the last failures: one more would cost as much."""
        if self.log.broken:
            free, first_s, longest_s = 1, FIRST_REPAIR_S, LONGEST_REPAIR_S
        else:
            free, first_s, longest_s = FREE_FAILURES, FIRST_DELAY_S, LONGEST_DELAY_S
        if self.failures < free:
            return False
        doublings = min(self.failures - free, MOST_DOUBLINGS)
        delay_s = min(first_s * 2**doublings, longest_s)
        return bool(self._monotonic_s() - self._failed_s < delay_s)


def _temporary(pid: int) -> Path:
    """Where the process *pid* writes a base before it takes its place."""
    return Path(f"temp-rewriteaof-bg-{pid}.aof")
