"""The scripts under ``stated/``: answers that redis-server 7.0 can't be asked for.

They are written down so that they are checked wherever the tests run. Redis 8.0, where it is there,
must give them too: so what is written down is true. ON_PURPOSE is what no Redis answers.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.judge import told
from tests.compat.oracles import REDIS_8, Oracles
from tests.compat.player import Player
from tests.compat.processes import ServerProcess
from tests.compat.resp import show
from tests.compat.script import Case, load

CASES = load(Path(__file__).parent / "stated")
ON_PURPOSE = "on_purpose: "


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_answer_is_the_stated_one(case: Case, protocol: int, penstock: ServerProcess) -> None:
    if penstock.is_7_0:
        pytest.skip("the server under test is a Redis 7.0")
    check(case, protocol, penstock)


REAL = [case for case in CASES if not case.name.startswith(ON_PURPOSE)]


@pytest.mark.parametrize("case", REAL, ids=[case.name for case in REAL])
def test_redis_8_gives_the_stated_answer(case: Case, protocol: int, oracles: Oracles) -> None:
    check(case, protocol, oracles.start(REDIS_8))


def check(case: Case, protocol: int, server: ServerProcess) -> None:
    """Play *case*, and compare each answer that it states."""
    with Player(server, protocol, time.time()) as player:
        answers = player.play(case)
    for answer in answers:
        if expected := answer.step.expected.get(protocol):
            place = f"line {answer.step.line}: {answer.step.client} {told(answer.command)}"
            assert show(answer.reply).replace("nil[]", "nil") == expected, place
    assert any(step.expected for step in case.steps)
