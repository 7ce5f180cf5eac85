"""BACKUP: what a sealed backup has, what becomes of others, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.parts.persistence.backup import State
from tests.server.parts.persistence.fake_files import FULL, FakeFiles
from tests.server.parts.persistence.machine import Machine

FOLDER, LOG_FOLDER = Path("backupdir"), Path("appendonlydir")


def started(**parameters: object) -> Machine:
    machine = Machine(FakeFiles(), **parameters)
    machine.start()
    return machine


def backup(machine: Machine, *words: bytes) -> bytes:
    return machine.run([b"BACKUP", *words])


def state(machine: Machine) -> State:
    return machine.persistence.backup.state


def names(machine: Machine) -> set[str]:
    """The files of the backup."""
    return {path.name for path in machine.files.names if path.parent == FOLDER}


def restored(machine: Machine) -> list[int]:
    """What a server has that starts on a copy of the backup."""
    copy = FakeFiles()
    copy.put(LOG_FOLDER, b"")
    for name in names(machine):
        copy.put(LOG_FOLDER / name, machine.files.get(FOLDER / name))
    other = Machine(copy)
    other.start()
    return other.numbers()


def incrementing(machine: Machine) -> None:
    """Let a backup have its base."""
    assert backup(machine, b"START") == b"+OK\r\n"
    machine.tick()
    assert state(machine) is State.INCREMENTING


def test_a_sealed_backup_has_what_was_there_at_that_moment() -> None:
    machine = started()
    machine.count(3)
    incrementing(machine)
    machine.count(4)
    assert backup(machine, b"SEAL") == b"+OK\r\n"
    before = {name: machine.files.get(FOLDER / name) for name in names(machine)}
    machine.count(5)
    machine.tick()
    assert restored(machine) == list(range(7))
    assert {name: machine.files.get(FOLDER / name) for name in names(machine)} == before
    assert machine.numbers() == list(range(12))


def test_it_begins_with_a_base_and_is_listed_as_far_as_it_is_final() -> None:
    machine = started()
    assert backup(machine, b"LIST") == b"*0\r\n"
    incrementing(machine)
    [base] = machine.persistence.backup.paths()
    assert base == (FOLDER / "appendonly.aof.2.base.rdb").absolute()
    backup(machine, b"SEAL")
    listed = [path.name for path in machine.persistence.backup.paths()]
    assert listed == [
        "appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof", "appendonly.aof.manifest",
    ]  # fmt: skip
    assert names(machine) == set(listed)


@pytest.mark.parametrize("rewrites", [1, 2, 5])
def test_rewrites_meanwhile_take_nothing_from_it(rewrites: int) -> None:
    machine = started()
    machine.count(2)
    incrementing(machine)
    for _ in range(rewrites):
        machine.count(1)
        machine.rewrite()
        machine.tick()
        machine.tick()
    machine.count(1)
    assert backup(machine, b"SEAL") == b"+OK\r\n"
    assert restored(machine) == machine.numbers()


def test_it_takes_the_base_of_a_rewrite_that_has_begun() -> None:
    machine = started()
    machine.count(2)
    machine.rewrite()
    assert backup(machine, b"START") == b"+OK\r\n"
    assert state(machine) is State.SNAPSHOTTING
    machine.tick()
    machine.count(1)
    backup(machine, b"SEAL")
    assert restored(machine) == machine.numbers()
    assert machine.persistence.children.total_forks == 1


def test_it_waits_for_another_child() -> None:
    machine = started()
    machine.count(2)
    machine.run([b"BGSAVE"])
    backup(machine, b"START")
    assert state(machine) is State.PENDING
    for _ in range(3):
        machine.tick()
    assert state(machine) is State.INCREMENTING
    backup(machine, b"SEAL")
    assert restored(machine) == [0, 1]


def test_in_a_transaction_it_waits_for_its_end() -> None:
    machine = started()
    machine.run([b"MULTI"], [b"RPUSH", b"count", b"0"], [b"BACKUP", b"START"], [b"EXEC"])
    machine.issued = 1
    for _ in range(3):
        machine.tick()
    machine.count(1)
    backup(machine, b"SEAL")
    assert restored(machine) == [0, 1]


def test_a_failed_rewrite_fails_it_and_another_may_be_started() -> None:
    machine = started()
    machine.files.plan = lambda _, name: FULL if name.startswith("create temp-rewriteaof") else None
    backup(machine, b"START")
    machine.tick()
    assert state(machine) is State.FAILED
    machine.files.plan = None
    incrementing(machine)


def test_a_log_that_is_switched_off_fails_it() -> None:
    machine = started()
    incrementing(machine)
    machine.switch(False)
    machine.tick()
    assert state(machine) is State.FAILED
    assert names(machine) == set()
    assert b"needs the append-only file" in backup(machine, b"START")


def test_a_link_that_fails_fails_it() -> None:
    machine = started()
    machine.files.plan = lambda _, name: FULL if name.startswith("link") else None
    backup(machine, b"START")
    machine.tick()
    assert state(machine) is State.FAILED
    assert b"No space left" in backup(machine, b"STATUS")


def test_abort_removes_what_there_is() -> None:
    machine = started()
    incrementing(machine)
    assert backup(machine, b"ABORT") == b"+OK\r\n"
    assert state(machine) is State.FAILED
    assert names(machine) == set()
    assert b"aborted" in backup(machine, b"STATUS")
    assert b"no backup in progress" in backup(machine, b"ABORT")


def test_cleanup_removes_a_sealed_one_and_what_an_earlier_process_has_left() -> None:
    machine = started()
    incrementing(machine)
    assert b"BACKUP ABORT" in backup(machine, b"CLEANUP")
    backup(machine, b"SEAL")
    assert b"sealed" in backup(machine, b"START")
    assert backup(machine, b"CLEANUP") == b"+OK\r\n"
    assert names(machine) == set()
    machine.files.put(FOLDER / "left", b"")
    assert b"not empty" in backup(machine, b"START")
    backup(machine, b"CLEANUP")
    incrementing(machine)


def test_a_sealed_one_is_removed_after_its_time() -> None:
    machine = started(backup_sealed_ttl=10)
    incrementing(machine)
    backup(machine, b"SEAL")
    machine.tick()
    assert state(machine) is State.SEALED
    machine.persistence.backup.ended_s -= 10
    machine.tick()
    assert state(machine) is State.IDLE
    assert names(machine) == set()


def test_it_is_not_sealed_before_its_base_amid_a_rewrite_or_in_a_transaction() -> None:
    machine = started()
    assert b"idle" in backup(machine, b"SEAL")
    incrementing(machine)
    assert b"transaction" in machine.run([b"MULTI"], [b"BACKUP", b"SEAL"], [b"EXEC"])
    machine.rewrite()
    assert b"rewritten" in backup(machine, b"SEAL")
    machine.tick()
    assert backup(machine, b"SEAL") == b"+OK\r\n"


def test_status_tells_how_far_it_is() -> None:
    machine = started()
    assert b"$5\r\nstate\r\n$4\r\nidle\r\n" in backup(machine, b"STATUS")
    incrementing(machine)
    assert b"incrementing" in backup(machine, b"STATUS")
    assert machine.persistence.backup.in_progress
