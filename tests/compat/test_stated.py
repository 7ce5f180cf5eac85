"""Penstock gives the answers that the scripts in ``stated/`` state, which Redis 7.0 does not give.

The stated answers are checked even where no newer Redis is installed. Where Redis 8.0 or 8.6 is
there, it must give them too, except those that Penstock gives ON_PURPOSE and no Redis does.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.judge import script_line
from tests.compat.oracles import REDIS_8, REDIS_8_6, Oracles
from tests.compat.player import Player
from tests.compat.processes import ServerProcess
from tests.compat.resp import show
from tests.compat.script import Case, load

CASES = load(Path(__file__).parent / "stated")
ON_PURPOSE = "on_purpose: "


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_penstock_gives_the_stated_answer(
    case: Case, protocol: int, penstock: ServerProcess
) -> None:
    if penstock.is_7_0:
        pytest.skip("the server under test is a Redis 7.0")
    check(case, protocol, penstock)


SHARED_WITH_REDIS = [case for case in CASES if not case.name.startswith(ON_PURPOSE)]


@pytest.mark.parametrize("case", SHARED_WITH_REDIS, ids=[case.name for case in SHARED_WITH_REDIS])
@pytest.mark.parametrize("oracle", [REDIS_8, REDIS_8_6])
def test_redis_8_gives_the_stated_answer(
    case: Case, oracle: str, protocol: int, oracles: Oracles
) -> None:
    check(case, protocol, oracles.start(oracle))


def check(case: Case, protocol: int, server: ServerProcess) -> None:
    """Play *case*, and check each answer that it states."""
    with Player(server, protocol, time.time()) as player:
        answers = player.play(case)
    for answer in answers:
        if expected := answer.step.expected.get(protocol):
            place = f"line {answer.step.line}: {answer.step.client} {script_line(answer.command)}"
            assert show(answer.reply).replace("nil[]", "nil") == expected, place
    assert any(step.expected for step in case.steps)
