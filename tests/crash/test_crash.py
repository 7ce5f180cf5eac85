"""kill -9 at random moments under load: what was acknowledged is there after the restart.

Ten rounds here; ``make crash`` runs two hundred.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.rounds import CrashTest
from tests.crash.workload import STEPS, State, command

ROUNDS = {"always": 6, "everysec": 4}


@pytest.mark.parametrize("policy", sorted(ROUNDS))
def test_acknowledged_writes_survive_a_kill(tmp_path: Path, policy: str) -> None:
    test = CrashTest(tmp_path, policy)
    for _ in range(ROUNDS[policy]):
        test.round()
    assert test.commands > 0


def test_every_command_of_the_sequence_changes_the_state() -> None:
    state, states = State(), []
    for n in range(STEPS * 30):
        state.do(command(0, n))
        states.append(repr(state))
    assert len(set(states)) == len(states)
