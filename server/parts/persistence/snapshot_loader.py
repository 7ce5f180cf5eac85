"""Loading a snapshot: into empty databases at the start, or in addition to their keys.

Loading is a generator that yields every few milliseconds, so that the server can answer its clients
with LOADING. If the snapshot cannot be loaded completely it raises LoadFailed; the part that was
loaded must not be served.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from mmap import mmap
from pathlib import Path
from typing import NamedTuple

from protocol.replies import ErrorReply
from server.config.parameters import Config
from server.parts.persistence import key_delay
from server.parts.persistence.files import Files
from server.parts.persistence.load_progress import LoadProgress
from server.parts.persistence.stored_functions import FunctionStore, NoFunctions
from server.parts.persistence.stored_history import history_in
from storage.errors import StorageError, Truncated
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits
from storage.rdb.errors import BadSignature, BadVersion, UnknownType
from storage.rdb.options import ReadOptions
from storage.snapshot import part_sums
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader

MOST_NAMED = 8  # damaged parts of a snapshot

_log = logging.getLogger("penstock")


class LoadFailed(Exception):
    """The data on the disk cannot be loaded; the message is for the server log."""


NO_FUNCTIONS = NoFunctions()


class LoadRules(NamedTuple):
    """What to do with keys that have expired at *now_ms*, and with what exists already.

    *keeps_expired*: load expired keys, since the commands after the base of an append-only file
    may still use them. *replaces*: loaded keys and libraries replace existing ones; otherwise that
    is an error. *delay_us* is asked how long to wait after each key: key-load-delay, for tests.
    """

    now_ms: int  # unix time
    keeps_expired: bool = False
    replaces: bool = False
    functions: FunctionStore = NO_FUNCTIONS  # receives the libraries
    delay_us: Callable[[], int] = lambda: 0


def read_options(config: Config) -> ReadOptions:
    """The options for reading a snapshot, from *config*."""
    return ReadOptions(
        config.rdbchecksum,
        config.list_max_listpack_size,
        hash_limits=ListpackLimits(
            config.hash_max_listpack_entries, config.hash_max_listpack_value
        ),
        set_limits=config.set_limits,
        sorted_set_limits=ListpackLimits(
            config.zset_max_listpack_entries, config.zset_max_listpack_value
        ),
    )


class SnapshotLoader:
    """Puts the keys of the snapshot *data* into *databases*, and counts them in *progress*."""

    def __init__(
        self,
        data: bytes | mmap,
        databases: Sequence[Keyspace],
        progress: LoadProgress,
        rules: LoadRules,
        options: ReadOptions,
        monotonic_s: Callable[[], float] | None = None,
    ) -> None:
        self._data = data
        self._databases = databases
        self._progress = progress
        self._rules = rules
        self._options = options
        self._monotonic_s = monotonic_s or time.monotonic
        self._bytes_before = progress.loaded_bytes
        self._keys_before = progress.keys_loaded
        self._expired_before = progress.keys_expired
        self._keys_delayed = progress.keys_loaded
        self._has_begun = False
        self._libraries_loaded = 0

    def run(self) -> Generator[None, None, int]:
        """Load, yielding now and then; return the offset after the snapshot. Raises LoadFailed."""
        try:
            reader = SnapshotReader(self._data, self._options)
            rules = self._rules
            filler = Filler(self._databases, rules.now_ms, rules.keeps_expired, rules.replaces)
            try:
                while self._load_some(reader, filler):
                    self._note_progress(reader, filler)
                    yield
                    yield from self._delay()
                self._note_progress(reader, filler)
                yield from self._delay()
                return reader.end
            finally:
                reader.close()
        except StorageError as error:
            _log.warning("%s", _refusal_of_redis(error))
            raise LoadFailed(f"the RDB cannot be loaded: {error}{self._damage()}") from error

    def _damage(self) -> str:
        """Where the snapshot is damaged, if it has checksums that say so."""
        if not self._options.checksum:
            return ""
        parts = ", ".join(f"{start} to {end}" for start, end in islice(
            part_sums.damaged_parts(self._data), MOST_NAMED))  # fmt: skip
        return f"; damaged are the bytes {parts}" if parts else ""

    def _delay(self) -> Iterator[None]:
        """Wait for each key that has been loaded since the last time."""
        keys = self._progress.keys_loaded - self._keys_delayed
        self._keys_delayed = self._progress.keys_loaded
        yield from key_delay.delay(keys, self._rules.delay_us)

    def _load_some(self, reader: SnapshotReader, filler: Filler) -> bool:
        """Load for SLICE_S; False if the end was reached."""
        lookup = self._databases[0].events.lookup
        kept = lookup.keeps_expired
        lookup.keeps_expired = True  # what has just been loaded must not expire in a lookup
        try:
            stop_s = self._monotonic_s() + key_delay.SLICE_S
            more = filler.fill(reader)
            if not self._has_begun:
                self._begin(reader)
            while more and self._monotonic_s() < stop_s:
                more = filler.fill(reader)
            return more
        finally:
            lookup.keeps_expired = kept  # others may be served before the next slice

    def _begin(self, reader: SnapshotReader) -> None:
        """Log the aux fields, which all come before the first key."""
        self._has_begun = True
        self._progress.history = history_in(reader.aux)
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

    def _note_progress(self, reader: SnapshotReader, filler: Filler) -> None:
        """Load the libraries read since the last time, and note the progress. Raises LoadFailed."""
        while len(reader.functions) > self._libraries_loaded:
            text = reader.functions[self._libraries_loaded]
            try:
                self._rules.functions.load_stored(text, self._rules.replaces)
            except ErrorReply as error:
                raise LoadFailed(f"a library of functions cannot be loaded: {error}") from error
            self._libraries_loaded += 1
        progress = self._progress
        progress.loaded_bytes = self._bytes_before + reader.position
        progress.keys_loaded = self._keys_before + filler.keys_loaded
        progress.keys_expired = self._expired_before + filler.keys_expired
        progress.log_periodically()


def _refusal_of_redis(error: StorageError) -> str:
    """What Redis logs when it refuses a snapshot: supervisors and tests look for these words."""
    if isinstance(error, BadSignature):
        return "Wrong signature trying to load DB from file"
    if isinstance(error, BadVersion):
        return f"Can't handle RDB format version {error.version}"
    if isinstance(error, Truncated | UnknownType):
        return "Short read or OOM loading DB. Unrecoverable error, aborting now."
    return f"Internal error in RDB reading: {error}"


def _number(text: bytes | None) -> int | None:
    """The number in an aux field, if it is a plausible one."""
    return int(text) if text and len(text) < 20 and text.isdigit() else None


def load_snapshot_file(
    files: Files,
    path: Path,
    databases: Sequence[Keyspace],
    progress: LoadProgress,
    rules: LoadRules,
    options: ReadOptions,
) -> Iterator[None]:
    """Load the snapshot at *path*, yielding now and then. Raises LoadFailed, also without a file.

    Bytes after the snapshot are ignored.
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
