"""SAVE, BGSAVE and the save points: when they save, what they answer, and what a failure does."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from protocol.replies import ErrorReply, Status
from server.config.parameters import Config
from server.parts.persistence import snapshots as module
from server.parts.persistence.child import ChildSlot, Purpose
from server.parts.persistence.child_job import Report
from server.parts.persistence.data_folder import DataFolder
from server.parts.persistence.files import Files
from server.parts.persistence.folder_lock import LOCK_NAME
from server.parts.persistence.snapshots import Snapshots
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.snapshot_reader import SnapshotReader

START_S = 1_700_000_000
DUMP = Path("dump.rdb")

ALREADY = "ERR Background save already in progress"
OTHER = (
    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in "
    "order to schedule a BGSAVE whenever possible."
)


class Site:
    """Snapshots and what it needs, in a working directory of its own."""

    def __init__(self) -> None:
        self.now_s = float(START_S)
        self.config = Config()
        self.events = KeyEvents()
        self.databases = [Keyspace(0, self.events), Keyspace(1, self.events)]
        self.children = ChildSlot(self.events.lookup, lambda: self.now_s)
        self.snapshots = Snapshots(
            self.config, self.databases, self.events, self.children, Files(),
            DataFolder(self.config, Files()), lambda: self.now_s,
            monotonic_s=lambda: self.now_s,
        )  # fmt: skip

    def write(self, key: bytes) -> None:
        self.databases[0].put(key, b"value")
        self.databases[0].changed(key, b"set")

    def in_background(self) -> None:
        """Save in the background, and wait for the end."""
        self.snapshots.save_in_background(schedule=False, in_transaction=False)
        self.children.poll(wait=True)

    def cron(self) -> None:
        """Do what a tick of cron does, after the child has ended."""
        self.children.poll(wait=True)
        self.snapshots.start_due()

    def rewrite_log(self) -> None:
        """Start another child, which does not end by itself."""
        self.children.start(Purpose.REWRITE, 0, idle, lambda outcome: None)

    def make_copy(self) -> None:
        """Start another child, which makes a copy for replicas and does not end by itself."""
        self.children.start(Purpose.COPY, 0, idle, lambda outcome: None)

    def break_disk(self) -> None:
        """Let every rename fail."""
        DUMP.mkdir()
        (DUMP / "full").touch()

    def mend_disk(self) -> None:
        (DUMP / "full").unlink()
        DUMP.rmdir()


def idle(_report: Report) -> None:
    while True:
        signal.pause()


def saved_files() -> list[str]:
    """The files in the folder, except for its lock."""
    return sorted(set(os.listdir()) - {LOCK_NAME})


def saved_keys() -> list[bytes]:
    return sorted(record.key for record in SnapshotReader(DUMP.read_bytes()))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.chdir(tmp_path)
    site = Site()
    yield site
    site.children.end()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines of the server log since the last call."""
    caplog.set_level(logging.INFO, "penstock")

    def lines() -> list[str]:
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    return lines


def refusal(command: Callable[[], object]) -> str:
    with pytest.raises(ErrorReply) as error:
        command()
    return str(error.value)


def bgsave(site: Site, schedule: bool = False, in_transaction: bool = False) -> Status:
    return site.snapshots.save_in_background(schedule, in_transaction)


# ---------------------------------------------------------------------- saving


def test_save_writes_all_databases(site: Site) -> None:
    site.write(b"a")
    site.databases[1].put(b"b", 5)
    site.snapshots.save()
    assert saved_keys() == [b"a", b"b"]
    assert saved_files() == ["dump.rdb"]


def test_a_background_save_has_the_data_of_the_time_when_it_began(site: Site) -> None:
    site.write(b"before")
    assert bgsave(site) == Status(b"Background saving started")
    site.write(b"after")
    site.children.poll(wait=True)
    assert saved_keys() == [b"before"]
    assert saved_files() == ["dump.rdb"]


def test_the_file_is_named_by_the_present_configuration(site: Site) -> None:
    site.config.dbfilename = "other.rdb"
    site.snapshots.save()
    assert saved_files() == ["other.rdb"]


def test_a_save_resets_the_changes_and_sets_the_time(site: Site) -> None:
    assert site.snapshots.last_save_s == START_S
    site.write(b"a")
    assert site.snapshots.changes_since_save == 1
    site.now_s += 50
    site.snapshots.save()
    assert site.snapshots.changes_since_save == 0
    assert site.snapshots.last_save_s == START_S + 50
    assert site.events.changes == 1  # the total is never reset


def test_changes_during_a_background_save_are_not_counted_as_saved(site: Site) -> None:
    site.write(b"a")
    bgsave(site)
    site.write(b"b")
    assert site.snapshots.changes_since_save == 2
    site.now_s += 3
    site.children.poll(wait=True)
    assert site.snapshots.changes_since_save == 1
    assert site.snapshots.last_save_s == START_S + 3


def test_changes_that_a_later_save_has_saved_stay_saved_when_a_background_save_ends(
    site: Site,
) -> None:
    site.write(b"a")
    bgsave(site)
    site.write(b"b")
    assert site.snapshots.save_in_foreground()  # as DEBUG RELOAD does
    site.children.poll(wait=True)
    assert site.snapshots.changes_since_save == 0


