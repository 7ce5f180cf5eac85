"""Persistence as the rest of the server sees it: snapshots and the append-only file.

    the start    folder.open() -> load() -> begin()
    cron         tick()
    the end      close()
    commands     snapshots, append_only
    each turn    propagation.durability.write()    (AppendLog, in append_log.py)

If the append-only file is on, it is loaded and not the snapshot, since it is never the older one.
If it is on and does not exist yet, the snapshot is loaded and becomes its base. (Redis starts empty
in this case, which has cost people their data.)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from mmap import mmap
from pathlib import Path

from protocol.replies import ErrorReply
from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.parts.persistence.append_only import AppendOnly, Mode
from server.parts.persistence.backup import Backup
from server.parts.persistence.child import ChildSlot
from server.parts.persistence.child_job import Report, no_report
from server.parts.persistence.data_folder import DataFolder
from server.parts.persistence.files import Files, reason
from server.parts.persistence.load_progress import LoadProgress
from server.parts.persistence.log_loader import LogLoader, Replay
from server.parts.persistence.loss_window import loss_window
from server.parts.persistence.manifest import BadManifest
from server.parts.persistence.processes import Processes
from server.parts.persistence.snapshot_file import SaveFailed
from server.parts.persistence.snapshot_loader import (
    LoadFailed,
    LoadRules,
    SnapshotLoader,
    load_snapshot_file,
    read_options,
)
from server.parts.persistence.snapshots import Snapshots
from server.parts.persistence.stored_functions import FunctionStore, NoFunctions
from server.parts.persistence.stored_history import StoredHistory
from server.parts.propagation.propagation import Propagation
from server.table import errors
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

_log = logging.getLogger("penstock")


class Persistence:
    """Snapshots and the append-only file over one keyspace and one folder.

    *report* is told how many keys a save in this process has written, again and again.
    """

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        events: KeyEvents,
        propagation: Propagation,
        files: Files | None = None,
        threads: Executor | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
        unix_s: Callable[[], float] = time.time,
        functions: FunctionStore | None = None,
        latency_events: LatencyEvents | None = None,
        report: Report = no_report,
        processes: Processes | None = None,
    ) -> None:
        self._config = config
        self._key_delay_us = lambda: config.key_load_delay
        self._databases = databases
        self._events = events
        self._propagation = propagation
        self.files = self._files = files or Files()
        self._threads = threads or ThreadPoolExecutor(1, "fsync")
        self.functions = functions or NoFunctions()
        latency_events = latency_events or LatencyEvents()
        self.children = ChildSlot(events.lookup, monotonic_s, unix_s, latency_events, processes)
        self.folder = DataFolder(config, self._files)
        self.snapshots = Snapshots(
            config, databases, events, self.children, self._files, self.folder, unix_s,
            self.functions, monotonic_s, report,
        )  # fmt: skip
        self.append_only = AppendOnly(
            config, databases, self._files, self.folder, self.children, self._threads, monotonic_s,
            lambda: int(unix_s()), self.functions, latency_events, report,
        )  # fmt: skip
        self.backup = Backup(
            config, self._files, self.append_only, self.children, lambda: int(unix_s())
        )
        self.progress: LoadProgress | None = None  # while data is loaded
        self._continues_log = False  # the AOF is what was looked for at the start
        self.loaded_history: StoredHistory | None = None  # of what was loaded at the start
        self.keys_loaded = 0
        self.keys_expired = 0  # not loaded because they had expired

    # ------------------------------------------------------------------ the start

    def load(self, begin_file: Callable[[], Replay]) -> Iterator[None]:
        """Load the data into the empty databases, yielding now and then.

        *begin_file* makes the function that runs the commands of one file. Raises LoadFailed; the
        databases then hold a part of the data.
        """
        self._continues_log = self._config.appendonly
        try:
            if self._config.appendonly:
                self.append_only.folder.upgrade()
            if self._config.appendonly and self.append_only.folder.read():
                yield from self._load_log(begin_file, sums_up=True)
            elif self._files.exists(Path(self._config.dbfilename)):
                yield from self._load_snapshot()
                progress = self.progress
                if progress is not None and not progress.keys_expired:  # they are as they were then
                    self.loaded_history = progress.history
        except BadManifest as error:
            _log.warning("*** FATAL AOF MANIFEST FILE ERROR ***")
            path = self.append_only.folder.manifest_path.absolute()
            raise LoadFailed(f"the manifest {path} is broken: {error}") from error
        except OSError as error:
            raise LoadFailed(reason(error)) from error
        finally:
            self._loaded()

    def begin(self) -> None:
        """Log from now on, if the configuration says so. Raises LoadFailed.

        If it says so only since a CONFIG SET during the load, an older AOF may be there: it is
        replaced.
        """
        if self._config.appendonly:
            try:
                if self._continues_log:
                    self.append_only.open()
                else:
                    self.append_only.switch_on(amid_command=False)
            except (OSError, SaveFailed, BadManifest) as error:
                what = reason(error) if isinstance(error, OSError) else str(error)
                path = self.append_only.folder.path.absolute()
                raise LoadFailed(
                    f"the append only file in {path} cannot be opened: {what}"
                ) from error
            self._propagation.set_durability(self.append_only.log)
        _log.info("What an OK means: %s", self.loss_window)

    def reload_snapshot(self, replaces: bool) -> None:
        """Load the snapshot at once, in addition to the present keys. Raises LoadFailed.

        Keys that have expired are loaded: the AOF and replicas have them until they get a DEL.
        """
        try:
            for _ in self._load_snapshot(replaces, keeps_expired=True):
                pass
        finally:
            self._loaded()

    def reload_log(self, begin_file: Callable[[], Replay]) -> None:
        """Load the append-only file at once, without logging. Raises LoadFailed."""
        durability = self._propagation.durability
        self._propagation.set_durability(None)
        try:
            for _ in self._load_log(begin_file, sums_up=False):
                pass
        finally:
            self._propagation.set_durability(durability)
            self._loaded()

    def load_copy(
        self, path: Path, databases: Sequence[Keyspace], functions: FunctionStore
    ) -> Iterator[None]:
        """Load the snapshot of a primary into *databases*, which are empty, yielding now and then.

        Keys that have expired are loaded: the primary removes them. Raises LoadFailed.
        """
        self.progress = LoadProgress(self._files.size(path))
        rules = LoadRules(self._events.clock.now_ms, keeps_expired=True, functions=functions,
                          delay_us=self._key_delay_us)  # fmt: skip
        load = load_snapshot_file(
            self._files, path, databases, self.progress, rules, read_options(self._config)
        )
        try:
            yield from self._keeping_expired(load) if databases is self._databases else load
            self.loaded_history = self.progress.history
        finally:
            self._loaded()

    def stop_log(self) -> None:
        """Log nothing from now on, if anything was logged."""
        if self.append_only.mode is not Mode.OFF:
            self._propagation.set_durability(None)
            self.append_only.switch_off()

    def _load_snapshot(self, replaces: bool = False, keeps_expired: bool = False) -> Iterator[None]:
        path = Path(self._config.dbfilename)
        self.progress = LoadProgress(self._files.size(path))
        yield from self._keeping_expired(load_snapshot_file(
            self._files, path, self._databases, self.progress,
            LoadRules(self._events.clock.now_ms, keeps_expired, replaces, self.functions,
                      delay_us=self._key_delay_us),
            read_options(self._config),
        ))  # fmt: skip

    def _keeping_expired(self, load: Iterator[None]) -> Iterator[None]:
        """*load*, into the databases that are served: nobody is until its end, and no key expires.

        Whatever looks at keys between two of its slices leaves them all there.
        """
        lookup = self._events.lookup
        kept, lookup.keeps_expired = lookup.keeps_expired, True
        try:
            yield from load
        finally:
            lookup.keeps_expired = kept

    def _load_log(self, begin_file: Callable[[], Replay], sums_up: bool) -> Iterator[None]:
        folder = self.append_only.folder
        folder.check_files()
        self.progress = LoadProgress(folder.size())
        loader = LogLoader(
            self._config, self._files, folder, self.progress, begin_file, self._load_base, sums_up
        )
        yield from self._keeping_expired(loader.run())
        _log.info("DB loaded from append only file: %.3f seconds", self.progress.elapsed_s)

    def _load_base(self, data: bytes | mmap) -> Generator[None, None, int]:
        assert self.progress is not None
        loader = SnapshotLoader(
            data, self._databases, self.progress,
            LoadRules(self._events.clock.now_ms, keeps_expired=True, functions=self.functions,
                      delay_us=self._key_delay_us),
            read_options(self._config),
        )  # fmt: skip
        return (yield from loader.run())

    def _loaded(self) -> None:
        if self.progress is not None:
            self.progress.end()
            self.keys_loaded = self.progress.keys_loaded
            self.keys_expired = self.progress.keys_expired
        self.progress = None
        self.snapshots.forget_changes()

    # ------------------------------------------------------------------ while it runs

    @property
    def loss_window(self) -> str:
        """What is lost with the present setting, in a line."""
        return loss_window(self._config, self.append_only)

    @property
    def refusal(self) -> ErrorReply | None:
        """The error for writes while the disk fails; None if all is well."""
        if self._log_fails():
            return errors.aof_write_failed(self.append_only.log.error)
        return errors.SAVING_FAILED if self.snapshots.refuses_writes else None

    @property
    def refuses_reads(self) -> bool:
        """Whether reads get it too: with ``always`` no reply shows what is not on the disk."""
        return self._log_fails() and self._config.appendfsync == "always"

    def _log_fails(self) -> bool:
        return self.append_only.mode is not Mode.OFF and bool(self.append_only.log.error)

    def tick(self) -> None:
        """Do what is due: reports of the child, fsyncs, save points, rewrites. Called by cron."""
        self.backup.tick()  # before a rewrite that has ended drops what it still lacks
        self.children.poll()
        self.append_only.tick()
        self.backup.tick()
        self.snapshots.start_due()

    def switch_log(self) -> None:
        """The parameter appendonly has changed: act on it. Raises OSError and BadManifest.

        While data are loaded there is no log: a base would have a part of them, and what is read
        would be logged once more. It begins after the load, if the parameter says so then.
        """
        if self.progress is not None:
            return
        is_on = self.append_only.mode is not Mode.OFF
        if self._config.appendonly and not is_on:
            self.append_only.switch_on(amid_command=bool(self._propagation.ops))
            self._propagation.set_durability(self.append_only.log)
        elif not self._config.appendonly:
            self.stop_log()

    # ------------------------------------------------------------------ the end

    def close(self, save: bool = False, nosave: bool = False, force: bool = False) -> bool:
        """Put everything on the disk. If it returns False the server keeps running, unless *force*.

        *save* writes a snapshot even without save points, *nosave* none. The closed log stays in
        place: it is still asked which replies may be sent.
        """
        saved = self.snapshots.close(save, nosave)
        if not saved:
            _log.warning(
                "Error trying to save the DB%s", ". Exit anyway." if force else ", can't exit."
            )
        if not saved and not force:
            return False
        return self.append_only.close(force)

    def save_after_fault(self, is_whole: bool) -> None:
        """After a fault: put on the disk what was acknowledged, as far as that is possible.

        The last snapshot is replaced only if *is_whole*: the data in memory is undamaged.
        """
        if self.append_only.mode is not Mode.OFF:
            if not self.append_only.log.write_and_sync():
                _log.critical("The append only file could not be written and synced.")
        elif self._config.save and is_whole:
            self.snapshots.save_in_foreground()
        elif self._config.save:
            _log.critical("The data may not be whole: the last snapshot stays as it is.")
