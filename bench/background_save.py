"""The cost of a background save: the pause of the fork, and the memory that is copied.

About a gigabyte of keys or entries is loaded. Then each server runs BGSAVE while it is idle, while
random keys are overwritten, and while random keys are read. The figures are the servers' own:
latest_fork_usec and rdb_last_cow_size.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from bench import progress
from bench.client import Command
from bench.results import Comparison
from bench.servers import Server, Start

KEYS: Final = 7_000_000  # small keys: about a gigabyte in Penstock, two thirds of it in Redis
ENTRIES: Final = 1_000_000
VALUE: Final = "x" * 300  # with three of them in each entry, the entries take a gigabyte
KEYS_A_COMMAND: Final = 500
FULL: Final = 1_000_000  # the *count* of measure for which all KEYS and ENTRIES are loaded
POLL_SECONDS: Final = 0.05
MEGABYTE: Final = 1e6

DURING: Final[dict[str, tuple[str, ...]]] = {
    "idle": (),
    "overwritten": ("SET", "key:__rand_int__", "xyz"),
    "read": ("GET", "key:__rand_int__"),
}


def measure(start: Start, count: int) -> Iterator[Comparison]:
    """Compare pauses and copied memory. If *count* is below FULL, proportionally less is loaded."""
    keys, entries = KEYS * count // FULL, ENTRIES * count // FULL
    with _loaded(start, lambda: _small_keys(keys)) as servers:
        for title, command in DURING.items():
            yield from _save(f"{keys:,} keys, {title}", servers, command, keys)
    with _loaded(start, lambda: _large_entries(entries)) as servers:
        yield from _save(f"{entries:,} entries, idle", servers, (), entries)


@contextmanager
def _loaded(start: Start, commands: Callable[[], Iterator[Command]]) -> Iterator[list[Server]]:
    """Start the servers and load what *commands* makes."""
    with start() as servers:
        for server in servers:
            progress.say(f"background save: loading {server.name}")
            with server.client() as client:
                client.load(commands())
        yield servers


def _small_keys(keys: int) -> Iterator[Command]:
    """SET the keys, with the names that redis-benchmark uses."""
    for start in range(0, keys, KEYS_A_COMMAND):
        numbers = range(start, min(start + KEYS_A_COMMAND, keys))
        yield ("MSET", *(word for n in numbers for word in (f"key:{n:012d}", "xyz")))


def _large_entries(entries: int) -> Iterator[Command]:
    for number in range(entries):
        yield ("XADD", f"large:{number % 100}", "*", "a", VALUE, "b", VALUE, "c", VALUE)


def _save(
    title: str, servers: Sequence[Server], command: tuple[str, ...], keys: int
) -> Iterator[Comparison]:
    progress.say(f"background save: {title}")
    saves = [_one_save(server, command, keys) for server in servers]
    for what, unit, (ours, *peers) in zip(
        ("fork", "copied"), ("ms", "MB"), zip(*saves, strict=True), strict=True
    ):
        yield Comparison(f"{what}: {title}", unit, ours, peers)


def _one_save(server: Server, command: tuple[str, ...], keys: int) -> tuple[float, float]:
    """The pause in ms, and the copied memory in MB, of one save during which *command* is sent."""
    load = _load(server, command, keys) if command else None
    try:
        with server.client() as client:
            client.call("BGSAVE")
        while (info := server.info())["rdb_bgsave_in_progress"] == "1":
            time.sleep(POLL_SECONDS)
    finally:
        if load is not None:
            load.kill()
            load.wait()
    return int(info["latest_fork_usec"]) / 1000, int(info["rdb_last_cow_size"]) / MEGABYTE


def _load(server: Server, command: tuple[str, ...], keys: int) -> subprocess.Popen[bytes]:
    words = ["redis-benchmark", "-p", str(server.port), "-c", "50", "-P", "4", "-q"]
    load = subprocess.Popen(
        [*words, "-n", "1000000000", "-r", str(keys), *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(0.5)
    return load
