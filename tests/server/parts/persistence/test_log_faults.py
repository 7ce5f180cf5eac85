"""Promised data survives whatever step of the disk fails, and whenever the power fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from server.parts.persistence.snapshot_loader import LoadFailed
from tests.server.parts.persistence.fake_files import (
    BROKEN,
    FULL,
    FakeFiles,
    Fault,
    Plan,
    PowerCut,
)
from tests.server.parts.persistence.machine import Machine
from tests.worth import COMPILED, rounds

POLICIES = ["always", "everysec", "no"]
EVERY = 3 if COMPILED else 6  # step of the disk that is tried; each policy has others


def full_run(machine: Machine) -> None:
    """What a server may do: push numbers, rewrite, switch the AOF off and on, shut down."""
    machine.start()
    machine.count(3)
    machine.tick(1.1)
    machine.tick()
    machine.count(2)
    machine.rewrite()
    machine.count(2)
    machine.tick()
    machine.count(2)
    machine.tick(1.1)
    machine.tick()
    machine.switch(on=False)
    machine.count()
    machine.switch(on=True)
    machine.count(2)
    machine.tick(1.1)
    machine.count(2)
    for _ in range(3):
        machine.tick(1.1)
    machine.count()
    machine.end()


def switching_run(machine: Machine) -> None:
    """Switch the AOF off and on during rewrites, and rewrite during a switch."""
    machine.start()
    machine.count(2)
    machine.rewrite()
    machine.count()
    machine.switch(on=False)
    machine.count()
    machine.rewrite()
    machine.switch(on=True)
    machine.count()
    machine.switch(on=False)
    machine.switch(on=True)
    machine.count(2)
    machine.tick(1.1)
    machine.count(2)
    machine.rewrite()
    machine.count()
    machine.end()


def ending_run(machine: Machine) -> None:
    """Shut down during a rewrite, while an fsync is under way."""
    machine.start()
    machine.count(2)
    machine.tick(1.1)
    machine.count(2)
    machine.rewrite()
    machine.count(2)
    machine.end()


RUNS = [full_run, switching_run, ending_run]
Run = Callable[[Machine], None]


def check_survival(machine: Machine) -> None:
    """However *machine* ends now, the next server has what was promised, and no gap.

    If only its process was killed, the next one has all that was answered.
    """
    check_start(machine, machine.files.after_kill(), max(machine.promised, machine.answered))
    for disk in machine.files.after_power_cut():
        check_start(machine, disk, machine.promised)


def check_start(machine: Machine, disk: FakeFiles, least: int) -> None:
    """A server that starts on *disk* has at least so many numbers, without a gap."""
    following = Machine(disk, appendfsync=machine.config.appendfsync)
    try:
        following.start()
    except LoadFailed:
        assert disk.has_holes  # then nothing is served, rather than a part
        return
    numbers = following.numbers()
    assert numbers == list(range(len(numbers)))
    assert least <= len(numbers) <= machine.issued


def run_with(run: Run, policy: str, plan: Plan, short_writes: bool = False) -> Machine:
    """Do a *run* on a disk that fails by *plan*. check_survival() says what must hold then."""
    machine = Machine(FakeFiles(plan), appendfsync=policy)
    machine.files.short_writes = short_writes
    try:
        run(machine)
    except (PowerCut, LoadFailed):
        pass  # LoadFailed: it could not start, and said so
    machine.files.plan = None
    return machine


def steps_of(run: Run, policy: str) -> int:
    return len(run_with(run, policy, lambda number, name: None).files.steps)


def fails_at(step: int, fault: Callable[[], Fault], times: int = 1) -> Plan:
    return lambda number, name: fault() if step <= number < step + times else None


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("run", RUNS)
def test_a_run_without_faults_promises_and_keeps_everything(run: Run, policy: str) -> None:
    machine = run_with(run, policy, lambda number, name: None)
    assert machine.promised == machine.issued > 7
    check_survival(machine)


def tried_steps(run: Run, policy: str) -> range:
    """Steps of the disk during *run*, of which one shall fail."""
    return range(1 + POLICIES.index(policy) % EVERY, steps_of(run, policy) + 1, EVERY)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("run", RUNS)
def test_promised_data_survives_a_power_cut_at_any_step(run: Run, policy: str) -> None:
    for step in tried_steps(run, policy):
        check_survival(run_with(run, policy, fails_at(step, PowerCut)))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("error", [FULL, BROKEN], ids=["full", "broken"])
@pytest.mark.parametrize("run", RUNS)
def test_promised_data_survives_if_any_step_fails_once(
    run: Run, policy: str, error: OSError
) -> None:
    for step in tried_steps(run, policy):
        check_survival(run_with(run, policy, fails_at(step, lambda: error)))


@pytest.mark.parametrize("policy", POLICIES)
def test_promised_data_survives_if_any_write_is_short(policy: str) -> None:
    for step in tried_steps(full_run, policy):
        check_survival(run_with(full_run, policy, fails_at(step, lambda: FULL), short_writes=True))


@settings(max_examples=rounds(100), deadline=None)
@example(run=full_run, policy="no", faults={45: FULL, 36: FULL}, runs=3, cut=49, short_writes=False)
@given(
    run=st.sampled_from(RUNS),
    policy=st.sampled_from(POLICIES),
    faults=st.dictionaries(st.integers(1, 100), st.sampled_from([FULL, BROKEN]), max_size=5),
    runs=st.integers(1, 4),
    cut=st.integers(1, 150),
    short_writes=st.booleans(),
)
def test_promised_data_survives_if_several_steps_fail_and_then_the_power(
    run: Run, policy: str, faults: dict[int, OSError], runs: int, cut: int, short_writes: bool
) -> None:
    def plan(number: int, name: str) -> Fault | None:
        if number == cut:
            return PowerCut()
        return next((faults[number - i] for i in range(runs) if number - i in faults), None)

    check_survival(run_with(run, policy, plan, short_writes))
