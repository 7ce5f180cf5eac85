"""Benchmark results: a ratio is to the best peer, and an aim is the highest ratio allowed."""

from __future__ import annotations

from bench import report
from bench.results import Comparison, Sample, Speed


def speed(ours: float, *peers: float, most: float | None = 1.0) -> Speed:
    """The result of a workload; the arguments are microseconds a request."""
    sample, *others = (Sample(1000, 1.0, cost / 1000) for cost in (ours, *peers))
    return Speed("XADD", 16, sample, others, most, noise=0.0)


def test_the_ratio_is_to_the_best_peer() -> None:
    assert speed(9.0, 24.0, 18.0, 36.0).ratio == 0.5
    assert Comparison("a key", "bytes", 81.0, [90.0, 54.0]).ratio == 1.5


def test_only_a_ratio_above_the_aim_misses_it() -> None:
    assert speed(9.1, 18.0, 20.0, most=0.5).missed
    assert not speed(9.0, 18.0, 20.0, most=0.5).missed
    assert not speed(30.0, 10.0, most=None).missed


def test_a_row_with_an_aim_shows_whether_it_is_reached() -> None:
    assert report.speed_line(speed(9.0, 10.0)).split("|")[-1].split()[:3] == [
        "0.90", "1.00", "reached",
    ]  # fmt: skip
    assert "NOT reached" in report.speed_line(speed(11.0, 10.0))
    assert "NOT reached" in report.comparison_line(Comparison("a", "ms", 3.0, [2.0], most=1.1))
    assert "reached" not in report.comparison_line(Comparison("a", "ms", 3.0, [2.0]))


def test_the_summary_names_missed_aims() -> None:
    assert report.summary([speed(9.0, 10.0), speed(11.0, 10.0), speed(5.0, 1.0, most=None)]) == (
        "1 of 2 aims reached.\n    NOT reached: XADD at depth 16: 1.10, aim 1.00"
    )


def test_a_peer_that_does_not_know_the_command_is_left_out():
    ours, peer = Sample(100, 1.0, 0.5), Sample(100, 1.0, 1.0)
    speed = Speed("row", 1, ours, [None, peer], most=1.0, noise=0.0)
    assert (speed.ratio, speed.rate_ratio, speed.missed) == (0.5, 1.0, False)
    alone = Speed("row", 1, ours, [None], most=None, noise=0.0)
    assert alone.ratio != alone.ratio
    assert not alone.missed
    assert " - " in report.speed_line(alone)
