"""python -m bench: compares Penstock with its peers: CPU per request, rates, latency, memory."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench import background_save, durability, latency, memory, progress, report, speed, watched
from bench import replication as replicating
from bench import start as starting
from bench.certificate import Certificate, new_certificate
from bench.client import RefusedError
from bench.load import StalledError
from bench.peers import Peer, find_peers, known_folders
from bench.redis_benchmark import RedisBenchmark
from bench.results import Comparison, Speed
from bench.servers import PENSTOCK, Server, ServerError, Start, pin_generator
from bench.watcher import WatchingProcess
from bench.workloads import WORKLOADS, Workload
from tests.ports import free_port

PACKAGES = {"redis-server": "redis-server", "redis-benchmark": "redis-tools"}
OTHERS = ("latency", "memory", "durability", "background-save", "replication", "start")


@dataclass(frozen=True)
class Extent:
    """How much is measured: rounds and their seconds; *count* entries, items and keys."""

    seconds: float
    rounds: int
    latency_seconds: float
    latency_rounds: int
    count: int


QUICK = Extent(seconds=0.1, rounds=7, latency_seconds=1.0, latency_rounds=3, count=200_000)
FULL = Extent(seconds=0.2, rounds=20, latency_seconds=2.0, latency_rounds=5, count=1_000_000)


def main() -> int:
    """Measure and print the tables. Returns the exit status: 1 if measuring was not possible."""
    options = _options()
    try:
        _install_what_is_missing()
        pin_generator()
        if options.watched:
            _compare_watched(options)
            return 0
        peers = _peers(options)
        results = list(_run(options, peers))
    except (ServerError, StalledError, RefusedError, FileNotFoundError) as error:
        progress.clear()
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(report.summary(results))
    if options.json:
        options.json.write_text(json.dumps([report.as_json(r) for r in results], indent=1) + "\n")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = [workload.name for workload in WORKLOADS] + list(OTHERS)
    parser.add_argument("--quick", action="store_true", help="a third of the time, more noise")
    parser.add_argument("--only", help=f"some of: {','.join(names)}", metavar="NAME,NAME")
    parser.add_argument("--depth", type=int, choices=(1, 16), help="only this pipeline depth")
    parser.add_argument("--rounds", type=int, help="rounds of each workload on each server")
    parser.add_argument(
        "--peers",
        type=_folders,
        default=known_folders(),
        metavar="DIR[:DIR]",
        help="folders with more servers to compare with (default: the environment's"
        " PENSTOCK_PEERS, or what `make peers` has fetched)",
    )
    parser.add_argument(
        "--sockets",
        choices=("asyncio",),
        help="compare our server with itself on this socket backend, not with the peers",
    )
    parser.add_argument(
        "--watched",
        action="store_true",
        help="compare our server with itself, not with the peers: while it is scraped every second"
        " and has an open console, and while it is not",
    )
    parser.add_argument(
        "--tls", action="store_true", help="only the workloads of redis-benchmark, over TLS"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument(
        "--command",
        default=os.environ.get("PENSTOCK_COMMAND", PENSTOCK),
        help="the command that starts our server (default: %(default)s; or PENSTOCK_COMMAND)",
    )
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else names
    if unknown := set(options.only) - set(names):
        parser.error(f"unknown: {','.join(sorted(unknown))}; known: {','.join(names)}")
    return options


def _peers(options: argparse.Namespace) -> list[Peer]:
    """The servers to compare ours with."""
    if not options.sockets:
        return find_peers(options.peers)
    command = f"env PENSTOCK_SOCKETS={options.sockets} {options.command}"
    return [Peer(f"on {options.sockets}", command)]


def _folders(text: str) -> list[Path]:
    return [Path(part) for part in text.split(os.pathsep) if part]


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


def _run(options: argparse.Namespace, peers: list[Peer]) -> Iterator[Speed | Comparison]:
    """Measure what the options ask for, and print each result as soon as it is known."""
    extent = QUICK if options.quick else FULL
    start = partial(_started, options.command, peers)
    if options.tls:
        yield from _speeds_by_tls(options, extent, start)
        return
    print(report.machine())
    print(report.neighbours())
    with start() as servers:
        print("\n".join(report.describe(server) for server in servers))
        print(f"{report.generator()}\n", flush=True)
        yield from _speeds(options, extent, servers, WORKLOADS)
    names = ["ours", *(peer.name for peer in peers)]
    if "durability" in options.only:
        rounds = options.rounds or extent.rounds
        yield from _speed_table(durability.writes(start, extent.seconds, rounds), names)
    tables: dict[str, tuple[str, Callable[[], Iterator[Comparison]]]] = {
        "latency": ("latency", lambda: _latencies(extent, start)),
        "memory": (
            f"resident memory, of {extent.count:,} each",
            lambda: memory.measure(start, extent.count),
        ),
        "durability": (
            f"files, {extent.count:,} of each",
            lambda: durability.files(start, extent.count),
        ),
        "background-save": (
            "saving in the background",
            lambda: background_save.measure(start, extent.count),
        ),
        "replication": (
            "a primary with two replicas; full copies",
            lambda: replicating.measure(
                start, extent.count, extent.seconds, options.rounds or extent.rounds
            ),
        ),
        "start": (
            "what it needs, empty",
            lambda: starting.measure(start, options.rounds or extent.latency_rounds),
        ),
    }
    for name, (title, measured) in tables.items():
        if name in options.only:
            yield from _comparisons(report.comparison_head(title, names), measured())


@contextmanager
def _started(
    command: str, peers: list[Peer], *options: str, certificate: Certificate | None = None
) -> Iterator[list[Server]]:
    """Start all servers, ours first, with *options*."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(Server(peer.name, peer.command, *options, certificate=certificate))
            for peer in (Peer("ours", command), *peers)
        ]


