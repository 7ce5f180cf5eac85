"""Samples of events, the report about them, and their drawing."""

from __future__ import annotations

from server.config.parameters import Config
from server.observe.latency_events import SAMPLES, LatencyEvents, Series
from server.observe.latency_report import HEALTHY, OFF, report
from server.observe.sparkline import graph

MS = 1_000_000


def events(threshold_ms: int = 10) -> LatencyEvents:
    config = Config()
    config.latency_monitor_threshold = threshold_ms
    made = LatencyEvents()
    made.configured(config)
    return made


def test_only_what_takes_as_long_as_the_threshold_is_kept() -> None:
    kept = events(10)
    kept.add_if_long(b"command", 10 * MS - 1, 7)
    assert not kept.series
    kept.add_if_long(b"command", 10 * MS, 7)
    assert list(kept.series[b"command"].samples) == [(7, 10)]
    silent = events(0)
    silent.add_if_long(b"command", 999 * MS, 7)
    assert not silent.series


def test_of_one_second_the_longest_sample_stays() -> None:
    series = Series()
    for time_s, ms in ((1, 5), (1, 3), (1, 9), (2, 4)):
        series.add_sample(time_s, ms)
    assert list(series.samples) == [(1, 9), (2, 4)]
    assert series.worst_ms == 9


def test_the_oldest_sample_goes_and_the_worst_is_remembered() -> None:
    series = Series()
    for time_s in range(SAMPLES + 1):
        series.add_sample(time_s, 100 if time_s == 0 else 1)
    assert len(series.samples) == SAMPLES
    assert series.samples[0].time_s == 1
    assert series.worst_ms == 100


def test_a_reset_forgets_one_event() -> None:
    kept = events()
    kept.add_if_long(b"fork", 50 * MS, 1)
    assert kept.reset(b"fork")
    assert not kept.reset(b"fork")


def test_the_report_says_what_happened_or_how_to_find_out() -> None:
    assert report(events(0)) == OFF
    assert report(events(10)) == HEALTHY.format(threshold=10)
    kept = events()
    kept.add_if_long(b"fork", 50 * MS, 100)
    kept.add_if_long(b"fork", 150 * MS, 110)
    kept.add_if_long(b"other", 20 * MS, 110)
    text = report(kept)
    assert "1. fork: 2 spikes (mean 100 ms, mean deviation 50 ms, one in 10 s)." in text
    assert "The worst took 150 ms." in text
    assert "2. other: 1 spikes (mean 20 ms, mean deviation 0 ms)." in text
    assert text.count("latest_fork_usec") == 1


def test_a_drawing_has_bars_between_the_lowest_and_the_highest_and_ages() -> None:
    series = Series()
    for time_s, ms in ((0, 10), (86_400, 30), (172_740, 20), (172_795, 34)):
        series.add_sample(time_s, ms)
    assert graph("command", series, 172_800) == (
        "command - high 34 ms, low 10 ms (all time high 34 ms)\n" + "-" * 80 + "\n"
        " o #\n"
        " | |\n"
        " |#|\n"
        "_|||\n"
        "    \n"
        "2115\n"
        "ddms\n"
    )


def test_equal_samples_are_drawn_flat_and_many_in_several_bands() -> None:
    series = Series()
    for time_s in range(81):
        series.add_sample(time_s, 5)
    bands = graph("fork", series, 81).split("\n")
    assert bands[5] == "_" * 80
    assert bands[-2:] == ["s", ""]
    assert "_" in bands