def test_loaded_data_counts_as_saved(site: Site) -> None:
    site.write(b"a")
    site.snapshots.forget_changes()
    assert site.snapshots.changes_since_save == 0


# ---------------------------------------------------------------------- one child


def test_other_saves_are_refused_during_a_background_save(site: Site) -> None:
    bgsave(site)
    assert refusal(site.snapshots.save) == ALREADY
    assert refusal(lambda: bgsave(site)) == ALREADY
    assert refusal(lambda: bgsave(site, schedule=True)) == ALREADY


def test_a_background_save_is_refused_during_a_rewrite_of_the_log(site: Site) -> None:
    site.rewrite_log()
    assert refusal(lambda: bgsave(site)) == OTHER
    assert not site.snapshots.scheduled


def test_a_copy_for_replicas_is_a_background_save_in_progress(site: Site) -> None:
    """As in Redis, where both are a child that writes an RDB."""
    site.make_copy()
    site.now_s += 2
    assert site.snapshots.in_progress
    assert site.snapshots.running_s == 2
    assert refusal(site.snapshots.save) == ALREADY
    assert refusal(lambda: bgsave(site)) == ALREADY
    assert refusal(lambda: bgsave(site, schedule=True)) == ALREADY
    site.children.kill()
    site.cron()
    assert not site.snapshots.in_progress
    assert site.snapshots.last_duration_s == 2


def test_neither_flushall_nor_the_end_of_the_server_ends_a_copy_as_a_save(site: Site) -> None:
    site.make_copy()
    site.snapshots.all_flushed()
    assert site.snapshots.close(save=False, nosave=True)
    assert site.children.runs(Purpose.COPY)


def test_save_works_during_a_rewrite_of_the_log(site: Site) -> None:
    site.rewrite_log()
    site.snapshots.save()
    assert DUMP.exists()


def test_a_scheduled_save_begins_when_the_other_child_has_ended(site: Site) -> None:
    site.rewrite_log()
    assert bgsave(site, schedule=True) == Status(b"Background saving scheduled")
    site.snapshots.start_due()
    assert not site.snapshots.in_progress
    site.children.kill()
    site.cron()
    assert site.snapshots.in_progress
    assert not site.snapshots.scheduled


def test_a_background_save_in_a_transaction_begins_after_its_end(site: Site) -> None:
    assert bgsave(site, in_transaction=True) == Status(b"Background saving scheduled")
    site.cron()
    assert site.snapshots.in_progress


def test_figures_of_a_background_save(site: Site) -> None:
    snapshots = site.snapshots
    assert (snapshots.saves, snapshots.last_duration_s, snapshots.running_s) == (0, -1, -1)
    site.write(b"a")
    bgsave(site)
    site.now_s += 2
    assert snapshots.in_progress and snapshots.running_s == 2
    assert site.children.child is not None and site.children.child.total == 1
    site.children.poll(wait=True)
    assert (snapshots.saves, snapshots.last_duration_s, snapshots.running_s) == (1, 2, -1)
    assert not snapshots.in_progress and snapshots.last_cow_bytes > 0


# ---------------------------------------------------------------------- save points


def test_a_save_point_needs_its_changes_and_more_than_its_seconds(site: Site) -> None:
    site.config.save = [(100, 2)]
    site.write(b"a")
    site.now_s += 1000
    site.cron()
    assert site.snapshots.saves == 0  # one change
    site.snapshots.save()
    site.write(b"b")
    site.write(b"c")
    site.now_s += 100
    site.cron()
    assert not site.snapshots.in_progress  # not more than the seconds
    site.now_s += 1
    site.cron()
    assert site.snapshots.in_progress


def test_any_save_point_is_enough(site: Site, log: Callable[[], list[str]]) -> None:
    site.config.save = [(3600, 1), (60, 3)]
    for key in (b"a", b"b", b"c"):
        site.write(key)
    site.now_s += 61
    site.cron()
    assert log()[0] == "3 changes in 60 seconds. Saving..."


def test_without_save_points_cron_saves_nothing(site: Site) -> None:
    site.config.save = []
    site.write(b"a")
    site.now_s += 10**6
    site.cron()
    assert site.snapshots.saves == 0


def test_a_save_point_that_failed_is_tried_again_after_more_than_five_seconds(site: Site) -> None:
    site.config.save = [(1, 1)]
    site.write(b"a")
    site.break_disk()
    site.now_s += 2
    site.cron()
    site.cron()
    assert (site.snapshots.saves, site.snapshots.last_ok) == (1, False)
    site.now_s += 5
    site.cron()
    assert site.snapshots.saves == 1
    site.mend_disk()
    site.now_s += 1
    site.cron()
    site.cron()
    assert (site.snapshots.saves, site.snapshots.last_ok) == (2, True)
    assert saved_keys() == [b"a"]


