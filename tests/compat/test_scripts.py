"""The scripts under ``scripts/``: Penstock and redis-server answer every line alike."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.judge import Judge, disagreement, told
from tests.compat.player import Answer, Player
from tests.compat.processes import ServerProcess
from tests.compat.script import Case, load

CASES = load(Path(__file__).parent / "scripts")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_both_servers_answer_alike(
    case: Case, protocol: int, penstock: ServerProcess, redis: ServerProcess
) -> None:
    now = time.time()
    with Player(redis, protocol, now) as player:
        theirs = player.play(case)
    with Player(penstock, protocol, now) as player:
        ours = player.play(case)
    different = compare(ours, theirs)
    assert not different, "\n" + "\n".join(different)


def compare(ours: list[Answer], theirs: list[Answer]) -> list[str]:
    """What differs, as lines to read."""
    judges: dict[str, Judge] = {}
    lines: list[str] = []
    for our, their in zip(ours, theirs, strict=True):
        judge = judges.setdefault(their.step.client, Judge())
        if not judge.agree(their.command, our.reply, their.reply):
            lines.append(f"line {their.step.line}: {their.step.client} {told(our.command)}")
            lines.extend(disagreement(our.reply, their.reply))
    return lines
