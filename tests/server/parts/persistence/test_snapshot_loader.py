"""Loading a snapshot: what is loaded, what is refused, and the progress that is reported."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.replies import ErrorReply
from server.config.parameters import Config
from server.parts.persistence.files import Files
from server.parts.persistence.load_progress import LoadProgress
from server.parts.persistence.snapshot_file import snapshot_of
from server.parts.persistence.snapshot_loader import (
    LoadFailed,
    LoadRules,
    SnapshotLoader,
    load_snapshot_file,
    read_options,
)
from server.parts.persistence.stored_functions import FunctionStore, FunctionTexts, NoFunctions
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY, STRING
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.snapshot_writer import SnapshotWriter

NOW_MS = 1_700_000_000_000


class Clock:
    """A clock that advances by *step_s* seconds each time it is read."""

    def __init__(self, step_s: float = 0.0) -> None:
        self.now_s = 0.0
        self._step_s = step_s

    def __call__(self) -> float:
        self.now_s += self._step_s
        return self.now_s


class Target:
    """Empty databases, to load into."""

    def __init__(self, count: int = 2) -> None:
        self.databases = empty(count)
        self.clock = Clock()
        self.progress = LoadProgress(0, lambda: NOW_MS / 1000, self.clock)
        self.functions: FunctionStore = NoFunctions()

    def loader(self, data: bytes, config: Config | None = None, **rules: Any) -> SnapshotLoader:
        self.progress.total_bytes = len(data)
        options = read_options(config or Config())
        rule = LoadRules(NOW_MS, functions=self.functions, **rules)
        return SnapshotLoader(data, self.databases, self.progress, rule, options, self.clock)

    def load(self, data: bytes, config: Config | None = None, **rules: Any) -> int:
        """Load all of *data*. Returns the offset at which the snapshot ends."""
        loading = self.loader(data, config, **rules).run()
        while True:
            try:
                next(loading)
            except StopIteration as end:
                return int(end.value)

    def keys(self) -> list[bytes]:
        return [key for db in self.databases for key in sorted(db.keys())]


def empty(count: int) -> list[Keyspace]:
    events = KeyEvents()
    events.clock.now_ms = NOW_MS
    return [Keyspace(index, events) for index in range(count)]


def snapshot(keys: dict[bytes, int] | None = None, aux: dict[bytes, bytes] | None = None) -> bytes:
    """A snapshot of *keys*, each with its expiry, in database 0."""
    databases = empty(1)
    for key, expiry in (keys or {}).items():
        databases[0].add(key, b"v")
        if expiry != NO_EXPIRY:
            databases[0].expire_at(key, expiry)
    databases[0].events.clock.now_ms = 0
    return b"".join(SnapshotWriter(databases, aux or {}))


@pytest.fixture
def target() -> Target:
    return Target()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.INFO, "penstock")
    return lambda: [record.getMessage() for record in caplog.records]


# ---------------------------------------------------------------------- what is loaded


def test_keys_are_loaded_into_their_databases_with_their_expiry(target: Target) -> None:
    saved = empty(2)
    saved[0].add(b"a", b"text")
    saved[0].expire_at(b"a", NOW_MS + 1)
    saved[1].add(b"n", 42)
    target.load(b"".join(snapshot_of(saved, Config(), 0)))
    assert target.databases[0].find(b"a", ANY) == b"text"
    assert target.databases[0].expiry(b"a") == NOW_MS + 1
    assert target.databases[1].find(b"n", STRING) in (42, b"42")
    assert target.progress.keys_loaded == 2


def test_loading_counts_no_changes(target: Target) -> None:
    target.load(snapshot({b"a": NO_EXPIRY}))
    assert target.databases[0].events.changes == 0


def test_expired_keys_are_skipped_and_counted(target: Target) -> None:
    target.load(snapshot({b"gone": NOW_MS - 1, b"now": NOW_MS, b"stays": NO_EXPIRY}))
    assert target.keys() == [b"now", b"stays"]
    assert (target.progress.keys_loaded, target.progress.keys_expired) == (2, 1)
    assert target.databases[0].events.expired == 0  # nothing that would be logged


def test_expired_keys_in_the_base_of_a_log_are_kept(target: Target) -> None:
    target.load(snapshot({b"gone": NOW_MS - 1}), keeps_expired=True)
    assert len(target.databases[0]) == 1
    assert target.keys() == []  # every command finds it expired, once loading is over


def test_loading_ends_where_the_commands_behind_a_preamble_begin(target: Target) -> None:
    data = snapshot({b"a": NO_EXPIRY})
    assert target.load(data + b"*1\r\n$4\r\nPING\r\n") == len(data)


# ---------------------------------------------------------------------- what is refused


def test_a_key_that_exists_already_is_refused(target: Target) -> None:
    target.load(snapshot({b"a": NO_EXPIRY}))
    with pytest.raises(LoadFailed, match="has the key b'a' of database 0 twice"):
        target.load(snapshot({b"a": NO_EXPIRY}))


def test_an_expired_key_that_exists_already_is_refused_too(target: Target) -> None:
    target.load(snapshot({b"a": NOW_MS - 1}), keeps_expired=True)
    with pytest.raises(LoadFailed, match="twice"):
        target.load(snapshot({b"a": NO_EXPIRY}), keeps_expired=True)


def test_loading_with_replaces_replaces_keys_and_their_expiry(target: Target) -> None:
    for key in (b"a", b"b"):
        target.databases[0].add(key, b"old")
        target.databases[0].expire_at(key, NOW_MS + 5)
    target.load(snapshot({b"a": NO_EXPIRY}), replaces=True)
    assert target.databases[0].find(b"a", ANY) == b"v"
    assert target.databases[0].expiry(b"a") == NO_EXPIRY
    assert target.databases[0].find(b"b", ANY) == b"old"


def test_a_database_that_is_not_configured_is_refused() -> None:
    saved = empty(2)
    saved[1].add(b"a", b"")
    with pytest.raises(LoadFailed, match="keys in database 1, and only 1 databases"):
        Target(1).load(b"".join(SnapshotWriter(saved, {})))


@pytest.mark.parametrize("cut", [0, 5, 20, -9, -1])
def test_a_truncated_snapshot_is_refused(target: Target, cut: int) -> None:
    with pytest.raises(LoadFailed, match="the RDB cannot be loaded: "):
        target.load(snapshot({b"a": NO_EXPIRY})[:cut])


def test_a_wrong_checksum_is_refused_unless_rdbchecksum_is_no(target: Target) -> None:
    data = snapshot({b"key": NO_EXPIRY}).replace(b"key", b"kex")
    with pytest.raises(LoadFailed, match="checksum"):
        target.load(data)
    config = Config()
    config.rdbchecksum = False
    target = Target()
    target.load(data, config)
    assert target.keys() == [b"kex"]


LIBRARY = b"#!lua name=mylib\n"
WITH_LIBRARY = b"REDIS0010" + b"\xf5" + bytes([len(LIBRARY)]) + LIBRARY + b"\xff" + bytes(8)


def test_libraries_of_functions_are_handed_on() -> None:
    target, texts = Target(1), FunctionTexts()
    target.functions = texts
    target.load(WITH_LIBRARY)
    assert texts.library_sources == [LIBRARY]


def test_a_library_that_cannot_be_loaded_ends_the_load() -> None:
    class Refuses(NoFunctions):
        def load_stored(self, _source: bytes, _replaces: bool) -> None:
            raise ErrorReply("ERR", "no functions")

    target = Target(1)
    target.functions = Refuses()
    with pytest.raises(LoadFailed, match="ERR no functions"):
        target.load(WITH_LIBRARY)


def test_after_a_failure_keys_expire_again(target: Target) -> None:
    with pytest.raises(LoadFailed):
        target.load(b"REDIS0010")
    assert not target.databases[0].events.lookup.keeps_expired


# ---------------------------------------------------------------------- files


def load_file(target: Target, path: Path) -> None:
    for _ in load_snapshot_file(
        Files(), path, target.databases, target.progress, LoadRules(NOW_MS), read_options(Config())
    ):
        pass


def test_loading_a_file_is_logged_in_the_words_of_redis(
    target: Target, tmp_path: Path, log: Callable[[], list[str]]
) -> None:
    aux = {b"redis-ver": b"7.0.15", b"ctime": b"1699999990", b"used-mem": b"1048576"}
    path = tmp_path / "dump.rdb"
    path.write_bytes(snapshot({b"a": NO_EXPIRY, b"b": 1}, aux))
    load_file(target, path)
    assert log() == [
        "Loading RDB produced by version 7.0.15",
        "RDB age 10 seconds",
        "RDB memory usage when created 1.00 Mb",
        "Done loading RDB, keys loaded: 1, keys expired: 1.",
        "DB loaded from disk: 0.000 seconds",
    ]
    assert target.progress.rdb_used_memory == 1048576


def test_a_file_that_cannot_be_read_is_a_failure(target: Target, tmp_path: Path) -> None:
    with pytest.raises(LoadFailed, match="cannot be read: Is a directory"):
        load_file(target, tmp_path)
    with pytest.raises(LoadFailed, match="cannot be read: No such file or directory"):
        load_file(target, tmp_path / "dump.rdb")


def test_an_empty_file_is_a_failure(target: Target, tmp_path: Path) -> None:
    (tmp_path / "dump.rdb").touch()
    with pytest.raises(LoadFailed):
        load_file(target, tmp_path / "dump.rdb")


@pytest.mark.parametrize("cut", [1, 5, 15, -9, -1])
def test_a_truncated_file_is_a_failure(target: Target, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "dump.rdb"
    path.write_bytes(snapshot({b"a": NO_EXPIRY})[:cut])
    with pytest.raises(LoadFailed, match="the RDB cannot be loaded: "):
        load_file(target, path)


@pytest.mark.parametrize("text", [b"", b"abc", b"9" * 100, b"-5"])
def test_malformed_aux_fields_do_no_harm(target: Target, text: bytes) -> None:
    target.load(snapshot({}, {b"ctime": text, b"used-mem": text, b"redis-ver": text}))


# ---------------------------------------------------------------------- progress


def test_loading_yields_often_and_its_progress_grows(target: Target) -> None:
    target.clock._step_s = 0.01
    data = snapshot({b"%d" % n: NO_EXPIRY for n in range(60_000)})
    seen = [
        (target.progress.keys_loaded, target.progress.percent) for _ in target.loader(data).run()
    ]
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert target.progress.keys_loaded == 60_000 and target.progress.percent == 100


@pytest.mark.parametrize("keeps", [False, True])
def test_between_two_slices_expired_keys_are_as_they_were_before(
    target: Target, keeps: bool
) -> None:
    target.clock._step_s = 0.01
    lookup = target.databases[0].events.lookup
    lookup.keeps_expired = keeps
    loading = target.loader(snapshot({b"%d" % n: NO_EXPIRY for n in range(20_000)})).run()
    next(loading)
    assert lookup.keeps_expired == keeps
    loading.close()
    assert lookup.keeps_expired == keeps


def test_the_remaining_time_is_estimated_from_the_speed_so_far() -> None:
    clock = Clock()
    progress = LoadProgress(1000, lambda: 5.7, clock)
    assert (progress.started_s, progress.percent, progress.eta_s) == (5, 0, 1)
    clock.now_s = 10
    progress.loaded_bytes = 249
    assert progress.eta_s == 30
    assert progress.percent == 24.9


def test_an_empty_load_is_at_100_percent() -> None:
    assert LoadProgress(0).percent == 100


def test_progress_is_logged_once_a_second(log: Callable[[], list[str]]) -> None:
    clock = Clock()
    progress = LoadProgress(1000, lambda: 0, clock)
    for now_s in (0.5, 0.9, 2.0, 2.5, 3.0):
        clock.now_s = now_s
        progress.loaded_bytes += 100
        progress.log_periodically()
    assert log() == [
        "Loading: 30.0% of 1000 bytes, about 4 seconds left",
        "Loading: 50.0% of 1000 bytes, about 2 seconds left",
    ]
