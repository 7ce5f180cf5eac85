"""Runs crash rounds: ``python -m tests.crash [--rounds 200] [--end term ...] [--keeps rdb ...]``.

The end ``failover`` is a primary with replicas and Sentinels; see tests/crash/failover.py.

*rounds* is the number of rounds that end by kill -9; each other end gets a tenth as many.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.failover import FailoverTest
from tests.crash.rounds import ENDS, KEEPS, CrashTest
from tests.replication.deployment import PENSTOCK

ROUNDS_A_FOLDER = 20  # a longer log would make starts ever slower
FAILOVER = "failover"


def main(argv: list[str]) -> int:
    """Run the rounds that *argv* asks for, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--end", nargs="+", choices=[*ENDS, FAILOVER], default=[*ENDS, FAILOVER])
    parser.add_argument("--keeps", nargs="+", choices=KEEPS, default=list(KEEPS))
    wanted = parser.parse_args(argv)
    for end in wanted.end:
        if end == FAILOVER:
            run_failovers(wanted.rounds // 2)
            continue
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


def run_failovers(rounds: int) -> None:
    """Kill the primary *rounds* times. Raises AssertionError if a round loses a confirmed entry."""
    confirmed = done = 0
    longest_s = 0.0
    while done < rounds:
        with tempfile.TemporaryDirectory() as folder:
            test = FailoverTest(Path(folder), [PENSTOCK] * 3)
            some = min(ROUNDS_A_FOLDER, rounds - done)
            test.run(some)
            done += some
            confirmed += test.confirmed
            longest_s = max(longest_s, test.longest_s)
            print(
                f"\rfailover: {done}/{rounds} rounds, {confirmed} entries confirmed by WAIT,"
                f" 0 lost, at most {longest_s:.1f} s without a primary",
                end="", flush=True,
            )  # fmt: skip
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
