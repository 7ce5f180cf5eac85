"""A primary and its replicas, all of one kind: rate, lag, and the time of a full copy.

Each server gets two replicas of its own kind, all on the same CPU. SETs of random keys load the
primary. Its rate is shown as the time that a request takes: less is better. Meanwhile a probe
writes a value to the primary, and asks a replica until it is there.

A full copy is timed from REPLICAOF to the moment when the link is up and the primary says that the
replica is online.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Final

from bench import progress
from bench.client import Client, Command, RefusedError
from bench.redis_benchmark import RedisBenchmark
from bench.results import Comparison
from bench.servers import Server, Start, cpu_seconds, in_turns

NO_DELAY: Final = ("--repl-diskless-sync-delay", "0")
WAIT_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.002
FIRST_REQUESTS: Final = 20_000
PROBES: Final = 300
LOAD: Final = RedisBenchmark(("SET", "key:__rand_int__", "xxx"))
SLOWEST_RATE: Final = {1: 1 / 0.95, 16: 1.0}  # the aims, as ratios of the time a request takes
SLOWEST_COPY: Final = 1.2


@dataclass(frozen=True)
class Group:
    """A primary and its two replicas."""

    primary: Server
    replicas: tuple[Server, Server]


def measure(start: Start, count: int, seconds: float, rounds: int) -> Iterator[Comparison]:
    """Compare the rates of *rounds* rounds, the lag, and copies of *count* keys and entries."""
    with _groups(start) as groups:
        for depth in (1, 16):
            yield from _rates(groups, depth, seconds, rounds)
        yield _lags(groups, seconds * rounds)
    for title, commands in (
        ("keys", lambda: (("SET", f"key:{n:09d}", f"value:{n}") for n in range(count))),
        ("entries", lambda: (("XADD", "stream", "*", "field", f"v{n}") for n in range(count))),
    ):
        yield _copies(start, f"full copy of {count:,} {title}", commands)


@contextmanager
def _groups(start: Start) -> Iterator[list[Group]]:
    with ExitStack() as stack:
        thrice = [stack.enter_context(start(*NO_DELAY)) for _ in range(3)]
        groups = [Group(primary, (one, other)) for primary, one, other in zip(*thrice, strict=True)]
        for group in groups:
            for replica in group.replicas:
                follow(replica, group.primary)
        yield groups


def follow(replica: Server, primary: Server) -> float:
    """Make *replica* one of *primary*; the seconds that this takes."""
    with replica.client() as client, primary.client() as asking:
        began = time.monotonic()
        client.call("REPLICAOF", "127.0.0.1", primary.port)
        while not (_is_up(client) and _sees(asking, replica)):
            if time.monotonic() - began > WAIT_SECONDS:
                raise RefusedError(f"{replica.name} does not follow {primary.name}")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - began


def _is_up(client: Client) -> bool:
    try:
        return client.info().get("master_link_status") == "up"
    except RefusedError:  # it is loading
        return False


def _sees(primary: Client, replica: Server) -> bool:
    """Whether *primary* says that *replica* is online."""
    text = primary.call("INFO", "replication").decode()
    return any(
        f"port={replica.port}," in line and "state=online" in line for line in text.splitlines()
    )


# ---------------------------------------------------------------------- rate and lag


def _rates(
    groups: Sequence[Group], depth: int, seconds: float, rounds: int
) -> Iterator[Comparison]:
    by_primary = {group.primary: group for group in groups}
    requests = _requests(groups[-1], depth, seconds)
    times: dict[Server, list[float]] = {server: [] for server in by_primary}
    costs: dict[Server, list[float]] = {server: [] for server in by_primary}
    for number, server in enumerate(in_turns(list(by_primary), rounds)):
        progress.say(f"two replicas, depth {depth}: {number + 1} of {rounds * len(groups)}")
        took, cpu = _load(by_primary[server], depth, requests)
        times[server].append(took / requests * 1e6)
        costs[server].append(cpu / requests * 1e6)
    title = f"SET with two replicas, depth {depth}"
    yield _comparison(f"{title}: a request", "us", [min(t) for t in times.values()],
                      SLOWEST_RATE[depth])  # fmt: skip
    yield _comparison(f"{title}: CPU a request", "us", [median(c) for c in costs.values()])


def _requests(group: Group, depth: int, seconds: float) -> int:
    """How many requests take about *seconds*."""
    took, _ = _load(group, depth, FIRST_REQUESTS)
    return max(FIRST_REQUESTS, int(FIRST_REQUESTS / took * seconds))


def _load(group: Group, depth: int, requests: int) -> tuple[float, float]:
    """Seconds of time, and of the primary's CPU. Ends when the replicas have it all."""
    before = cpu_seconds(group.primary.pid)
    took = LOAD.run(group.primary.port, requests, depth)
    cpu = cpu_seconds(group.primary.pid) - before
    with group.primary.client() as client:
        client.call("SET", "end", 1)
        client.call("WAIT", 2, int(WAIT_SECONDS * 1000))
    return took, cpu


def _lags(groups: Sequence[Group], seconds: float) -> Comparison:
    """The 99th percentile of a replica's lag, while its primary is loaded at depth 1."""
    worst = []
    for group in groups:
        progress.say(f"lag of {group.primary.name}'s replicas")
        requests = _requests(group, 1, seconds)
        load = threading.Thread(target=_load, args=(group, 1, requests))
        load.start()
        lags = sorted(_probe(group, number) for number in range(PROBES))
        load.join()
        worst.append(lags[int(PROBES * 0.99)] * 1e3)
    return _comparison("lag of a replica under load, p99", "ms", worst)


def _probe(group: Group, number: int) -> float:
    """Seconds until a value that is written to the primary is found on a replica."""
    value = b"%d" % number
    with group.primary.client() as writing, group.replicas[0].client() as reading:
        writing.call("SET", "probe", value)
        began = time.monotonic()
        while reading.call("GET", "probe") != value:
            pass
        return time.monotonic() - began


# ---------------------------------------------------------------------- copies


def _copies(start: Start, title: str, commands: Callable[[], Iterator[Command]]) -> Comparison:
    times = []
    with start(*NO_DELAY) as primaries, start(*NO_DELAY) as replicas:
        for primary, replica in zip(primaries, replicas, strict=True):
            progress.say(f"{title}: {primary.name}")
            with primary.client() as client:
                client.load(commands())
            times.append(median(_copy(primary, replica) for _ in range(3)) * 1e3)
            with primary.client() as client:
                client.call("FLUSHALL")
    return _comparison(title, "ms", times, SLOWEST_COPY)


def _copy(primary: Server, replica: Server) -> float:
    with replica.client() as client:
        client.call("REPLICAOF", "NO", "ONE")
        client.call("FLUSHALL")
        client.call("SET", "a-history", "of-its-own")
    return follow(replica, primary)


def _comparison(
    title: str, unit: str, figures: Sequence[float], most: float | None = None
) -> Comparison:
    ours, *peers = figures
    return Comparison(title, unit, ours, peers, most)
