"""Whatever step of the disk fails, and wherever the power does: what was promised is there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from server.persistence.snapshot_loader import LoadFailed
from tests.server.persistence.fake_files import (
    BROKEN,
    FULL,
    FakeFiles,
    Fault,
    Plan,
    PowerCut,
)
from tests.server.persistence.machine import Machine

POLICIES = ["always", "everysec", "no"]


def life(machine: Machine) -> None:
    """What a server does in its life: count, rewrite, go off and on, end."""
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


def outlives(machine: Machine) -> None:
    """Whatever ends *machine* now, the next one has what it promised, and nothing out of order."""
    for disk in (machine.files.after_kill(), *machine.files.after_power_cut()):
        following = Machine(disk, appendfsync=machine.config.appendfsync)
        try:
            following.start()
        except LoadFailed:
            assert disk.has_holes  # nothing is served then rather than half of it
            continue
        numbers = following.numbers()
        assert numbers == list(range(len(numbers)))
        assert machine.promised <= len(numbers) <= machine.issued


def live(policy: str, plan: Plan, short_writes: bool = False) -> Machine:
    """A life on a disk with that *plan*; all that follows is said by outlives()."""
    machine = Machine(FakeFiles(plan), appendfsync=policy)
    machine.files.short_writes = short_writes
    try:
        life(machine)
    except (PowerCut, LoadFailed):
        pass  # LoadFailed: it could not begin, and said so
    machine.files.plan = None
    return machine


def steps_of(policy: str) -> int:
    return len(live(policy, lambda number, name: None).files.steps)


def fails_at(step: int, fault: Callable[[], Fault], times: int = 1) -> Plan:
    return lambda number, name: fault() if step <= number < step + times else None


@pytest.mark.parametrize("policy", POLICIES)
def test_a_life_without_faults_keeps_all_there_is(policy: str) -> None:
    machine = live(policy, lambda number, name: None)
    assert machine.promised == machine.issued == 17
    outlives(machine)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_power_fails_at_any_step(policy: str) -> None:
    for step in range(1, steps_of(policy) + 1):
        outlives(live(policy, fails_at(step, PowerCut)))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("error", [FULL, BROKEN], ids=["full", "broken"])
def test_any_step_fails_once_and_the_server_goes_on(policy: str, error: OSError) -> None:
    for step in range(1, steps_of(policy) + 1):
        outlives(live(policy, fails_at(step, lambda: error)))


@pytest.mark.parametrize("policy", POLICIES)
def test_any_write_is_short_and_the_server_goes_on(policy: str) -> None:
    for step in range(1, steps_of(policy) + 1):
        outlives(live(policy, fails_at(step, lambda: FULL), short_writes=True))


@settings(max_examples=100, deadline=None)
@example(policy="no", faults={45: FULL, 36: FULL}, runs=3, cut=49, short_writes=False)
@given(
    policy=st.sampled_from(POLICIES),
    faults=st.dictionaries(st.integers(1, 100), st.sampled_from([FULL, BROKEN]), max_size=5),
    runs=st.integers(1, 4),
    cut=st.integers(1, 150),
    short_writes=st.booleans(),
)
def test_several_steps_fail_and_then_the_power(
    policy: str, faults: dict[int, OSError], runs: int, cut: int, short_writes: bool
) -> None:
    def plan(number: int, name: str) -> Fault | None:
        if number == cut:
            return PowerCut()
        return next((faults[number - i] for i in range(runs) if number - i in faults), None)

    outlives(live(policy, plan, short_writes))
