"""What a scrape a second and an open console cost each workload.

One server runs the workload again and again; every second round is watched. Two rounds that follow
each other are compared, since the speed of a machine changes more from minute to minute than what
is looked for. Each round takes a second or more, so that each that is watched has a scrape. A row
has the median of the pairs' ratios, and the interval in which the true median is with 95 % (by the
ranks of the ratios: no assumption on how they are spread).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from bench import speed
from bench.results import Sample
from bench.servers import Server
from bench.watcher import WatchingProcess
from bench.workloads import Workload

SECONDS = 1.1  # of a round
PAIRS = 30
MOST = 1.03  # the aim: the largest ratio
DEVIATIONS = 1.96  # of a normal distribution, for 95 %


@dataclass(frozen=True)
class Watched:
    """A workload at a pipeline depth: median CPU of a request, in us, and the ratio of the two."""

    title: str
    depth: int
    alone: float
    watched: float
    ratio: float
    low: float
    high: float


def measure(
    workload: Workload, depth: int, server: Server, watcher: WatchingProcess, pairs: int
) -> Watched:
    """Compare *pairs* rounds that *watcher* watches with as many that it does not."""
    watcher.rest()
    requests = max(int(speed.rate(workload, depth, server) * SECONDS), speed.FIRST_REQUESTS)
    alone: list[Sample] = []
    watched: list[Sample] = []
    for number in range(2 * pairs):
        if number % 4 in (0, 3):  # first in every second pair
            watcher.rest()
            alone.append(speed.run(workload, depth, server, requests))
        else:
            watcher.watch()
            watched.append(speed.run(workload, depth, server, requests))
    ratios = sorted(w.cost / a.cost for w, a in zip(watched, alone, strict=True))
    low, high = interval(ratios)
    return Watched(
        workload.title,
        depth,
        median(sample.cost for sample in alone),
        median(sample.cost for sample in watched),
        median(ratios),
        low,
        high,
    )


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Where the median is with 95 %, from sorted *ratios*."""
    half = DEVIATIONS * sqrt(len(ratios)) / 2
    first = max(int(len(ratios) / 2 - half), 0)
    return ratios[first], ratios[len(ratios) - 1 - first]


def head() -> str:
    """The line above the table."""
    return f"{'us of CPU a request':34}{'depth':>6}{'alone':>9}{'watched':>9}{'ratio':>7}  95 %"


def line(row: Watched) -> str:
    """A line of the table."""
    missed = "  more than 1.03" if row.ratio > MOST else ""
    return (
        f"{row.title:34}{row.depth:6}{row.alone:9.2f}{row.watched:9.2f}{row.ratio:7.3f}"
        f"  {row.low:.3f} to {row.high:.3f}{missed}"
    )
