"""All that outlives the process, as the rest of the server sees it.

    the start    folder.open() -> load() -> begin()
    cron         tick()
    the end      close()
    commands     snapshots, append_only
    each turn    propagation.durability.write()    (server.persistence.append_log.AppendLog)

If the append-only file is on, it is what is loaded, since it is never the older. If it is on and
there is none yet, the snapshot is loaded and becomes its base. (Redis starts empty there, which has
cost people their data.)
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
from server.persistence.append_only import AppendOnly, Mode
from server.persistence.child import ChildSlot
from server.persistence.data_folder import DataFolder
from server.persistence.files import Files, reason
from server.persistence.load_progress import LoadProgress
from server.persistence.log_loader import LogLoader, Replay
from server.persistence.manifest import BadManifest
from server.persistence.snapshot_file import SaveFailed
from server.persistence.snapshot_loader import (
    LoadFailed,
    LoadRules,
    SnapshotLoader,
    load_snapshot_file,
    read_options,
)
from server.persistence.snapshots import Snapshots
from server.propagation.propagation import Propagation
from server.table import errors
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

_log = logging.getLogger("penstock")


class Persistence:
    """Snapshots and the append-only file over one keyspace and one folder."""

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        events: KeyEvents,
        propagation: Propagation,
        files: Files | None = None,
        threads: Executor | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._databases = databases
        self._events = events
        self._propagation = propagation
        self._files = files or Files()
        self._threads = threads or ThreadPoolExecutor(1, "fsync")
        self.children = ChildSlot(monotonic_s)
        self.folder = DataFolder(config, self._files)
        self.snapshots = Snapshots(
            config, databases, events, self.children, self._files, self.folder, wall_s
        )
        self.append_only = AppendOnly(
            config, databases, self._files, self.folder, self.children, self._threads, monotonic_s,
            lambda: int(wall_s()),
        )  # fmt: skip
        self.progress: LoadProgress | None = None  # while data is loaded
        self.keys_loaded = 0
        self.keys_expired = 0  # that were passed over in loading

    # ------------------------------------------------------------------ the start

    def load(self, begin_file: Callable[[], Replay]) -> Iterator[None]:
        """Load what there is into the empty databases, stopping now and then.

        *begin_file* gives what runs the commands of one file. Raises LoadFailed: what is there by
        then is not all.
        """
        try:
            if self._config.appendonly:
                self.append_only.folder.upgrade()
            if self._config.appendonly and self.append_only.folder.read():
                yield from self._load_log(begin_file)
            elif self._files.exists(Path(self._config.dbfilename)):
                yield from self._load_snapshot()
        except BadManifest as error:
            path = self.append_only.folder.manifest_path.absolute()
            raise LoadFailed(f"the manifest {path} is broken: {error}") from error
        except OSError as error:
            raise LoadFailed(reason(error)) from error
        finally:
            self._loaded()

    def begin(self) -> None:
        """Log from now on, if the configuration says so. Raises LoadFailed."""
        if self._config.appendonly:
            try:
                self.append_only.open()
            except (OSError, SaveFailed) as error:
                what = reason(error) if isinstance(error, OSError) else str(error)
                path = self.append_only.folder.path.absolute()
                raise LoadFailed(
                    f"the append only file in {path} cannot be opened: {what}"
                ) from error
            self._propagation.durability = self.append_only.log

    def reload_snapshot(self, replaces: bool) -> None:
        """Load the snapshot here and now, beside what is there. Raises LoadFailed."""
        for _ in self._load_snapshot(replaces):
            pass
        self._loaded()

    def reload_log(self, begin_file: Callable[[], Replay]) -> None:
        """Load the append-only file here and now, logging nothing. Raises LoadFailed."""
        durability, self._propagation.durability = self._propagation.durability, None
        try:
            for _ in self._load_log(begin_file):
                pass
        finally:
            self._propagation.durability = durability
            self._loaded()

    def _load_snapshot(self, replaces: bool = False) -> Iterator[None]:
        path = Path(self._config.dbfilename)
        self.progress = LoadProgress(self._files.size(path))
        yield from load_snapshot_file(
            self._files, path, self._databases, self.progress,
            LoadRules(self._events.clock.now_ms, replaces=replaces), read_options(self._config),
        )  # fmt: skip

    def _load_log(self, begin_file: Callable[[], Replay]) -> Iterator[None]:
        folder = self.append_only.folder
        folder.check_files()
        self.progress = LoadProgress(folder.size())
        self._events.lookup.keeps_expired = True
        try:
            yield from LogLoader(
                self._config, self._files, folder, self.progress, begin_file, self._load_base
            ).run()
        finally:
            self._events.lookup.keeps_expired = False
        _log.info("DB loaded from append only file: %.3f seconds", self.progress.elapsed_s)

    def _load_base(self, data: bytes | mmap) -> Generator[None, None, int]:
        assert self.progress is not None
        loader = SnapshotLoader(
            data, self._databases, self.progress,
            LoadRules(self._events.clock.now_ms, keeps_expired=True), read_options(self._config),
        )  # fmt: skip
        end = yield from loader.run()
        self._events.lookup.keeps_expired = True  # for what follows the base
        return end

    def _loaded(self) -> None:
        if self.progress is not None:
            self.keys_loaded = self.progress.keys_loaded
            self.keys_expired = self.progress.keys_expired
        self.progress = None
        self.snapshots.forget_changes()

    # ------------------------------------------------------------------ while it runs

    @property
    def refusal(self) -> ErrorReply | None:
        """What writes are answered while they could not be kept; None if all is well."""
        if self._log_fails():
            return errors.unkept(self.append_only.log.error)
        return errors.SAVING_FAILED if self.snapshots.refuses_writes else None

    @property
    def refuses_reads(self) -> bool:
        """Whether reads are answered so too: with ``always``, nothing is shown that is not safe."""
        return self._log_fails() and self._config.appendfsync == "always"

    def _log_fails(self) -> bool:
        return self.append_only.mode is not Mode.OFF and bool(self.append_only.log.error)

    def tick(self) -> None:
        """What is due: reports of the child, fsyncs, save points, rewrites."""
        self.children.poll()
        self.append_only.tick()
        self.snapshots.start_due()
        self.snapshots.start_scheduled()

    def switch_log(self) -> None:
        """The parameter appendonly has changed: act on it. Raises OSError and BadManifest."""
        is_on = self.append_only.mode is not Mode.OFF
        if self._config.appendonly and not is_on:
            self.append_only.switch_on()
            self._propagation.durability = self.append_only.log
        elif is_on and not self._config.appendonly:
            self._propagation.durability = None
            self.append_only.switch_off()

    # ------------------------------------------------------------------ the end

    def close(self, save: bool = False, nosave: bool = False, force: bool = False) -> bool:
        """Make everything safe. False if that failed: then the server should go on, unless *force*.

        *save* writes a snapshot whatever the save points are, *nosave* none. The log stays where it
        is asked before answers leave: closed, it tells which of them may.
        """
        self.snapshots.end_background_save()
        saved = self.snapshots.save_at_end(save, nosave)
        if not saved:
            _log.warning(
                "Error trying to save the DB%s", ". Exit anyway." if force else ", can't exit."
            )
        if not saved and not force:
            return False
        return self.append_only.close(force)

    def rescue(self, is_whole: bool) -> None:
        """The server cannot go on: make safe what it has acknowledged, as far as that is possible.

        What is not known to be whole does not take the place of the last snapshot.
        """
        if self.append_only.mode is not Mode.OFF:
            if not self.append_only.log.make_safe():
                _log.critical("The append only file could not be written and synced.")
        elif self._config.save and is_whole:
            self.snapshots.save_here()
        elif self._config.save:
            _log.critical("The data may not be whole: the last snapshot stays as it is.")