def test_after_a_failure_a_scheduled_save_waits_as_long(site: Site) -> None:
    site.break_disk()
    site.in_background()
    bgsave(site, in_transaction=True)
    site.cron()
    assert site.snapshots.scheduled and not site.snapshots.in_progress
    site.now_s += 6
    site.cron()
    assert site.snapshots.in_progress


# ---------------------------------------------------------------------- failures


def test_a_failed_background_save_keeps_the_changes_and_is_logged(
    site: Site, log: Callable[[], list[str]], tmp_path: Path
) -> None:
    site.write(b"a")
    site.break_disk()
    bgsave(site)
    assert site.children.child is not None
    pid = site.children.child.pid
    site.children.poll(wait=True)
    assert not site.snapshots.last_ok
    assert site.snapshots.changes_since_save == 1
    assert site.snapshots.last_save_s == START_S
    assert log() == [
        f"Background saving started by pid {pid}",
        f"Error moving temp DB file temp-{pid}.rdb on the final destination dump.rdb "
        f"(in server root dir {tmp_path}): Is a directory",
        "Background saving error",
    ]
    assert saved_files() == ["dump.rdb"]


def test_a_failed_save_is_answered_logged_and_keeps_the_changes(
    site: Site, log: Callable[[], list[str]]
) -> None:
    site.write(b"a")
    site.break_disk()
    assert refusal(site.snapshots.save) == "ERR"
    assert site.snapshots.changes_since_save == 1
    (line,) = log()
    assert line.startswith(f"Error moving temp DB file temp-{os.getpid()}.rdb ")


def test_writes_are_refused_after_a_failed_background_save_until_one_succeeds(site: Site) -> None:
    site.break_disk()
    assert not site.snapshots.refuses_writes
    site.in_background()
    assert site.snapshots.refuses_writes
    site.mend_disk()
    site.snapshots.save()
    assert not site.snapshots.refuses_writes


def test_writes_are_not_refused_without_save_points_or_stop_writes_on_bgsave_error(
    site: Site,
) -> None:
    site.break_disk()
    site.in_background()
    site.config.stop_writes_on_bgsave_error = False
    assert not site.snapshots.refuses_writes
    site.config.stop_writes_on_bgsave_error = True
    site.config.save = []
    assert not site.snapshots.refuses_writes


def test_a_child_that_is_killed_is_a_failed_save(
    site: Site, log: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "save_snapshot", leave_a_torn_file)
    bgsave(site)
    site.children.poll(wait=True)
    assert not site.snapshots.last_ok
    assert log()[-1] == "Background saving terminated by signal 9"
    assert saved_files() == []


def leave_a_torn_file(*_given: object) -> None:
    Path(f"temp-{os.getpid()}.rdb").write_bytes(b"REDIS")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_fork_that_fails_is_a_failed_save(
    site: Site, log: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(os, "fork", refuse)
    assert refusal(lambda: bgsave(site)) == "ERR"
    assert log() == ["Can't save in background: fork: Cannot allocate memory"]
    assert site.snapshots.refuses_writes


# ---------------------------------------------------------------------- FLUSHALL and shutdown


def save_forever(*_given: object) -> None:
    Path(f"temp-{os.getpid()}.rdb").write_bytes(b"REDIS")
    idle(lambda done: None)


def test_flushall_kills_a_background_save_and_saves_empty_data_if_there_are_save_points(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.write(b"a")
    site.snapshots.save()
    with monkeypatch.context() as patch:
        patch.setattr(module, "save_snapshot", save_forever)
        bgsave(site)
    site.databases[0].clear()
    site.snapshots.all_flushed()
    assert saved_keys() == []
    assert saved_files() == ["dump.rdb"]
    assert site.snapshots.last_ok and not site.snapshots.in_progress


def test_flushall_leaves_the_file_alone_without_save_points(site: Site) -> None:
    site.config.save = []
    site.write(b"a")
    site.snapshots.save()
    site.databases[0].clear()
    site.snapshots.all_flushed()
    assert saved_keys() == [b"a"]


def test_shutdown_kills_a_background_save_and_removes_its_file(
    site: Site, log: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "save_snapshot", save_forever)
    bgsave(site)
    assert site.snapshots.close(save=False, nosave=True)
    assert saved_files() == []
    assert log()[1:] == [
        "There is a child saving an .rdb. Killing it!",
        "Background saving terminated by signal 10",
    ]
    assert site.snapshots.last_ok  # no failure


@pytest.mark.parametrize(
    ("points", "save", "nosave", "saves"),
    [
        ([(60, 1)], False, False, True),
        ([(60, 1)], False, True, False),
        ([], False, False, False),
        ([], True, False, True),
    ],
)
def test_shutdown_saves_if_there_are_save_points_or_if_asked_to(
    site: Site, points: list[tuple[int, int]], save: bool, nosave: bool, saves: bool
) -> None:
    site.config.save = points
    assert site.snapshots.close(save, nosave)
    assert DUMP.exists() is saves


def test_a_failed_save_at_shutdown_is_reported(site: Site, log: Callable[[], list[str]]) -> None:
    site.break_disk()
    assert not site.snapshots.close(save=False, nosave=False)
    assert log()[0] == "Saving the final RDB snapshot before exiting."
