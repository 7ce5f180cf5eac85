"""Many worlds: one that cannot be played to its end is told, and the others are played."""

from __future__ import annotations

import os
import signal

import pytest

from tests.simulation.many import BATCH, many
from tests.simulation.world import Outcome


def _play(seed: int) -> Outcome:
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if seed == 5:
        raise RuntimeError("no such world")
    return Outcome(seed, "none", [], "", 1, 0.0, {}, [])


@pytest.mark.parametrize("processes", [1, 3])
def test_a_process_that_dies_is_the_problem_of_one_world(processes: int) -> None:
    outcomes = {one.seed: one for one in many(_play, range(1, BATCH * 2 + 9), processes)}
    assert sorted(outcomes) == list(range(1, BATCH * 2 + 9))
    found = {seed: one.problems[0] for seed, one in outcomes.items() if one.problems}
    assert sorted(found) == [3, 5]
    assert "SIGKILL" in found[3]
    assert "no such world" in found[5]
