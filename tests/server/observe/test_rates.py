"""How fast counters grow, over the last samples."""

from __future__ import annotations

from server.observe.stats import SAMPLES, Rates


def test_there_is_no_rate_before_two_samples() -> None:
    rates = Rates()
    assert rates.per_second("b") == 0.0
    rates.sample(1000, a=5, b=7)
    assert rates.per_second("b") == 0.0


def test_a_rate_is_the_mean_of_the_last_samples() -> None:
    rates = Rates()
    for number in range(2 * SAMPLES):
        rates.sample(100 * number, a=10 * number, b=number)
    assert (rates.per_second("a"), rates.per_second("b")) == (100.0, 10.0)


def test_two_samples_at_the_same_time_are_one() -> None:
    rates = Rates()
    for _ in range(3):
        rates.sample(1000, a=5)
    assert rates.per_second("a") == 0.0
