"""python -m bench: rates, CPU, latency and memory of Penstock and redis-server, in one run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import background_save, durability, latency, memory, report, speed
from bench.client import RefusedError
from bench.load import StalledError
from bench.results import Comparison, Speed
from bench.servers import PENSTOCK, REDIS, Server, ServerError, pin_generator
from bench.workloads import WORKLOADS, Workload

PACKAGES = {"redis-server": "redis-server", "redis-benchmark": "redis-tools"}
OTHERS = ("latency", "memory", "durability", "background-save")


@dataclass(frozen=True)
class Extent:
    """How much is measured: rounds of so many seconds; so many entries, items, keys."""

    seconds: float
    rounds: int
    latency_seconds: float
    latency_rounds: int
    count: int


QUICK = Extent(seconds=0.1, rounds=5, latency_seconds=1.0, latency_rounds=3, count=200_000)
FULL = Extent(seconds=0.5, rounds=8, latency_seconds=2.0, latency_rounds=5, count=1_000_000)


def main() -> int:
    """Measure, print the tables; the exit status is 1 if that was not possible."""
    options = _options()
    try:
        _install_what_is_missing()
        pin_generator()
        results = list(_run(options))
    except (ServerError, StalledError, RefusedError, FileNotFoundError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(report.summary(results))
    if options.json:
        options.json.write_text(json.dumps([report.as_json(r) for r in results], indent=1) + "\n")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = [workload.name for workload in WORKLOADS] + list(OTHERS)
    parser.add_argument("--quick", action="store_true", help="about two minutes, more noise")
    parser.add_argument("--only", help=f"some of: {','.join(names)}", metavar="NAME,NAME")
    parser.add_argument("--depth", type=int, choices=(1, 16), help="only this pipeline depth")
    parser.add_argument("--rounds", type=int, help="rounds of each workload on each server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument(
        "--command",
        default=os.environ.get("PENSTOCK_COMMAND", PENSTOCK),
        help="starts our server (default: %(default)s, or the environment's PENSTOCK_COMMAND)",
    )
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else names
    if unknown := set(options.only) - set(names):
        parser.error(f"unknown: {','.join(sorted(unknown))}; known: {','.join(names)}")
    return options


def _install_what_is_missing() -> None:
    missing = sorted({package for tool, package in PACKAGES.items() if not shutil.which(tool)})
    if not missing:
        return
    install = ["apt-get", "install", "--yes", "--quiet", *missing]
    if os.geteuid() or not shutil.which("apt-get"):
        raise FileNotFoundError(f"install {' and '.join(missing)} first: sudo {' '.join(install)}")
    print(f"Installing {' and '.join(missing)} ...", flush=True)
    if subprocess.run(install, stdout=subprocess.DEVNULL, check=False).returncode:
        raise FileNotFoundError(f"could not be installed: {' '.join(install)}")


def _run(options: argparse.Namespace) -> Iterator[Speed | Comparison]:
    """Measure what was asked for, and print each result as soon as it is there."""
    extent = QUICK if options.quick else FULL
    chosen = [workload for workload in WORKLOADS if workload.name in options.only]
    start = partial(_start, options.command)
    print(report.machine())
    print(report.neighbours())
    ours, redis = start()
    with ours, redis:
        print(f"{report.describe(ours)}\n{report.describe(redis)}\n{report.generator()}\n")
        if chosen:
            yield from _speeds(chosen, options, extent, ours, redis)
    if "latency" in options.only:
        ours, redis = start()
        with ours, redis:
            yield from _comparisons("latency", _latencies(extent, ours, redis))
    if "memory" in options.only:
        title = f"resident memory, of {extent.count:,} each"
        yield from _comparisons(title, memory.measure(start, extent.count))
    if "durability" in options.only:
        yield from _durability(options, extent)
    if "background-save" in options.only:
        yield from _background_saves(options, extent)


def _start(command: str) -> tuple[Server, Server]:
    return _start_with(command, (), ())


def _start_in(command: str, ours_at: str, redis_at: str, *both: str) -> tuple[Server, Server]:
    """Start the pair in folders, with the options *both*."""
    return _start_with(command, ("--dir", ours_at, *both), ("--dir", redis_at, *both))


def _start_with(
    command: str, our_options: tuple[str, ...], redis_options: tuple[str, ...]
) -> tuple[Server, Server]:
    ours = Server("ours", command, *our_options)
    try:
        return ours, Server("Redis", REDIS, *redis_options)
    except BaseException:
        ours.stop()
        raise


def _background_saves(options: argparse.Namespace, extent: Extent) -> Iterator[Comparison]:
    with TemporaryDirectory() as ours_at, TemporaryDirectory() as redis_at:
        start = partial(_start_in, options.command, ours_at, redis_at)
        saves = background_save.measure(start, extent.count)
        yield from _comparisons("saving in the background", saves)


def _durability(options: argparse.Namespace, extent: Extent) -> Iterator[Speed | Comparison]:
    start = partial(_start_in, options.command)
    print(report.SPEED_HEAD)
    for result in durability.writes(start, extent.seconds, options.rounds or extent.rounds):
        print(report.speed_line(result), flush=True)
        yield result
    print()
    yield from _comparisons(
        f"files, {extent.count:,} of each", durability.files(start, extent.count)
    )


def _speeds(
    chosen: list[Workload], options: argparse.Namespace, extent: Extent, ours: Server, redis: Server
) -> Iterator[Speed]:
    print(report.SPEED_HEAD)
    rounds = options.rounds or extent.rounds
    for depth in (options.depth,) if options.depth else (1, 16):
        for workload in chosen:
            if depth in workload.least:
                result = speed.measure(workload, depth, ours, redis, extent.seconds, rounds)
                print(report.speed_line(result), flush=True)
                yield result
    print(f"{report.SHORT_OF_LOAD} the generator was the limit: judge by the CPU\n")


def _latencies(extent: Extent, ours: Server, redis: Server) -> Iterator[Comparison]:
    ping = WORKLOADS[0]
    fastest = speed.measure(ping, 1, redis, redis, extent.seconds, 1).redis.rate
    rate = min(latency.MOST_RATE, round(fastest * latency.RATE_SHARE, -3))
    seconds, rounds = extent.latency_seconds, extent.latency_rounds
    yield from latency.measure(ours, redis, rate, extent.count, seconds, rounds)


def _comparisons(title: str, comparisons: Iterator[Comparison]) -> Iterator[Comparison]:
    print(report.comparison_head(title), flush=True)
    for comparison in comparisons:
        print(report.comparison_line(comparison), flush=True)
        yield comparison
    print()


if __name__ == "__main__":
    sys.exit(main())
