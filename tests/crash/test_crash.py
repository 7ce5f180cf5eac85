"""A server that ends at a random moment under load keeps every acknowledged write.

These tests run a few rounds of each end; ``make crash`` runs hundreds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.rounds import ENDS, CrashTest
from tests.crash.workload import STEPS, State, command
from tests.worth import rounds

KILLS = [  # the end, how data is kept, how much slower an fsync is, rounds
    ("kill", "always", 0.0, 4),
    ("kill", "everysec", 0.0, 2),
    ("kill-in-rewrite", "always", 0.0, 2),
    ("kill-in-rewrite", "everysec", 0.7, 4),
    ("kill-in-rewrite", "no", 0.0, 2),
    ("kill-at-step", "everysec", 0.7, 4),
]
KEEPS = {"term": "always", "shutdown": "everysec", "restart": "always"}  # the others keep "rdb"


@pytest.mark.parametrize(("end", "keeps", "sync_s", "count"), KILLS)
def test_acknowledged_writes_survive_a_kill(
    tmp_path: Path, end: str, keeps: str, sync_s: float, count: int
) -> None:
    test = CrashTest(tmp_path, keeps, end, sync_s)
    for _ in range(rounds(count)):
        test.round()
    assert test.commands > 0


@pytest.mark.parametrize("end", [end for end in ENDS if not end.startswith("kill")])
def test_a_clean_stop_loses_no_acknowledged_write(tmp_path: Path, end: str) -> None:
    test = CrashTest(tmp_path, KEEPS.get(end, "rdb"), end)
    for _ in range(rounds(2)):
        test.round()
    assert test.commands > 0


def test_every_command_of_the_sequence_changes_the_state() -> None:
    state, states = State(), []
    for n in range(STEPS * 30):
        state.do(command(0, n))
        states.append(repr(state))
    assert len(set(states)) == len(states)
