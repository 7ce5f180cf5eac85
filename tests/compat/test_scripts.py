"""Penstock and the oracles answer every line of the scripts in ``scripts/`` alike."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.differences import NOT_ASKED
from tests.compat.judge import Judge, disagreement, script_line
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, VALKEY_9, Oracles
from tests.compat.player import Answer, Player
from tests.compat.processes import ServerProcess, bulk
from tests.compat.script import Case, load
from tests.worth import COMPILED

CASES = load(Path(__file__).parent / "scripts")
ON_OTHER_SOCKETS = CASES[::3]  # they are a few functions: a third of the cases tries each of them
ASKED = [
    (REDIS_7, 2),
    (REDIS_7, 3),
    (REDIS_8, 3),
    (REDIS_8_6, 3),
    (VALKEY_9, 2),
]  # (oracle, protocol)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize(("oracle", "protocol"), ASKED)
def test_penstock_answers_a_case_like_the_oracle(
    case: Case, oracle: str, protocol: int, penstock: ServerProcess, oracles: Oracles
) -> None:
    check(case, oracle, protocol, penstock, oracles)


@pytest.mark.skipif(not COMPILED, reason="asyncio's sockets are not compiled in either case")
@pytest.mark.parametrize("case", ON_OTHER_SOCKETS, ids=[case.name for case in ON_OTHER_SOCKETS])
def test_no_answer_depends_on_what_serves_the_sockets(
    case: Case, penstock_on_loop: tuple[ServerProcess, int], oracles: Oracles
) -> None:
    server, protocol = penstock_on_loop
    check(case, REDIS_7, protocol, server, oracles)


def test_the_loop_does_serve_the_sockets(penstock_on_loop: tuple[ServerProcess, int]) -> None:
    server, _ = penstock_on_loop
    assert b"multiplexing_api:epoll" not in bulk(server.control.call(b"INFO", b"server"))


def check(
    case: Case, oracle: str, protocol: int, penstock: ServerProcess, oracles: Oracles
) -> None:
    """Play *case* to both."""
    if reason := NOT_ASKED[oracle].get(case.name):
        pytest.skip(f"{oracle}: {reason}")
    redis = oracles.start(oracle)
    now = time.time()
    with Player(redis, protocol, now) as player:
        theirs = player.play(case)
    with Player(penstock, protocol, now) as player:
        ours = player.play(case)
    different = compare(ours, theirs, oracle)
    assert not different, "\n" + "\n".join(different)


def compare(ours: list[Answer], theirs: list[Answer], oracle: str) -> list[str]:
    """The answers that differ, as lines of text."""
    judges: dict[str, Judge] = {}
    lines: list[str] = []
    for our, their in zip(ours, theirs, strict=True):
        judge = judges.setdefault(their.step.client, Judge(oracle))
        if not judge.agree(their.command, our.reply, their.reply):
            lines.append(f"line {their.step.line}: {their.step.client} {script_line(our.command)}")
            lines.extend(disagreement(our.reply, their.reply))
    return lines


def test_every_entry_of_not_asked_names_a_case() -> None:
    names = {case.name for case in CASES}
    assert all(names.issuperset(cases) for cases in NOT_ASKED.values())
