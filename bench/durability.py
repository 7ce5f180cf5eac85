"""What keeping data costs: writes with an append-only file, saving, loading, rewriting, file sizes.

Both servers get a folder of their own on one file system. Saving is SAVE and loading is DEBUG
RELOAD NOSAVE, each in the foreground, the best of ROUNDS; a rewrite is timed from BGREWRITEAOF to
the moment when INFO says that it is over.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench import speed
from bench.memory import Kind, keys, stream_entries
from bench.results import Comparison, Speed
from bench.servers import Server
from bench.workloads import WORKLOADS

ROUNDS: Final = 3
POLL_SECONDS: Final = 0.01
WRITES: Final = ("set", "xadd")
LEAST: Final = {1: 0.9, 16: 0.9}  # ours/Redis, writes a second
MOST_TIME: Final = 1 / 0.7  # ours/Redis, seconds to save or load
MOST_SIZE: Final = 1.001  # a stream's file has the same bytes but for the header's
HZ: Final = 500  # so that the end of a rewrite is seen in time

LOADED: Final = [
    Kind("stream entries, 3 fields", MOST_SIZE, stream_entries),
    Kind("keys of 13 bytes, value of 3", MOST_SIZE, keys),
]

Start = Callable[..., tuple[Server, Server]]


@contextmanager
def in_folders(start: Start, *options: str) -> Iterator[tuple[Server, Server, Path, Path]]:
    """Both servers, each with a folder of its own, and the two folders."""
    with tempfile.TemporaryDirectory() as ours_at, tempfile.TemporaryDirectory() as redis_at:
        ours, redis = start(ours_at, redis_at, "--hz", str(HZ), *options)
        with ours, redis:
            yield ours, redis, Path(ours_at), Path(redis_at)


def writes(start: Start, seconds: float, rounds: int) -> Iterator[Speed]:
    """Writes a second while each is logged, fsynced in the background or before the answer."""
    chosen = [workload for workload in WORKLOADS if workload.name in WRITES]
    for policy in ("everysec", "always"):
        options = ("--appendonly", "yes", "--appendfsync", policy)
        with in_folders(start, *options, "--auto-aof-rewrite-percentage", "0") as (ours, redis, *_):
            for depth in (1, 16):
                for workload in chosen:
                    titled = replace(workload, title=f"{workload.title}, {policy}", least=LEAST)
                    yield speed.measure(titled, depth, ours, redis, seconds, rounds)


def files(start: Start, count: int) -> Iterator[Comparison]:
    """Saving, loading and rewriting *count* of a kind, and how large the file is."""
    for kind in LOADED:
        options = ("--enable-debug-command", "yes")
        with in_folders(start, *options) as (ours, redis, ours_at, redis_at):
            for server in (ours, redis):
                with server.client() as client:
                    client.load(kind.load(count), kind.at_once)
            yield _times("save", kind, ours, redis, _save)
            yield _times("load", kind, ours, redis, _load)
            yield _times("rewrite", kind, ours, redis, _rewrite, most=None)
            yield _sizes(kind, ours_at, redis_at)


def _times(
    what: str, kind: Kind, ours: Server, redis: Server, job: Callable[[Server], float],
    most: float | None = MOST_TIME,
) -> Comparison:  # fmt: skip
    best = {server: min(job(server) for _ in range(ROUNDS)) for server in (ours, redis)}
    return Comparison(f"{what}: {kind.title}", "ms", 1000 * best[ours], 1000 * best[redis], most)


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


def _sizes(kind: Kind, ours_at: Path, redis_at: Path) -> Comparison:
    ours, redis = ((folder / "dump.rdb").stat().st_size / 1e6 for folder in (ours_at, redis_at))
    return Comparison(f"file: {kind.title}", "MB", ours, redis, kind.most)
