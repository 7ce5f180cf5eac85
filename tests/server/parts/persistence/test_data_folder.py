"""The data folder: one server locks it, temporary files are removed, and writing is checked."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from server.config.parameters import Config
from server.parts.persistence.child import ChildSlot, Purpose
from server.parts.persistence.child_job import Report
from server.parts.persistence.data_folder import DataFolder
from server.parts.persistence.files import Files
from server.parts.persistence.folder_lock import LOCK_NAME, FolderInUse, FolderLock
from storage.keyspace.settings import Lookup


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.chdir(tmp_path)
    return Config()


def folder_of(config: Config, files: Files | None = None) -> DataFolder:
    return DataFolder(config, files or Files())


class Failing(Files):
    """Files on which *step* fails with the errno *number*."""

    def __init__(self, step: str, number: int) -> None:
        self._step = step
        self._error = OSError(number, os.strerror(number))

    def _fail(self, step: str) -> None:
        if step == self._step:
            raise self._error

    def lock(self, path: Path) -> int:
        self._fail("lock")
        return super().lock(path)

    def create(self, path: Path) -> int:
        self._fail("create")
        return super().create(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._fail("write")
        return super().write(fd, data)

    def listing(self, path: Path) -> list[str]:
        self._fail("listing")
        return super().listing(path)


# ---------------------------------------------------------------------- the lock


def test_a_second_server_on_the_folder_is_refused(config: Config) -> None:
    first = folder_of(config)
    first.open()
    with pytest.raises(FolderInUse) as caught:
        folder_of(config).open()
    assert f"{os.getcwd()} is in use by another Penstock server, process {os.getpid()}:" in str(
        caught.value
    )


def test_a_server_may_claim_its_folder_again(config: Config) -> None:
    folder = folder_of(config)
    folder.open()
    folder.claim()
    folder.claim(Path.cwd())


def test_a_lock_file_without_an_owner_is_no_lock(config: Config) -> None:
    Path(LOCK_NAME).write_text("1 elsewhere\n")
    folder_of(config).open()
    assert Path(LOCK_NAME).read_text() == f"{os.getpid()} {os.uname().nodename}\n"


def test_servers_that_save_nothing_share_a_folder(config: Config) -> None:
    config.save = []
    one, other = folder_of(config), folder_of(config)
    one.open()
    other.open()
    assert os.listdir() == []
    one.claim()
    with pytest.raises(FolderInUse):
        other.claim()


def test_a_server_cannot_move_to_the_folder_of_another_and_keeps_its_own(config: Config) -> None:
    Path("a").mkdir()
    Path("b").mkdir()
    one, other = folder_of(config), folder_of(config)
    one.claim(Path("a"))
    other.claim(Path("b"))
    with pytest.raises(FolderInUse):
        one.claim_next(Path("b"))
    with pytest.raises(FolderInUse):
        other.claim_next(Path("a"))


def test_a_server_that_saves_nothing_may_move_to_the_folder_of_another(config: Config) -> None:
    config.save = []
    Path("a").mkdir()
    one, other = folder_of(config), folder_of(config)
    one.claim(Path("a"))
    other.claim_next(Path("a"))


@pytest.mark.parametrize("text", [b"", b"nonsense\n", b"1 a\r\nb\n", b"1" * 500, b"\xff\n"])
def test_malformed_contents_of_the_lock_file_are_not_shown(config: Config, text: bytes) -> None:
    folder_of(config).open()
    Path(LOCK_NAME).write_bytes(text)
    with pytest.raises(FolderInUse, match="by another Penstock server: stop that one"):
        folder_of(config).open()


def test_a_server_in_another_container_is_named_with_its_host(config: Config) -> None:
    folder_of_first = folder_of(config)
    folder_of_first.open()
    Path(LOCK_NAME).write_bytes(b"1 3f2a\n")
    with pytest.raises(FolderInUse, match="process 1 on 3f2a:"):
        folder_of(config).open()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS])
def test_a_file_system_without_locks_is_a_warning(
    config: Config, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    Path("temp-1.rdb").touch()
    folder_of(config, Failing("lock", number)).open()
    assert f"Can't lock the folder {os.getcwd()}" in caplog.text
    assert Path("temp-1.rdb").exists()  # it may be another server's


def test_a_missing_or_read_only_folder_needs_no_lock_and_no_warning(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    folder_of(config).claim(Path("none"))
    folder_of(config, Failing("lock", errno.EROFS)).claim()
    assert caplog.text == ""


def test_a_lock_file_that_belongs_to_another_user_can_be_locked(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(LOCK_NAME).touch()
    real_open = os.open

    def open_for_reading_only(path: Path, flags: int, *mode: int) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real_open(path, flags, *mode)

    monkeypatch.setattr("server.parts.persistence.files.os.open", open_for_reading_only)
    lock = FolderLock(Files())
    assert lock.take(Path())
    with pytest.raises(FolderInUse):
        FolderLock(Files()).take(Path())


def test_nothing_is_written_through_a_link_in_place_of_the_lock(config: Config) -> None:
    Path("precious").write_text("mine")
    Path(LOCK_NAME).symlink_to("precious")
    folder_of(config).open()
    assert Path("precious").read_text() == "mine"


def test_the_child_of_a_server_that_was_killed_does_not_keep_the_lock(config: Config) -> None:
    lock, slot = FolderLock(Files()), ChildSlot(Lookup())
    lock.take(Path())

    def job(report: Report) -> None:
        report(1)
        report.tell()  # type: ignore[attr-defined]
        signal.pause()

    child = slot.start(Purpose.SAVE, 1, job, lambda _outcome: None)
    while not child.done:
        slot.poll()
    for fd in lock._held.values():
        os.close(fd)  # as the end of the server does
    assert FolderLock(Files()).take(Path())
    slot.end()


# ---------------------------------------------------------------------- temporary files


def test_temporary_files_of_a_killed_server_are_removed(config: Config) -> None:
    Path("appendonlydir").mkdir()
    gone = [
        "temp-12.rdb", "temp-rewriteaof-bg-3.aof", "temp-rewriteaof-3.aof",
        "appendonlydir/temp-appendonly.aof.incr", "appendonlydir/temp-appendonly.aof.manifest",
    ]  # fmt: skip
    kept = [
        "dump.rdb", "temp-.rdb", "temp-x.rdb", "temp-1.rdb.bak", "temp.rdb", "mytemp-1.rdb",
        "temp-rewriteaof-bg-3.aof.gz", "appendonlydir/temp-1.rdb",
        "appendonlydir/temp-other.aof.incr", "appendonlydir/appendonly.aof.1.incr.aof",
    ]  # fmt: skip
    for name in gone + kept:
        Path(name).touch()
    folder_of(config).open()
    assert [name for name in gone if Path(name).exists()] == []
    assert [name for name in kept if not Path(name).exists()] == []


def test_no_temporary_file_is_removed_while_another_server_has_the_folder(config: Config) -> None:
    first = folder_of(config)
    first.open()
    Path("temp-12.rdb").touch()
    with pytest.raises(FolderInUse):
        folder_of(config).open()
    assert Path("temp-12.rdb").exists()


def test_a_folder_with_the_name_of_a_temporary_file_is_left_with_a_warning(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    Path("temp-12.rdb").mkdir()
    folder_of(config).open()
    assert Path("temp-12.rdb").is_dir()
    assert "Can't remove the temporary file temp-12.rdb" in caplog.text


def test_a_folder_that_cannot_be_listed_is_a_warning(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    folder_of(config, Failing("listing", errno.EACCES)).open()
    assert "Can't look for temporary files" in caplog.text


# ---------------------------------------------------------------------- the write check


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_folder_that_cannot_be_written_is_refused(config: Config, number: int) -> None:
    with pytest.raises(OSError, match="Can't write in") as caught:
        folder_of(config, Failing("create", number)).open()
    text = str(caught.value)
    assert text.startswith(f"Can't write in {os.getcwd()}, ")
    assert f"as user {os.geteuid()} (group {os.getegid()}): {os.strerror(number)}." in text
    assert "'dir'" in text
    assert '--save ""' in text


def test_a_server_that_saves_nothing_may_have_a_read_only_folder(config: Config) -> None:
    config.save = []
    folder_of(config, Failing("create", errno.EROFS)).open()


def test_the_write_check_leaves_no_file(config: Config) -> None:
    config.appendonly = True
    Path("appendonlydir").mkdir()
    folder_of(config).open()
    assert os.listdir() in (["appendonlydir", LOCK_NAME], [LOCK_NAME, "appendonlydir"])
    assert os.listdir("appendonlydir") == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_only_a_warning(
    config: Config, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    folder_of(config, Failing("write", number)).open()
    assert f"The disk of {os.getcwd()} is full" in caplog.text
    assert os.listdir() == [LOCK_NAME]


def test_a_directory_with_the_name_of_the_snapshot_is_refused(config: Config) -> None:
    Path("dump.rdb").mkdir()
    with pytest.raises(OSError, match="it is a directory") as caught:
        folder_of(config).open()
    assert f"{os.getcwd()}/dump.rdb ('dbfilename')" in str(caught.value)


def test_a_log_folder_that_is_a_file_is_refused(config: Config) -> None:
    config.appendonly = True
    Path("appendonlydir").touch()
    with pytest.raises(OSError, match="is not a directory") as caught:
        folder_of(config).open()
    assert f"{os.getcwd()}/appendonlydir ('appenddirname')" in str(caught.value)


def test_a_log_folder_that_cannot_be_written_is_refused(config: Config) -> None:
    class Sealed(Files):
        def create(self, path: Path) -> int:
            if path.parent == Path("appendonlydir"):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return super().create(path)

    config.appendonly = True
    Path("appendonlydir").mkdir()
    with pytest.raises(OSError, match=r"appendonlydir, .* Permission denied"):
        folder_of(config, Sealed()).open()
