"""Loading a snapshot: into empty databases at the start, or beside what they hold.

Loading is a generator that stops every few milliseconds, so that the server can go on telling its
clients that it loads. What cannot be loaded whole raises LoadFailed: whoever called must not serve
the half of it that is there by then.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path

from server.config.parameters import Config
from server.persistence.files import Files
from server.persistence.load_progress import LoadProgress
from storage.errors import StorageError
from storage.keyspace.keyspace import Keyspace
from storage.rdb.options import ReadOptions
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader

_log = logging.getLogger("penstock")

SLICE_S = 0.003  # how long others wait, unless a single key takes longer


class LoadFailed(Exception):
    """The data on the disk cannot be had as it is; the message is for the log."""


@dataclass(frozen=True)
class LoadRules:
    """What becomes of keys past their time at *now_ms*, and of keys that are there already.

    *keeps_expired*: for the base of an append-only file, whose later commands know more about them.
    *replaces*: what is loaded takes the place of what is there; without it, that is an error.
    """

    now_ms: int  # unix time
    keeps_expired: bool = False
    replaces: bool = False


def read_options(config: Config) -> ReadOptions:
    """How *config* wants a snapshot to be read."""
    return ReadOptions(config.rdbchecksum, config.list_max_listpack_size)


class SnapshotLoader:
    """Puts the keys of the snapshot *data* into *databases*, and counts them in *progress*."""

    def __init__(
        self,
        data: bytes | mmap,
        databases: Sequence[Keyspace],
        progress: LoadProgress,
        rules: LoadRules,
        options: ReadOptions,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data = data
        self._databases = databases
        self._progress = progress
        self._rules = rules
        self._options = options
        self._monotonic_s = monotonic_s
        self._bytes_before = progress.loaded_bytes
        self._keys_before = progress.keys_loaded
        self._expired_before = progress.keys_expired
        self._has_begun = False

    def run(self) -> Generator[None, None, int]:
        """Load, stopping now and then; return the offset behind the snapshot. Raises LoadFailed."""
        events = self._databases[0].events
        events.lookup.keeps_expired = (
            True  # what has just been loaded is not to expire while looked up
        )
        try:
            reader = SnapshotReader(self._data, self._options)
            filler = self._filler()
            try:
                while self._load_some(reader, filler):
                    self._look_up(reader, filler)
                    yield
                self._look_up(reader, filler)
                _refuse_functions(reader)
                return reader.end
            finally:
                reader.close()
        except StorageError as error:
            raise LoadFailed(f"the RDB cannot be loaded: {error}") from error
        finally:
            events.lookup.keeps_expired = False

    def _filler(self) -> Filler:
        rules = self._rules
        return Filler(self._databases, rules.now_ms, rules.keeps_expired, rules.replaces)

    def _load_some(self, reader: SnapshotReader, filler: Filler) -> bool:
        """Load for some milliseconds; False if the end was reached."""
        stop_s = self._monotonic_s() + SLICE_S
        more = filler.fill(reader)
        if not self._has_begun:
            self._begin(reader)
        while more and self._monotonic_s() < stop_s:
            more = filler.fill(reader)
        return more

    def _begin(self, reader: SnapshotReader) -> None:
        """Log what the snapshot says about itself; all of it stands before the first key."""
        self._has_begun = True
        aux = {name.decode("latin-1"): text for name, text in reader.aux.items()}
        if "redis-ver" in aux:
            _log.info("Loading RDB produced by version %s", aux["redis-ver"].decode("latin-1"))
        if (created_s := _number(aux.get("ctime"))) is not None:
            age_s = max(0, self._rules.now_ms // 1000 - created_s)
            _log.info("RDB age %d seconds", age_s)
        if (used := _number(aux.get("used-mem"))) is not None:
            self._progress.rdb_used_memory = used
            _log.info("RDB memory usage when created %.2f Mb", used / (1024 * 1024))
        if _number(aux.get("aof-base")):
            _log.info("RDB is base AOF")
        _refuse_functions(reader)

    def _look_up(self, reader: SnapshotReader, filler: Filler) -> None:
        progress = self._progress
        progress.loaded_bytes = self._bytes_before + reader.position
        progress.keys_loaded = self._keys_before + filler.keys_loaded
        progress.keys_expired = self._expired_before + filler.keys_expired
        progress.log_now_and_then()


def _refuse_functions(reader: SnapshotReader) -> None:
    """The next save would drop what is not kept: better not to begin."""
    if reader.functions:
        raise LoadFailed(
            f"the RDB holds {len(reader.functions)} libraries of functions, which are not served "
            "here: remove them by FUNCTION FLUSH on the server that wrote it"
        )


def _number(text: bytes | None) -> int | None:
    """What an aux field says, if it is a plausible number."""
    return int(text) if text and len(text) < 20 and text.isdigit() else None


def load_snapshot_file(
    files: Files,
    path: Path,
    databases: Sequence[Keyspace],
    progress: LoadProgress,
    rules: LoadRules,
    options: ReadOptions,
) -> Iterator[None]:
    """Load the snapshot at *path*, stopping now and then. Raises LoadFailed, also if it is absent.

    What follows the snapshot in the file is not looked at.
    """
    try:
        data = files.read(path)
    except OSError as error:
        raise LoadFailed(f"the RDB {path.absolute()} cannot be read: {error.strerror}") from error
    try:
        yield from SnapshotLoader(data, databases, progress, rules, options).run()
    except LoadFailed as error:
        raise LoadFailed(f"{path.absolute()}: {error}") from error
    _log.info(
        "Done loading RDB, keys loaded: %d, keys expired: %d.",
        progress.keys_loaded,
        progress.keys_expired,
    )
    _log.info("DB loaded from disk: %.3f seconds", progress.elapsed_s)
