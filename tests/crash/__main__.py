"""Runs crash rounds: ``python -m tests.crash [--rounds 200] [--end term ...] [--keeps rdb ...]``.

*rounds* is the number of rounds that end by kill -9; each other end gets a tenth as many.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.rounds import ENDS, KEEPS, CrashTest

ROUNDS_A_FOLDER = 20  # a longer log would make starts ever slower


def main(argv: list[str]) -> int:
    """Run the rounds that *argv* asks for, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--end", nargs="+", choices=ENDS, default=list(ENDS))
    parser.add_argument("--keeps", nargs="+", choices=KEEPS, default=list(KEEPS))
    wanted = parser.parse_args(argv)
    for end in wanted.end:
        for keeps in wanted.keeps:
            if (end, keeps) == ("kill", "rdb"):
                continue  # a kill loses the writes since the last snapshot
            run(keeps, end, wanted.rounds // 2 if end == "kill" else -(-wanted.rounds // 10))
    return 0


def run(keeps: str, end: str, rounds: int) -> None:
    """Run *rounds* with this end. Raises AssertionError if one of them loses a write."""
    commands = lost = done = 0
    while done < rounds:
        with tempfile.TemporaryDirectory() as folder:
            test = CrashTest(Path(folder), keeps, end)
            for _ in range(min(ROUNDS_A_FOLDER, rounds - done)):
                test.round()
                done += 1
                print(
                    f"\r{end}, {keeps}: {done}/{rounds} rounds,"
                    f" {commands + test.commands} commands acknowledged,"
                    f" {lost + test.lost} lost",
                    end="", flush=True,
                )  # fmt: skip
            commands += test.commands
            lost += test.lost
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
