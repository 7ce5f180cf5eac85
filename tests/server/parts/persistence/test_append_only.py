"""The append-only file of a running server: rewrites, switching it on and off, shutdown, start."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from server.parts.persistence.append_only import FIRST_DELAY_S, LONGEST_DELAY_S, Mode
from server.parts.persistence.snapshot_loader import LoadFailed
from tests.server.parts.persistence.fake_files import BROKEN, FULL, FakeFiles, Fault, PowerCut
from tests.server.parts.persistence.machine import COUNT, Machine, log_files

MANIFEST = Path("appendonlydir/appendonly.aof.manifest")
UNFINISHED = Path("appendonlydir/temp-appendonly.aof.incr")


def started(files: FakeFiles | None = None, **parameters: object) -> Machine:
    machine = Machine(files or FakeFiles(), **parameters)
    machine.start()
    return machine


def off(**parameters: object) -> Machine:
    """A server without an AOF that has pushed three numbers."""
    machine = started(None, appendonly=False, **parameters)
    machine.count(3)
    return machine


def manifest(machine: Machine) -> list[str]:
    """Its lines, without the checksum."""
    lines = machine.files.get(MANIFEST).decode().splitlines()
    return [line for line in lines if not line.startswith("#crc64 ")]


def is_on(machine: Machine) -> bool:
    return machine.mode is Mode.ON


def names(machine: Machine) -> set[str]:
    return {path.name for path in log_files(machine.files)}


def after_kill(machine: Machine) -> list[int]:
    return started(machine.files.after_kill()).numbers()


MUCH = [[b"SET", b"key:%d" % n, b"x"] for n in range(30_000)]  # clients are served during the load


def fail(machine: Machine, *starts: str) -> None:
    """Let every step fail whose name begins with one of *starts*."""
    machine.files.plan = lambda number, name: FULL if name.startswith(starts) else None


def mend(machine: Machine) -> None:
    machine.files.plan = None


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    caplog.set_level(logging.INFO, "penstock")
    return lambda: caplog.text


# ---------------------------------------------------------------------- starts


def test_the_first_start_makes_a_base_and_an_increment() -> None:
    assert manifest(started()) == [
        "file appendonly.aof.1.base.rdb seq 1 type b",
        "file appendonly.aof.1.incr.aof seq 1 type i",
    ]


def test_an_existing_snapshot_becomes_the_base() -> None:
    machine = off()
    machine.run([b"SAVE"])
    following = started(machine.files.after_kill())
    following.count()
    assert after_kill(following) == [0, 1, 2, 3]


def test_later_starts_append_to_the_last_increment() -> None:
    machine = started()
    machine.count(2)
    following = started(machine.files.after_kill())
    following.count()
    assert manifest(following) == manifest(machine)
    assert after_kill(following) == [0, 1, 2]


def test_growth_is_measured_from_the_base_at_the_start_as_redis_does() -> None:
    machine = started()
    base = machine.persistence.append_only.size
    machine.count(100)
    following = started(machine.files.after_kill()).persistence.append_only
    assert following.rewritten_size == base
    assert following.size > base


def test_a_start_that_cannot_open_its_log_fails_and_names_it() -> None:
    machine = Machine(FakeFiles(lambda number, name: FULL if name.startswith("rename") else None))
    with pytest.raises(LoadFailed, match=r"/appendonlydir cannot be opened: No space left"):
        machine.start()


def test_a_base_of_commands_begins_with_the_time_if_the_log_has_times() -> None:
    machine = started(aof_use_rdb_preamble=False, aof_timestamp_enabled=True)
    machine.count()
    machine.rewrite()
    machine.tick()
    base = machine.files.get("appendonlydir/appendonly.aof.2.base.aof")
    assert base.startswith(b"#TS:1")
    assert after_kill(machine) == machine.numbers()


# ---------------------------------------------------------------------- rewrites


def test_a_rewrite_leaves_a_base_and_the_increment_begun_with_it() -> None:
    machine = started()
    machine.count(2)
    machine.rewrite()
    assert manifest(machine)[1:] == [
        "file appendonly.aof.1.incr.aof seq 1 type i",
        "file appendonly.aof.2.incr.aof seq 2 type i",
    ]
    machine.tick()
    assert is_as_rewritten(machine)
    assert after_kill(machine) == machine.numbers()


def is_as_rewritten(machine: Machine) -> bool:
    """Whether the files are those that the first rewrite leaves."""
    return manifest(machine) == [
        "file appendonly.aof.2.base.rdb seq 2 type b",
        "file appendonly.aof.2.incr.aof seq 2 type i",
    ] and names(machine) == {
        "appendonly.aof.manifest", "appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof"
    }  # fmt: skip


def test_when_a_rewrite_is_over_no_old_file_is_named_or_there() -> None:
    """As in Redis: once aof_rewrite_in_progress is 0, the folder may be copied."""
    machine = started()
    machine.rewrite()
    machine.persistence.children.poll()
    assert not machine.persistence.append_only.is_rewriting
    assert is_as_rewritten(machine)
    assert machine.files.open_files == 4  # the AOF, and three that a thread will close
    machine.thread.run()
    assert machine.files.open_files == 1


@pytest.mark.parametrize("step", ["remove appendonlydir/appendonly.aof.1.incr.aof", "create"])
def test_the_next_start_removes_what_a_killed_server_could_not(step: str) -> None:
    machine = started()
    machine.rewrite()
    removes = len(machine.files.steps)

    def plan(_number: int, name: str) -> Fault | None:
        begun = any(earlier.startswith("remove") for earlier in machine.files.steps[removes:])
        return PowerCut() if begun and name.startswith(step) else None

    machine.files.plan = plan
    with pytest.raises(PowerCut):
        machine.tick()
    following = started(machine.files.after_kill())
    assert is_as_rewritten(following)
    assert following.numbers() == machine.numbers()


def test_a_rewrite_succeeds_although_old_files_cannot_be_removed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine = started()
    machine.rewrite()
    fail(machine, "remove")
    machine.tick()
    assert "cannot remove appendonlydir/appendonly.aof.1.base.rdb: No space left" in caplog.text
    assert manifest(machine)[0] == "file appendonly.aof.2.base.rdb seq 2 type b"
    assert after_kill(machine) == machine.numbers()


@pytest.mark.parametrize(("preamble", "suffix"), [(True, "rdb"), (False, "aof")])
def test_the_base_is_a_snapshot_or_commands(preamble: bool, suffix: str) -> None:
    machine = started(aof_use_rdb_preamble=preamble)
    machine.count(2)
    machine.rewrite()
    machine.tick()
    data = machine.files.get(f"appendonlydir/appendonly.aof.2.base.{suffix}")
    assert data.startswith(b"REDIS" if preamble else b"*")
    assert after_kill(machine) == machine.numbers()


def test_a_failed_rewrite_keeps_the_data_and_leaves_no_temporary_file() -> None:
    machine = started()
    machine.count(2)
    fail(machine, "create temp-rewriteaof")
    machine.rewrite()
    mend(machine)
    machine.tick()
    figures = machine.persistence.append_only
    assert (figures.last_ok, figures.failures, figures.rewrites) == (False, 1, 1)
    assert not [path for path in machine.files.names if path.name.startswith("temp-rewriteaof")]
    assert after_kill(machine) == machine.numbers()


def test_a_successful_rewrite_resets_the_failures() -> None:
    machine = started()
    fail(machine, "create temp-rewriteaof")
    machine.rewrite()
    mend(machine)
    machine.tick()
    machine.rewrite()
    machine.tick()
    figures = machine.persistence.append_only
    assert (figures.last_ok, figures.failures, figures.rewrites) == (True, 0, 2)
    assert figures.last_cow_bytes == 4096


def test_growth_starts_a_rewrite() -> None:
    machine = started(auto_aof_rewrite_min_size=1000, auto_aof_rewrite_percentage=100)
    machine.count(40)
    machine.tick()
    assert machine.persistence.append_only.is_rewriting
    machine.tick()
    assert not machine.persistence.append_only.is_rewriting
    machine.tick()
    assert machine.persistence.append_only.rewrites == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"auto_aof_rewrite_min_size": 1 << 20, "auto_aof_rewrite_percentage": 100},
        {"auto_aof_rewrite_min_size": 1, "auto_aof_rewrite_percentage": 0},
        {"auto_aof_rewrite_min_size": 1, "auto_aof_rewrite_percentage": 100_000},
    ],
    ids=["small", "never", "little growth"],
)
def test_too_little_growth_starts_no_rewrite(parameters: dict[str, object]) -> None:
    machine = started(None, **parameters)
    machine.count(40)
    machine.tick()
    assert machine.persistence.append_only.rewrites == 0


def test_after_three_failed_rewrites_the_delay_doubles_each_time() -> None:
    machine = started(auto_aof_rewrite_min_size=1, auto_aof_rewrite_percentage=1)
    machine.count(100)
    fail(machine, "create temp-rewriteaof")
    figures = machine.persistence.append_only
    for _ in range(20):
        machine.tick()
    assert (figures.failures, figures.rewrites) == (3, 3)
    delay = FIRST_DELAY_S
    for failures in range(4, 12):
        machine.tick(delay - 1)
        assert figures.failures == failures - 1
        machine.tick(2)
        machine.tick()
        assert figures.failures == failures
        delay = min(delay * 2, LONGEST_DELAY_S)


def test_a_disk_that_fails_for_two_seconds_does_not_stop_writes_for_a_minute() -> None:
    """Once, three rewrites were tried within half a second, and the next one after a minute."""
    machine = started(appendfsync="always")
    machine.count(2)
    machine.files.plan = lambda number, name: BROKEN if name == "sync" else None
    machine.count()
    for _ in range(20):
        machine.tick(0.1)
    figures = machine.persistence.append_only
    assert figures.failures == 2
    mend(machine)
    for _ in range(20):
        machine.tick(0.1)
    assert machine.persistence.refusal is None
    machine.count()
    assert after_kill(machine) == [0, 1, 2, 3]


def test_while_the_disk_fails_a_log_that_lost_data_is_rewritten_ever_less_often() -> None:
    machine = started(appendfsync="always")
    machine.files.plan = lambda number, name: BROKEN if name == "sync" else None
    machine.count()
    figures = machine.persistence.append_only
    machine.tick()
    machine.tick()
    for delay in (1, 2, 4, 8, 16, 30, 30):
        failures = figures.failures
        machine.tick(delay - 0.5)
        assert figures.failures == failures
        machine.tick(1)
        machine.tick(0)
        assert figures.failures == failures + 1


def test_a_log_that_lost_data_is_rewritten_and_then_takes_writes_again() -> None:
    machine = started(appendfsync="always")
    machine.count(2)
    machine.files.plan = lambda number, name: BROKEN if name == "sync" else None
    machine.count()
    assert machine.persistence.refusal is not None
    mend(machine)
    machine.tick()
    assert machine.persistence.append_only.is_rewriting
    machine.tick()
    assert machine.persistence.refusal is None
    machine.count()
    assert after_kill(machine) == [0, 1, 2, 3]


def test_after_a_loss_the_next_increment_is_not_in_the_manifest_until_it_has_a_base() -> None:
    machine = started(appendfsync="always")
    machine.count(2)
    machine.files.plan = lambda number, name: BROKEN if name == "sync" else None
    machine.count()
    mend(machine)
    before = manifest(machine)
    machine.tick()
    assert machine.persistence.append_only.is_rewriting
    assert manifest(machine) == before
    machine.tick()
    assert manifest(machine)[-1] == "file appendonly.aof.2.incr.aof seq 2 type i"


# ---------------------------------------------------------------------- switching on and off


def test_a_log_that_is_switched_on_has_the_earlier_data_and_the_later() -> None:
    machine = off()
    machine.switch(on=True)
    assert machine.mode is Mode.WAITING
    machine.count(2)
    machine.tick()
    assert is_on(machine)
    machine.count()
    assert after_kill(machine) == [0, 1, 2, 3, 4, 5]


def test_nothing_is_promised_before_the_first_base_is_written() -> None:
    machine = off(appendfsync="always")
    machine.switch(on=True)
    machine.count(2)
    assert machine.log.synced_offset == 0 < machine.log.offset
    machine.tick()
    assert machine.log.synced_offset == machine.log.offset


def test_waitaof_waits_for_the_first_base() -> None:
    machine = off()
    machine.switch(on=True)
    assert machine.run([b"WAITAOF", b"1", b"0", b"0"]) == b""
    machine.tick()
    assert machine.serve_waitaof() == b"*2\r\n:1\r\n:0\r\n"


def test_a_rewrite_that_began_before_the_switch_does_not_become_the_base() -> None:
    """It lacks what was written between its fork and the switch."""
    machine = off()
    machine.run([b"BGREWRITEAOF"])
    machine.count(2)
    machine.switch(on=True)
    machine.count(2)
    for _ in range(3):
        machine.tick()
    assert machine.mode is Mode.ON
    assert after_kill(machine) == [0, 1, 2, 3, 4, 5, 6]


def test_the_first_base_is_written_after_a_running_bgsave() -> None:
    machine = off()
    machine.run([b"BGSAVE"])
    machine.switch(on=True)
    machine.count(2)
    append_only = machine.persistence.append_only
    assert append_only.scheduled and not append_only.is_rewriting
    machine.tick()
    assert append_only.is_rewriting and not append_only.scheduled
    machine.tick()
    assert after_kill(machine) == [0, 1, 2, 3, 4]


def test_a_log_that_a_transaction_switches_on_has_its_changes_once() -> None:
    """A base that is begun during the transaction has what the AOF gets after it."""
    machine = started()
    machine.run(
        [b"MULTI"], [b"RPUSH", COUNT, b"0"],
        [b"CONFIG", b"SET", b"appendonly", b"no"], [b"CONFIG", b"SET", b"appendonly", b"yes"],
        [b"RPUSH", COUNT, b"1"], [b"EXEC"],
    )  # fmt: skip
    append_only = machine.persistence.append_only
    assert append_only.scheduled and not append_only.is_rewriting
    for _ in range(2):
        machine.tick()
    assert is_on(machine)
    assert after_kill(machine) == machine.numbers() == [0, 1]


def test_a_first_base_that_fails_is_tried_again() -> None:
    machine = off()
    fail(machine, "rename temp-rewriteaof")
    machine.switch(on=True)
    machine.count()
    machine.tick()
    assert machine.mode is Mode.WAITING
    mend(machine)
    for _ in range(3):
        machine.tick()
    assert is_on(machine)
    assert after_kill(machine) == [0, 1, 2, 3]


@pytest.mark.parametrize("step", ["make_directory", "open"])
def test_a_log_that_cannot_be_switched_on_is_an_error_and_stays_off(step: str) -> None:
    machine = off()
    fail(machine, step)
    assert b"Unable to turn on AOF" in machine.switch(on=True)
    assert machine.mode is Mode.OFF
    assert machine.config.appendonly is False
    mend(machine)
    machine.count()
    assert machine.switch(on=True) == b"+OK\r\n"


def test_who_waits_for_an_fsync_hears_that_the_log_is_switched_off() -> None:
    machine = started()
    told: list[bool] = []

    class Waiting:
        def log_synced(self) -> None:
            told.append(True)

    machine.log.listener = Waiting()
    machine.switch(on=False)
    assert told == [True]


def test_a_log_that_is_switched_off_and_on_again_begins_anew() -> None:
    machine = started()
    machine.count(2)
    machine.switch(on=False)
    machine.count(2)
    machine.switch(on=True)
    machine.tick()
    machine.count()
    assert after_kill(machine) == [0, 1, 2, 3, 4]
    machine.tick()
    machine.tick()
    assert names(machine) == {
        "appendonly.aof.manifest", "appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof"
    }  # fmt: skip


def test_a_log_that_is_switched_off_and_on_while_it_is_loaded_goes_on_behind_the_load() -> None:
    """A base that is begun then has a part of the data, and what is read would be logged again."""
    machine = started()
    machine.run(*MUCH)
    machine.count(3)
    machine = Machine(machine.files.after_kill())
    modes = set()

    def switch() -> None:
        machine.switch(on=False)
        machine.switch(on=True)
        modes.add(machine.mode)

    machine.start(amid=switch)
    assert modes == {Mode.OFF}
    assert is_on(machine)
    assert not machine.state.propagation.ops
    machine.count()
    assert after_kill(machine) == [0, 1, 2, 3]


def test_a_log_that_is_switched_on_while_a_snapshot_is_loaded_replaces_an_older_log() -> None:
    machine = started()
    machine.count(2)
    machine.switch(on=False)
    machine.run(*MUCH)
    machine.count(2)
    machine.run([b"SAVE"])
    machine = Machine(machine.files.after_kill(), appendonly=False)
    machine.start(amid=lambda: machine.switch(on=True))
    assert machine.mode is Mode.WAITING
    machine.tick()
    machine.count()
    assert is_on(machine)
    assert after_kill(machine) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("step", ["write", "sync", "close"])
def test_a_log_can_be_switched_off_while_the_disk_fails(step: str) -> None:
    machine = started()
    fail(machine, step)
    machine.count()
    assert machine.switch(on=False) == b"+OK\r\n"
    assert machine.mode is Mode.OFF
    assert machine.files.open_files == 0


def test_switching_off_kills_the_child_of_a_rewrite_which_is_no_failure(
    log: Callable[[], str],
) -> None:
    machine = started()
    machine.rewrite()
    machine.switch(on=False)
    assert machine.persistence.children.child is None
    assert machine.persistence.append_only.failures == 0
    assert "Killing running AOF rewrite child" in log()


# ---------------------------------------------------------------------- shutdown


def test_shutdown_writes_and_syncs_everything() -> None:
    machine = started()
    machine.count(2)
    assert machine.persistence.close()
    disk = next(machine.files.after_power_cut())
    assert started(disk).numbers() == [0, 1]


@pytest.mark.parametrize("step", ["write", "sync"])
def test_a_shutdown_that_would_lose_data_is_refused_unless_forced(step: str) -> None:
    machine = started()
    fail(machine, step)
    machine.count()
    assert not machine.persistence.close()
    assert machine.mode is Mode.ON
    assert machine.persistence.close(force=True)


def test_shutdown_before_the_first_base_is_written_is_refused_unless_forced(
    log: Callable[[], str],
) -> None:
    machine = off()
    machine.switch(on=True)
    assert not machine.persistence.close()
    assert "Writing initial AOF, can't exit" in log()
    assert machine.mode is Mode.WAITING
    assert machine.persistence.close(force=True)
