"""Each checker notices a bug that is planted in the servers."""

from __future__ import annotations

import pytest

from tests.simulation import planted, scenarios
from tests.simulation.world import run

MOST_WORLDS = 40  # until one of them notices


@pytest.mark.parametrize("bug", planted.BUGS)
def test_a_planted_bug_is_noticed(bug: str) -> None:
    scenario = getattr(scenarios, planted.SEEN_BY[bug])
    with planted.BUGS[bug]():
        outcomes = (run(seed, scenario) for seed in range(1, MOST_WORLDS))
        found = next((outcome for outcome in outcomes if outcome.problems), None)
    assert found is not None
    assert any(words in found.problems[0] for words in planted.WORDS[bug]), found.problems[0]
