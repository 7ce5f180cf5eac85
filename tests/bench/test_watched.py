"""bench/watched.py: the interval of a median, and one row on a server that is watched."""

from __future__ import annotations

import random

import pytest

from bench import watched
from bench.servers import PENSTOCK, Server
from bench.watcher import WatchingProcess
from bench.workloads import WORKLOADS
from tests.ports import free_port


def test_the_interval_has_the_true_median_about_19_times_of_20() -> None:
    chance = random.Random(1)
    hits = 0
    for _ in range(1000):
        ratios = sorted(chance.lognormvariate(0, 0.1) for _ in range(30))
        low, high = watched.interval(ratios)
        hits += low <= 1 <= high
    assert 930 <= hits <= 990


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_pairs_say_little(count: int) -> None:
    ratios = [1.0, 2.0, 3.0][:count]
    assert watched.interval(ratios) == (ratios[0], ratios[-1])


def test_a_row_has_periods_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "PERIOD_S", 0.1)
    [workload] = [each for each in WORKLOADS if each.name == "xrange-100"]
    port = free_port()
    with (
        Server("ours", PENSTOCK, "--metrics-port", str(port), "--console", "yes") as server,
        WatchingProcess(port) as watcher,
    ):
        row = watched.measure(workload, 1, server, watcher, 2)
        assert watcher.seen().scrapes >= 2
    assert row.alone > 0
    # On a machine with other work, what a period took may hide what being watched takes.
    assert row.low_ms <= row.median_ms <= row.high_ms
    assert watched.line(row).startswith("XRANGE")


@pytest.mark.parametrize(("ms", "ratio"), [(0.0, 1.0), (20.0, 1 / 0.98), (100.0, 1 / 0.9)])
def test_what_being_watched_takes_is_missing_from_a_busy_second(ms: float, ratio: float) -> None:
    row = watched.Watched("GET", 16, 2.0, ms, ms, ms)
    assert row.ratio == pytest.approx(ratio)
    assert ("more than" in watched.line(row)) == (ms > 30)
