"""Runs crash rounds: ``python -m tests.crash [--rounds 200] [--end term ...] [--keeps rdb ...]``.

The end ``failover`` is a primary with replicas and Sentinels; see tests/crash/failover.py. The end
``confirmed`` is such a primary, too, which is also stopped for a while, or cut off from all but its
clients; see tests/crash/confirmed.py. A third of its rounds has FSYNC, a third client-acks in
redis.conf.

*rounds* is the number of rounds for each way to be killed by kill -9: at any moment, while a child
rewrites the AOF, and at any step of a rewrite. KILLS says how data is kept meanwhile, and on which
disk, in a quarter of them each. Each other end gets a tenth as many.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.confirmed import FAULTS, WAYS, ConfirmedTest
from tests.crash.failover import FailoverTest
from tests.crash.rounds import ENDS, KEEPS, CrashTest
from tests.replication.deployment import PENSTOCK

ROUNDS_A_FOLDER = 20  # a longer log would make starts ever slower
FAILOVER = "failover"
CONFIRMED = "confirmed"
SLOW_S = 0.7  # is what an fsync takes longer on a slow disk
ALL_ENDS = [*ENDS, FAILOVER, CONFIRMED]
KILLS = [("always", 0.0), ("everysec", 0.0), ("everysec", SLOW_S), ("no", SLOW_S)]


def main(argv: list[str]) -> int:
    """Run the rounds that *argv* asks for, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--end", nargs="+", choices=ALL_ENDS, default=ALL_ENDS)
    parser.add_argument("--keeps", nargs="+", choices=KEEPS, default=list(KEEPS))
    wanted = parser.parse_args(argv)
    for end in wanted.end:
        if end == FAILOVER:
            run_failovers(wanted.rounds // 2)
            continue
        if end == CONFIRMED:
            for way in WAYS:
                run_confirmed(-(-wanted.rounds // 6), way)
            continue
        is_kill = end.startswith("kill")
        for keeps, sync_s in KILLS if is_kill else [(keeps, 0.0) for keeps in KEEPS]:
            if keeps in wanted.keeps:
                run(keeps, end, sync_s, -(-wanted.rounds // (4 if is_kill else 10)))
    return 0


def run(keeps: str, end: str, sync_s: float, rounds: int) -> None:
    """Run *rounds* with this end. Raises AssertionError if one of them loses a write."""
    commands = done = 0
    disk = f", fsync {sync_s} s slower" if sync_s else ""
    while done < rounds:
        with tempfile.TemporaryDirectory() as folder:
            test = CrashTest(Path(folder), keeps, end, sync_s)
            for _ in range(min(ROUNDS_A_FOLDER, rounds - done)):
                test.round()
                done += 1
                print(
                    f"\r{end}, {keeps}{disk}: {done}/{rounds} rounds,"
                    f" {commands + test.commands} commands acknowledged, 0 lost",
                    end="", flush=True,
                )  # fmt: skip
            commands += test.commands
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


def run_confirmed(rounds: int, way: str) -> None:
    """Take the primary away *rounds* times. Raises AssertionError if something confirmed goes."""
    confirmed = reads = done = 0
    while done < rounds:
        with tempfile.TemporaryDirectory() as folder:
            some = min(ROUNDS_A_FOLDER, rounds - done)
            test = ConfirmedTest(Path(folder), [PENSTOCK] * 3, way)
            test.run([FAULTS[(done + number) % len(FAULTS)] for number in range(some)])
            done += some
            confirmed += test.confirmed
            reads += test.reads
            print(
                f"\rconfirmed, {way}: {done}/{rounds} rounds, {confirmed} entries confirmed"
                f" by a quorum, 0 lost, {reads} confirmed reads, 0 stale",
                end="", flush=True,
            )  # fmt: skip
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
