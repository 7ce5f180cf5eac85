"""Writing a snapshot: whatever fails, the old file stays until the new one is whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.config.parameters import Config
from server.parts.persistence.child_job import Orphaned, no_report
from server.parts.persistence.files import Files
from server.parts.persistence.key_delay import slowed
from server.parts.persistence.snapshot_file import (
    SYNC_EVERY_BYTES,
    SaveFailed,
    save_snapshot,
    snapshot_of,
    temporary_path,
    write_snapshot,
)
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.snapshot_reader import SnapshotReader

DUMP = Path("dump.rdb")
OLD = b"the old snapshot"
FULL = OSError(errno.ENOSPC, "No space left on device")

STEPS = ["create", "write", "sync", "close", "rename", "sync_directory"]


class Pieces:
    """Takes the place of a snapshot of three keys, with a piece for each."""

    def __init__(self, *pieces: bytes) -> None:
        self.keys_written = 0
        self._pieces = pieces or (b"one", b"two", b"three")

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.keys_written += 1
            yield piece


class FailingFiles(Files):
    """Records each step. The step *fails* fails. A short write takes three bytes at most."""

    def __init__(self, fails: str = "") -> None:
        self.steps: list[str] = []
        self._fails = fails

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if name == self._fails:
            raise FULL

    def create(self, path: Path) -> int:
        self._step("create")
        return super().create(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._step("write")
        return super().write(fd, data[:3] if len(data) < 10 else data)

    def sync(self, fd: int) -> None:
        self._step("sync")
        super().sync(fd)

    def close(self, fd: int) -> None:
        super().close(fd)
        self._step("close")

    def rename(self, old: Path, new: Path) -> None:
        self._step("rename")
        super().rename(old, new)

    def sync_directory(self, path: Path) -> None:
        self._step("sync_directory")
        super().sync_directory(path)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with an old snapshot in it."""
    monkeypatch.chdir(tmp_path)
    DUMP.write_bytes(OLD)
    return tmp_path


def test_a_new_snapshot_takes_the_place_of_the_old_file() -> None:
    files = FailingFiles()
    save_snapshot(files, DUMP, Pieces(), no_report, incremental_sync=True)
    assert DUMP.read_bytes() == b"onetwothree"
    assert os.listdir() == ["dump.rdb"]


def test_the_file_is_synced_before_the_rename_and_the_folder_after_it() -> None:
    files = FailingFiles()
    save_snapshot(files, DUMP, Pieces(), no_report, incremental_sync=True)
    assert files.steps == [
        "create", "write", "write", "write", "write", "sync", "close", "rename", "sync_directory"
    ]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_a_failed_step_keeps_a_whole_file_and_leaves_no_temporary_one(step: str) -> None:
    with pytest.raises(SaveFailed, match="No space left on device"):
        save_snapshot(FailingFiles(step), DUMP, Pieces(), no_report, incremental_sync=True)
    renamed = step == "sync_directory"
    assert DUMP.read_bytes() == (b"onetwothree" if renamed else OLD)
    assert os.listdir() == ["dump.rdb"]


@pytest.mark.parametrize("step", STEPS)
def test_after_a_failure_the_next_save_succeeds(step: str) -> None:
    with pytest.raises(SaveFailed):
        save_snapshot(FailingFiles(step), DUMP, Pieces(), no_report, incremental_sync=True)
    save_snapshot(Files(), DUMP, Pieces(), no_report, incremental_sync=True)
    assert DUMP.read_bytes() == b"onetwothree"


def test_the_message_of_a_failure_is_that_of_redis(folder: Path) -> None:
    temporary = temporary_path(os.getpid())
    messages = {
        "create": f"Failed opening the temp RDB file {temporary} (in server root dir {folder}) "
        "for saving: No space left on device",
        "write": "Write error saving DB on disk: No space left on device",
        "rename": f"Error moving temp DB file {temporary} on the final destination dump.rdb "
        f"(in server root dir {folder}): No space left on device",
    }
    for step, message in messages.items():
        with pytest.raises(SaveFailed) as failure:
            save_snapshot(FailingFiles(step), DUMP, Pieces(), no_report, incremental_sync=True)
        assert str(failure.value) == message


def test_a_working_directory_that_was_removed_is_a_failure(folder: Path) -> None:
    DUMP.unlink()
    folder.rmdir()
    with pytest.raises(SaveFailed, match=r"root dir unknown.*No such file or directory"):
        save_snapshot(Files(), DUMP, Pieces(), no_report, incremental_sync=True)


def test_a_large_snapshot_is_synced_several_times_with_incremental_sync() -> None:
    pieces = [bytes(SYNC_EVERY_BYTES // 2)] * 5
    incremental, at_once = FailingFiles(), FailingFiles()
    write_snapshot(incremental, DUMP, Pieces(*pieces), no_report, incremental_sync=True)
    write_snapshot(at_once, DUMP, Pieces(*pieces), no_report, incremental_sync=False)
    assert incremental.steps.count("sync") == 3
    assert at_once.steps.count("sync") == 1


def test_progress_is_reported_with_each_piece() -> None:
    reports: list[int] = []
    save_snapshot(Files(), DUMP, Pieces(), reports.append, incremental_sync=True)
    assert reports == [1, 2, 3, 3]


def test_a_child_whose_parent_died_does_not_replace_the_file() -> None:
    def report(done: int) -> None:
        if done == 3:
            raise Orphaned

    with pytest.raises(Orphaned):
        save_snapshot(Files(), DUMP, Pieces(), report, incremental_sync=True)
    assert DUMP.read_bytes() == OLD
    assert os.listdir() == ["dump.rdb"]


@pytest.mark.parametrize("aof_base", [False, True])
def test_a_snapshot_has_the_aux_fields_of_redis_7_0(aof_base: bool) -> None:
    databases = [Keyspace(0, KeyEvents())]
    databases[0].add(b"k", b"v")
    snapshot = snapshot_of(databases, Config(), 1_700_000_000, aof_base)
    reader = SnapshotReader(b"".join(snapshot))
    assert [record.key for record in reader] == [b"k"]
    assert list(reader.aux) == [b"redis-ver", b"redis-bits", b"ctime", b"used-mem", b"aof-base"]
    assert reader.aux[b"ctime"] == b"1700000000"
    assert reader.aux[b"aof-base"] == (b"1" if aof_base else b"0")


def test_checksum_and_compression_follow_the_configuration() -> None:
    databases = [Keyspace(0, KeyEvents())]
    databases[0].add(b"k", b"v" * 1000)
    config = Config()
    small = b"".join(snapshot_of(databases, config, 0))
    config.rdbcompression = config.rdbchecksum = False
    large = b"".join(snapshot_of(databases, config, 0))
    assert len(small) < 500 < len(large)
    assert large.endswith(bytes(8)) and not small.endswith(bytes(8))


@pytest.mark.parametrize(
    ("delay_us", "waits"), [(1000, [0.003, 0.002, 0.0]), (-2, [1.5e-6, 1e-6, 0.0]), (0, [])]
)
def test_the_delay_after_each_key_is_slept(
    monkeypatch: pytest.MonkeyPatch, delay_us: int, waits: list[float]
) -> None:
    slept: list[float] = []
    told: list[int] = []
    monkeypatch.setattr("server.parts.persistence.key_delay.time.sleep", slept.append)
    report = slowed(told.append, delay_us)
    for keys in (3, 5, 5):
        report(keys)
    assert slept == pytest.approx(waits)
    assert told == [3, 5, 5]
