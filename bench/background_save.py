"""What a background save costs the server: the pause of the fork, and the memory that is copied.

About a gigabyte of a kind is loaded; then each server saves in the background by BGSAVE, while
nothing happens, while random keys are overwritten and while they are read. The figures are the
servers' own: latest_fork_usec and rdb_last_cow_size.
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

KEYS: Final = 7_000_000  # small ones: about a gigabyte here, two thirds of it in Redis
ENTRIES: Final = 1_000_000
VALUE: Final = "x" * 300  # three of them an entry: a gigabyte of entries
KEYS_A_COMMAND: Final = 500
FULL: Final = 1_000_000  # the extent for which KEYS and ENTRIES stand
POLL_SECONDS: Final = 0.05
MEGABYTE: Final = 1e6

DURING: Final[dict[str, tuple[str, ...]]] = {
    "idle": (),
    "overwritten": ("SET", "key:__rand_int__", "xyz"),
    "read": ("GET", "key:__rand_int__"),
}


def measure(start: Start, count: int) -> Iterator[Comparison]:
    """Compare the pauses and the copies; with a smaller *count* than FULL, of so much less."""
    keys, entries = KEYS * count // FULL, ENTRIES * count // FULL
    with _loaded(start, lambda: _small_keys(keys)) as servers:
        for title, command in DURING.items():
            yield from _save(f"{keys:,} keys, {title}", servers, command, keys)
    with _loaded(start, lambda: _large_entries(entries)) as servers:
        yield from _save(f"{entries:,} entries, idle", servers, (), entries)


@contextmanager
def _loaded(start: Start, commands: Callable[[], Iterator[Command]]) -> Iterator[list[Server]]:
    """The servers, with what *commands* makes."""
    with start() as servers:
        for server in servers:
            progress.say(f"background save: loading {server.name}")
            with server.client() as client:
                client.load(commands())
        yield servers


def _small_keys(keys: int) -> Iterator[Command]:
    """Keys as redis-benchmark names them."""
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
    """The pause in ms, and the memory copied in MB, of one save while *command* is sent."""
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
