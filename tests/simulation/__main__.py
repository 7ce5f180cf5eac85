"""Plays worlds: `make simulate ARGS="--worlds 1000 --seed 1"`.

Worlds are numbered from the seed on; each number is one of the scenarios, in turn. What is found is
told with the one command that plays that world again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b

from tests.simulation import planted
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.world import Outcome, run

HASHES = "PYTHONHASHSEED"  # the order of keys in a snapshot depends on it


def again_with_fixed_hashes() -> None:
    """Start this program again, if its hashes are not those of every other run."""
    if os.environ.get(HASHES) != "0":
        command = [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, HASHES: "0"})


def play(only: str, keeps_trace: bool, bug: str, seed: int) -> Outcome:
    """The outcome of the world *seed*, with a server that has *bug* if that is named."""
    names = {scenario.__name__: scenario for scenario in SCENARIOS}
    scenario = names[only] if only else SCENARIOS[seed % len(SCENARIOS)]
    with planted.BUGS[bug]() if bug else nullcontext():
        return run(seed, scenario, keeps_trace)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make simulate", description="Plays worlds.")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first world")
    parser.add_argument("--only", default="", help="a scenario: see scenarios.py")
    parser.add_argument("--trace", action="store_true", help="show all that happens")
    parser.add_argument("--processes", type=int, default=1, help="so many worlds side by side")
    parser.add_argument("--bug", default="", help="plant a bug: see planted.py")
    options = parser.parse_args(argv)
    one = partial(play, options.only, options.trace, options.bug)
    seeds = range(options.seed, options.seed + options.worlds)
    if options.processes == 1:
        return tell(map(one, seeds), options)
    with ProcessPoolExecutor(options.processes) as pool:
        return tell(pool.map(one, seeds, chunksize=4), options)


def tell(outcomes: Iterable[Outcome], options: argparse.Namespace) -> int:
    """Show how far it is, and what is found; 1 if anything is."""
    begun_s = told_s = time.monotonic()
    counts: Counter[str] = Counter()
    steps, seconds, failed = 0, 0.0, []
    digest = blake2b(digest_size=16)  # of all that has happened
    for number, outcome in enumerate(outcomes, 1):
        counts.update(outcome.counts)
        digest.update(outcome.digest.encode())
        steps += outcome.steps
        seconds += outcome.seconds
        if options.trace:
            print("\n".join(outcome.trace))
        if outcome.problems:
            failed.append(outcome.seed)
            show(outcome, options)
        now_s = time.monotonic()
        if now_s - told_s >= 10 or number == options.worlds:
            told_s = now_s
            print(
                f"{number} of {options.worlds} worlds, {len(failed)} with problems;"
                f" {seconds:,.0f} s of theirs in {now_s - begun_s:,.0f} s, {steps:,} steps",
                flush=True,
            )
    print(f"digest {digest.hexdigest()}")
    print(", ".join(f"{count:,} x {name}" for name, count in sorted(counts.items())))
    return 1 if failed else 0


def show(outcome: Outcome, options: argparse.Namespace) -> None:
    """Say what is wrong in a world, and how to see it again."""
    bug = f" --bug {options.bug}" if options.bug else ""
    print(f"\nWorld {outcome.seed} ({outcome.scenario}):")
    for problem in outcome.problems:
        print("  " + problem[:4000].replace("\n", "\n  "))
    print(
        f"  once more: make simulate ARGS='--worlds 1 --seed {outcome.seed}"
        f" --only {outcome.scenario}{bug} --trace'\n",
        flush=True,
    )


if __name__ == "__main__":
    again_with_fixed_hashes()
    sys.exit(main(sys.argv[1:]))
