"""What a scrape a second and an open console cost each workload.

What is watched is looked at once a second, however many requests come in between. So its cost is
measured where it can be seen: one server runs a small part of the workload in a second, enough to
change what the watchers look at, and every second second is watched. Two seconds that follow each
other are compared. Under full load the same milliseconds are taken from a second of requests: that
is the ratio. Rounds under full load, watched or not, differ by 5 to 20 % from one to the next on a
virtual machine, which hides what is looked for.

A row has the median of the pairs' differences, and the interval in which the true median is with
95 % (by the ranks of the differences: no assumption on how they are spread).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from bench import speed
from bench.servers import Server, cpu_seconds
from bench.watcher import WatchingProcess
from bench.workloads import Workload

PERIOD_S = 1.0  # a scrape, and a look of the console
FULL_S = 0.2  # of full load, by which the CPU of a request is known
LOAD = 0.03  # of a period: the CPU that the requests in it take
PAIRS = 8
MOST = 1.03  # the aim: the largest ratio
DEVIATIONS = 1.96  # of a normal distribution, for 95 %


@dataclass(frozen=True)
class Watched:
    """A workload at a pipeline depth.

    *alone* is the CPU of a request in us. The rest is the CPU that being watched takes, in ms a
    second: the median, and where it is with 95 %.
    """

    title: str
    depth: int
    alone: float
    median_ms: float
    low_ms: float
    high_ms: float

    @property
    def ratio(self) -> float:
        """How much more CPU a request takes on a server that is busy all the time."""
        return 1 / (1 - self.median_ms / 1000)


def measure(
    workload: Workload, depth: int, server: Server, watcher: WatchingProcess, pairs: int
) -> Watched:
    """Compare *pairs* periods that *watcher* watches with as many that it does not."""
    watcher.rest()
    enough = int(speed.rate(workload, depth, server) * FULL_S)
    cost = speed.run(workload, depth, server, max(enough, speed.FIRST_REQUESTS)).cost
    requests = max(int(LOAD * PERIOD_S * 1e6 / cost), depth)
    alone: list[float] = []
    watched: list[float] = []
    for number in range(2 * pairs):
        is_watched = number % 4 in (1, 2)  # first in every second pair
        speed.prepare(workload, server, requests)
        watcher.look()  # at a server that was emptied it is dearer than all later ones
        used = period(workload, depth, server, requests, watcher, is_watched)
        (watched if is_watched else alone).append(used)
    more = sorted((w - a) * 1000 / PERIOD_S for w, a in zip(watched, alone, strict=True))
    low, high = interval(more)
    return Watched(workload.title, depth, cost, median(more), low, high)


def period(
    workload: Workload,
    depth: int,
    server: Server,
    requests: int,
    watcher: WatchingProcess,
    is_watched: bool,
) -> float:
    """The seconds of CPU that the server uses in a period with *requests* requests.

    The server is told twice whether it is watched, in both kinds of periods: it costs the same.
    """
    before, end = cpu_seconds(server.pid), time.monotonic() + PERIOD_S
    if is_watched:
        watcher.watch()
    else:
        watcher.rest()
    workload.load.run(server.load_port, requests, depth)
    time.sleep(max(end - time.monotonic(), 0))
    watcher.rest()
    return cpu_seconds(server.pid) - before


def interval(ordered: Sequence[float]) -> tuple[float, float]:
    """Where the median of *ordered* numbers is with 95 %."""
    half = DEVIATIONS * sqrt(len(ordered)) / 2
    first = max(int(len(ordered) / 2 - half), 0)
    return ordered[first], ordered[len(ordered) - 1 - first]


def head() -> str:
    """The line above the table."""
    return f"{'':34}{'depth':>6}{'us a request':>14}{'watched, ms a second':>30}{'ratio':>8}"


def line(row: Watched) -> str:
    """A line of the table."""
    missed = "  more than 1.03" if row.ratio > MOST else ""
    of = f"{row.median_ms:.1f} ({row.low_ms:.1f} to {row.high_ms:.1f})"
    return f"{row.title:34}{row.depth:6}{row.alone:14.2f}{of:>30}{row.ratio:8.3f}{missed}"
