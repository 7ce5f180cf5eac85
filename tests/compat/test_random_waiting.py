"""Blocked clients get the same answers, in the same order, from Penstock and the oracles.

PENSTOCK_COMPAT_WAITING is the number of cases for each protocol (30; a third of it without the
compiled modules, and with Redis 8.0 and 8.6). PENSTOCK_COMPAT_SEED is as in test_random.py.
"""

from __future__ import annotations

import os
import time

import pytest

from tests.compat.judge import Judge, disagreement, script_line
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, Oracles
from tests.compat.player import Answer, Player
from tests.compat.processes import ServerProcess
from tests.compat.random_waiting import random_case
from tests.compat.resp import WAITING
from tests.worth import rounds

CASES = int(os.environ.get("PENSTOCK_COMPAT_WAITING", rounds(30)))
SEED = os.environ.get("PENSTOCK_COMPAT_SEED", "1")
COMMANDS = 40  # in a case


@pytest.mark.parametrize(
    ("oracle", "protocol", "cases"),
    [
        (REDIS_7, 2, CASES),
        (REDIS_7, 3, CASES),
        (REDIS_8, 3, CASES // 3),
        (REDIS_8_6, 3, CASES // 3),
    ],
)
def test_blocked_clients_get_the_same_answers(
    oracle: str, protocol: int, cases: int, penstock: ServerProcess, oracles: Oracles
) -> None:
    redis = oracles.start(oracle)
    for number in range(cases):
        case = random_case(f"{SEED}-waiting-{number}", COMMANDS)
        played: list[list[Answer]] = []
        for server in (penstock, redis):
            with Player(server, protocol, time.time()) as player:
                played.append(player.play(case))
        _compare(f"{case.name}, {oracle}", oracle, *played)


def _compare(name: str, oracle: str, ours: list[Answer], theirs: list[Answer]) -> None:
    """Fail at the first difference, and show the commands before it."""
    judges: dict[str, Judge] = {}
    history: list[str] = []
    for our, their in zip(ours, theirs, strict=True):
        client = their.step.client
        if not client or their.reply != WAITING:
            history.append(f"    {client or '-'} {script_line(our.command)}")
        if not judges.setdefault(client, Judge(oracle, at_random=True)).agree(
            their.command, our.reply, their.reply
        ):
            shown = [*history[-30:], f"  at {client}", *disagreement(our.reply, their.reply)]
            pytest.fail("\n".join([f"seed {name}:", *shown]), pytrace=False)
