"""The cost of persistence: writes with an append-only file, saving, loading, rewriting, file sizes.

Each server gets a folder of its own on the same file system. Saving is SAVE, and loading is DEBUG
RELOAD NOSAVE, each in the foreground; the best of ROUNDS counts. A rewrite is timed from
BGREWRITEAOF until INFO says that it is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from bench import progress, speed
from bench.memory import Kind, keys, stream_entries
from bench.results import Comparison, Speed
from bench.servers import Server, Start
from bench.workloads import WORKLOADS

ROUNDS: Final = 3
POLL_SECONDS: Final = 0.01
WRITES: Final = ("set", "xadd")
MOST: Final = {1: 1.1, 16: 1.1}  # CPU of a write that is logged
MOST_TIME: Final = 1 / 0.7  # seconds to save or load
MOST_SIZE: Final = 1.001  # the files differ in their headers only
HZ: Final = 500  # so that INFO shows the end of a rewrite soon

LOADED: Final = [
    Kind("stream entries, 3 fields", MOST_SIZE, stream_entries),
    Kind("keys of 13 bytes, value of 3", MOST_SIZE, keys),
]


def writes(start: Start, seconds: float, rounds: int) -> Iterator[Speed]:
    """Compare writes with an append-only file, with ``appendfsync`` everysec and always."""
    chosen = [workload for workload in WORKLOADS if workload.name in WRITES]
    for policy in ("everysec", "always"):
        options = ("--appendonly", "yes", "--appendfsync", policy)
        with start(*options, "--auto-aof-rewrite-percentage", "0") as servers:
            for depth in (1, 16):
                for workload in chosen:
                    titled = replace(workload, title=f"{workload.title}, {policy}", most=MOST)
                    progress.say(f"durability: {titled.title}, depth {depth}")
                    yield speed.measure(titled, depth, servers, seconds, rounds)


def files(start: Start, count: int) -> Iterator[Comparison]:
    """Compare saving, loading and rewriting *count* of each kind, and the sizes of the files."""
    for kind in LOADED:
        with start("--enable-debug-command", "yes", "--hz", str(HZ)) as servers:
            for server in servers:
                progress.say(f"durability: {count:,} {kind.title}, {server.name}")
                with server.client() as client:
                    client.load(kind.load(count), kind.at_once)
            yield _times("save", kind, servers, _save, MOST_TIME)
            yield _times("load", kind, servers, _load, MOST_TIME)
            yield _times("rewrite", kind, servers, _rewrite, None)
            yield _sizes(kind, servers)


def _times(
    what: str, kind: Kind, servers: Sequence[Server], job: Callable[[Server], float],
    most: float | None,
) -> Comparison:  # fmt: skip
    progress.say(f"durability: {what}, {kind.title}")
    ours, *peers = (1000 * min(job(server) for _ in range(ROUNDS)) for server in servers)
    return Comparison(f"{what}: {kind.title}", "ms", ours, peers, most)


def _save(server: Server) -> float:
    return _seconds_of(server, "SAVE")


def _load(server: Server) -> float:
    return _seconds_of(server, "DEBUG", "RELOAD", "NOSAVE")


def _seconds_of(server: Server, *command: str) -> float:
    with server.client() as client:
        began = time.perf_counter()
        client.call(*command)
        return time.perf_counter() - began


def _rewrite(server: Server) -> float:
    with server.client() as client:
        client.call("CONFIG", "SET", "appendonly", "yes")
        _await_rewrite(server)
        began = time.perf_counter()
        client.call("BGREWRITEAOF")
        _await_rewrite(server)
        took = time.perf_counter() - began
        client.call("CONFIG", "SET", "appendonly", "no")
        return took


def _await_rewrite(server: Server) -> None:
    with server.client() as client:
        while "1" in (
            (info := client.info())["aof_rewrite_in_progress"],
            info["aof_rewrite_scheduled"],
        ):
            time.sleep(POLL_SECONDS)


def _sizes(kind: Kind, servers: Sequence[Server]) -> Comparison:
    ours, *peers = ((server.folder / "dump.rdb").stat().st_size / 1e6 for server in servers)
    return Comparison(f"file: {kind.title}", "MB", ours, peers, kind.most)
