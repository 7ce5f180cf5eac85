"""Histograms of times against a list of all of them."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from server.observe.latency_histogram import LatencyHistogram, longest_in

LONGEST_NS = 1_000_000_000
BUCKETS = 3072

TIMES = st.lists(
    st.one_of(st.integers(0, 600), st.integers(0, 2_000_000), st.integers(0, 3 * LONGEST_NS)),
    min_size=1, max_size=60,
)  # fmt: skip


def filled(times: list[int]) -> LatencyHistogram:
    made = LatencyHistogram()
    for ns in times:
        made.record(ns)
    return made


def shown(ns: int) -> range:
    """Which numbers a histogram may show for *ns*: it knows two digits."""
    kept = min(max(ns, 1), LONGEST_NS)
    return range(kept, kept + kept // 128 + 1)


def test_each_bucket_begins_where_the_one_before_ends() -> None:
    assert [longest_in(bucket) for bucket in (1, 255, 256, 257, 383, 384)] == [
        1, 255, 257, 259, 511, 515,
    ]  # fmt: skip
    assert longest_in(BUCKETS - 1) == 2**30 - 1


@given(TIMES, st.sampled_from((0.1, 50.0, 99.0, 99.9, 100.0)))
def test_a_percentile_is_the_time_at_that_rank(times: list[int], percent: float) -> None:
    rank = max(int(percent / 100 * len(times) + 0.5), 1)
    assert filled(times).percentiles([percent])[0] in shown(sorted(times)[rank - 1])


@given(TIMES)
def test_the_steps_count_the_calls_up_to_twice_the_time_each(times: list[int]) -> None:
    histogram = filled(times)
    steps = list(histogram.cumulative())
    assert steps[-1][1] == histogram.calls == len(times)
    kept = [min(max(ns, 1), LONGEST_NS) for ns in times]
    for us, count in steps:
        bound = next(1024 << k for k in range(21) if (1024 << k) * 129 // 128 // 1000 >= us)
        assert count == sum(ns < bound * 129 // 128 for ns in kept)


def test_the_steps_are_those_of_redis() -> None:
    histogram = filled([1000 << n for n in range(19)])
    assert [us for us, _ in histogram.cumulative()] == [
        1, 2, 4, 8, 16, 33, 66, 132, 264, 528, 1056, 2113, 4227, 8454, 16908, 33816, 67633, 135266,
        270532,
    ]  # fmt: skip


def test_a_reset_forgets_all_calls() -> None:
    histogram = filled([5, 6])
    histogram.reset()
    assert histogram.calls == 0
    assert list(histogram.cumulative()) == []
    assert histogram.percentiles([50, 99]) == [0, 0]


def test_percentiles_are_found_in_buckets_of_any_count() -> None:
    histogram = filled([5] * 256 + [9] * 256)
    assert histogram.percentiles([50, 50.2, 100]) == [5, 9, 9]