def _compare_watched(options: argparse.Namespace) -> None:
    """Print what a scrape a second and an open console cost our server, by workload."""
    port = free_port()
    web = ("--metrics-port", str(port), "--console", "yes")
    with Server("ours", options.command, *web) as server, WatchingProcess(port) as watcher:
        print(report.machine(), report.neighbours(), watched.head(), sep="\n", flush=True)
        rows = _rows(options, WORKLOADS)
        for number, (workload, depth) in enumerate(rows, 1):
            progress.say(f"{workload.title}, depth {depth}: {number} of {len(rows)}")
            pairs = options.rounds or watched.PAIRS
            row = watched.measure(workload, depth, server, watcher, pairs)
            progress.clear()
            print(watched.line(row), flush=True)
        seen = watcher.seen()
        print(f"{seen.scrapes} scrapes; the console was sent {seen.events_bytes:,} bytes")


def _speeds_by_tls(options: argparse.Namespace, extent: Extent, start: Start) -> Iterator[Speed]:
    """Measure the workloads for which redis-benchmark makes the load, over TLS."""
    with new_certificate() as certificate, start(certificate=certificate) as servers:
        workloads = [
            replace(workload, load=replace(workload.load, options=certificate.client_options))
            for workload in WORKLOADS
            if isinstance(workload.load, RedisBenchmark)
        ]
        yield from _speeds(options, extent, servers, workloads)


def _speeds(
    options: argparse.Namespace,
    extent: Extent,
    servers: list[Server],
    workloads: Sequence[Workload],
) -> Iterator[Speed]:
    """Measure those of *workloads* that the options ask for."""
    if rows := _rows(options, workloads):
        rounds = options.rounds or extent.rounds
        names = [server.name for server in servers]
        yield from _speed_table(_measured(rows, servers, extent.seconds, rounds), names)


def _rows(options: argparse.Namespace, workloads: Sequence[Workload]) -> list[tuple[Workload, int]]:
    """The chosen workloads, each with a pipeline depth."""
    chosen = [workload for workload in workloads if workload.name in options.only]
    depths = (options.depth,) if options.depth else (1, 16)
    return [(w, depth) for depth in depths for w in chosen if depth in w.most]


def _measured(
    rows: list[tuple[Workload, int]], servers: list[Server], seconds: float, rounds: int
) -> Iterator[Speed]:
    for number, (workload, depth) in enumerate(rows, 1):
        progress.say(f"{workload.title}, depth {depth}: {number} of {len(rows)}")
        yield speed.measure(workload, depth, servers, seconds, rounds)


def _speed_table(speeds: Iterator[Speed], names: list[str]) -> Iterator[Speed]:
    print(report.speed_head(names), flush=True)
    for result in speeds:
        progress.clear()
        print(report.speed_line(result), flush=True)
        yield result
    print(f"{report.SHORT_OF_LOAD} the generator was the limit of a rate\n")


def _latencies(extent: Extent, start: Start) -> Iterator[Comparison]:
    with start() as servers:
        fastest = speed.rate(WORKLOADS[0], 1, servers[-1])
        rate = min(latency.MOST_RATE, round(fastest * latency.RATE_SHARE, -3))
        seconds, rounds = extent.latency_seconds, extent.latency_rounds
        yield from latency.measure(servers, rate, extent.count, seconds, rounds)


def _comparisons(head: str, comparisons: Iterator[Comparison]) -> Iterator[Comparison]:
    print(head, flush=True)
    for comparison in comparisons:
        progress.clear()
        print(report.comparison_line(comparison), flush=True)
        yield comparison
    print()


if __name__ == "__main__":
    sys.exit(main())
