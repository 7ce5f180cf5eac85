"""Some worlds, in which nothing may be wrong; and the same seed gives the same world."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.worth import rounds

ROOT = Path(__file__).parents[2]
WORLDS = 63  # seven of each scenario


def played(worlds: int, *, seed: int = 1) -> str:
    """What the program says of so many worlds, which must be without problems."""
    command = [sys.executable, "-m", "tests.simulation", "--worlds", str(worlds)]
    ended = subprocess.run(
        [*command, "--seed", str(seed)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-8000:] + ended.stderr[-4000:]
    return ended.stdout


def digest_in(said: str) -> str:
    return next(line for line in said.splitlines() if line.startswith("digest"))


def test_nothing_is_wrong_in_some_worlds() -> None:
    assert f"{rounds(WORLDS)} of" in played(rounds(WORLDS))


def test_the_same_seed_gives_the_same_world_and_another_seed_another() -> None:
    """A world of each scenario: every byte that was sent or written, and when."""
    first, again, other = played(9), played(9), played(2, seed=10)
    assert digest_in(first) == digest_in(again) != digest_in(other)
