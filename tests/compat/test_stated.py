"""The scripts under ``stated/``: answers that redis-server 7.0 can't be asked for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.judge import told
from tests.compat.player import Player
from tests.compat.processes import ServerProcess
from tests.compat.resp import show
from tests.compat.script import Case, load

CASES = load(Path(__file__).parent / "stated")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_answer_is_the_stated_one(case: Case, protocol: int, penstock: ServerProcess) -> None:
    if penstock.is_7_0:
        pytest.skip("the server under test is a Redis 7.0")
    with Player(penstock, protocol, time.time()) as player:
        answers = player.play(case)
    for answer in answers:
        if expected := answer.step.expected.get(protocol):
            place = f"line {answer.step.line}: {answer.step.client} {told(answer.command)}"
            assert show(answer.reply).replace("nil[]", "nil") == expected, place
    assert any(step.expected for step in case.steps)
