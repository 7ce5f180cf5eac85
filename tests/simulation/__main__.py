"""Plays worlds: `make simulate ARGS="--worlds 1000 --seed 1"`.

Worlds are numbered from the seed on; each number is one of the scenarios, in turn. What is found is
told at once, with the one command that plays that world again, and once more at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from hashlib import blake2b

from tests.simulation import planted
from tests.simulation.many import many
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.world import Outcome, run

HASHES = "PYTHONHASHSEED"  # the order of keys in a snapshot depends on it
TELLS_EVERY_S = 10.0
MOST_TOLD = 4000  # characters of a problem


def again_with_fixed_hashes() -> None:
    """Start this program again, if its hashes are not those of every other run."""
    if os.environ.get(HASHES) != "0":
        command = [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, HASHES: "0"})


def scenario_of(only: str, seed: int) -> str:
    """The name of the scenario that the world *seed* is."""
    return only or SCENARIOS[seed % len(SCENARIOS)].__name__


def play(only: str, keeps_trace: bool, bug: str, seed: int) -> Outcome:
    """The outcome of the world *seed*, with a server that has *bug* if that is named."""
    names = {scenario.__name__: scenario for scenario in SCENARIOS}
    with planted.BUGS[bug]() if bug else nullcontext():
        return run(seed, names[scenario_of(only, seed)], keeps_trace)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make simulate", description="Plays worlds.")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first world")
    parser.add_argument("--only", default="", help="a scenario: see scenarios/")
    parser.add_argument("--trace", action="store_true", help="show all that happens")
    parser.add_argument("--processes", type=int, default=1, help="so many worlds side by side")
    parser.add_argument("--bug", default="", help="plant a bug: see planted.py")
    options = parser.parse_args(argv)
    one = partial(play, options.only, options.trace, options.bug)
    seeds = range(options.seed, options.seed + options.worlds)
    telling = Telling(options)
    try:
        telling.follow(many(one, seeds, options.processes))
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
    return telling.end()


class Telling:
    """Shows how far it is, what is found, and at the end all in short."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._begun_s = self._told_s = time.monotonic()
        self._played = self._steps = self._sum = 0
        self._seconds = 0.0
        self._counts: Counter[str] = Counter()
        self._worlds: Counter[str] = Counter()  # of each scenario
        self._cpu_s: Counter[str] = Counter()  # that they took
        self._failed: list[tuple[int, str]] = []  # seeds and commands

    def follow(self, outcomes: Iterable[Outcome]) -> None:
        """Tell of *outcomes* as they come."""
        for outcome in outcomes:
            self._add(outcome)
            now_s = time.monotonic()
            if now_s - self._told_s >= TELLS_EVERY_S:
                self._told_s = now_s
                print(self._progress(), flush=True)

    def _add(self, outcome: Outcome) -> None:
        name = scenario_of(self._options.only, outcome.seed)
        self._played += 1
        self._counts.update(outcome.counts)
        self._worlds[name] += 1
        self._cpu_s[name] += outcome.cpu_s  # type: ignore[assignment]
        self._steps += outcome.steps
        self._seconds += outcome.seconds
        said = f"{outcome.seed} {outcome.digest}".encode()  # in whatever order they come
        self._sum ^= int.from_bytes(blake2b(said, digest_size=16).digest())
        if self._options.trace:
            print("\n".join(outcome.trace))
        if outcome.problems:
            command = self._command(outcome.seed, name)
            self._failed.append((outcome.seed, command))
            print(f"\nWorld {outcome.seed} ({name}):")
            for problem in outcome.problems:
                print("  " + problem[:MOST_TOLD].replace("\n", "\n  "))
            print(f"  once more: {command}\n", flush=True)

    def _command(self, seed: int, name: str) -> str:
        bug = f" --bug {self._options.bug}" if self._options.bug else ""
        return f"make simulate ARGS='--worlds 1 --seed {seed} --only {name}{bug} --trace'"

    def _progress(self) -> str:
        took_s = time.monotonic() - self._begun_s
        left = self._options.worlds - self._played
        left_s = took_s / self._played * left if self._played else 0.0
        more = f"; {left_s / 60:,.0f} minutes to go" if left else ""
        return (
            f"{self._played} of {self._options.worlds} worlds, {len(self._failed)} with problems;"
            f" {self._seconds:,.0f} s of theirs in {took_s:,.0f} s, {self._steps:,} steps{more}"
        )

    def end(self) -> int:
        """Tell the whole in short; 1 if anything was found."""
        print(self._progress())
        for name, worlds in self._worlds.items():
            rate = worlds / max(self._cpu_s[name], 1e-9)
            print(f"{worlds:7,} x {name:16} {rate:6.1f} a second of CPU")
        print(", ".join(f"{count:,} x {name}" for name, count in sorted(self._counts.items())))
        print(f"digest {self._sum:032x}")
        for seed, command in sorted(self._failed):
            print(f"world {seed} has problems: {command}")
        return 1 if self._failed or self._played < self._options.worlds else 0


if __name__ == "__main__":
    again_with_fixed_hashes()
    sys.exit(main(sys.argv[1:]))
