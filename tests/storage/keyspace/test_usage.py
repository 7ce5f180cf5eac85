"""Usage: the number that tells when, or how often, a key was used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.chance import Chance
from storage.keyspace.settings import Clock
from storage.keyspace.usage import Usage

NOW_MS = 1_700_000_000_000
MINUTE_MS = 60_000


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.now_ms = NOW_MS
    return clock


@pytest.fixture
def usage(clock: Clock) -> Usage:
    return Usage(clock, Chance(1))


def counting(usage: Usage, log_factor: int = 0, decay_minutes: int = 1) -> Usage:
    """*usage* under an LFU policy; with a log_factor of 0 each use counts."""
    usage.counts = True
    usage.log_factor, usage.decay_minutes = log_factor, decay_minutes
    return usage


def used(usage: Usage, number: int, times: int) -> int:
    for _ in range(times):
        number = usage.after_use(number)
    return number


def test_the_number_is_the_second_of_the_last_use(usage: Usage, clock: Clock) -> None:
    number = usage.of_new_key()
    assert number == NOW_MS // 1000
    clock.now_ms += 5999
    assert usage.idle_s(number) == 5
    assert usage.idle_s(usage.after_use(number)) == 0


def test_a_clock_that_is_set_back_makes_no_negative_idle_time(usage: Usage, clock: Clock) -> None:
    number = usage.of_new_key()
    clock.now_ms -= MINUTE_MS
    assert usage.idle_s(number) == 0


def test_a_new_key_counts_5_and_each_use_may_add_one(usage: Usage) -> None:
    counting(usage)
    number = usage.of_new_key()
    assert 0xFF000000 <= number < 2**32
    assert usage.frequency(number) == 5
    assert usage.frequency(used(usage, number, 3)) == 8
    assert usage.frequency(used(usage, number, 300)) == 255


def test_the_counter_grows_more_and_more_slowly(usage: Usage) -> None:
    """About as in Redis's own table: 10 at 100 uses, 18 at 1000, 142 at 100,000 by default."""
    counting(usage, log_factor=10)
    number = usage.of_new_key()
    counters = []
    for more in (100, 900, 99_000):
        number = used(usage, number, more)
        counters.append(usage.frequency(number))
    assert counters == [
        pytest.approx(9, abs=2),
        pytest.approx(19, abs=3),
        pytest.approx(146, abs=8),
    ]


def test_the_counter_loses_one_for_each_decay_time(usage: Usage, clock: Clock) -> None:
    counting(usage, decay_minutes=2)
    number = used(usage, usage.of_new_key(), 5)
    clock.now_ms += 5 * MINUTE_MS
    assert usage.frequency(number) == 8
    assert usage.frequency(usage.after_use(number)) == 9
    clock.now_ms += 1000 * MINUTE_MS
    assert usage.frequency(number) == 0


def test_a_decay_time_of_0_takes_nothing(usage: Usage, clock: Clock) -> None:
    counting(usage, decay_minutes=0)
    number = usage.of_new_key()
    clock.now_ms += 60_000 * MINUTE_MS
    assert usage.frequency(number) == 5


def test_time_passes_the_greatest_minute_there_is(usage: Usage, clock: Clock) -> None:
    clock.now_ms = (65_535 + 3 * 65_536) * MINUTE_MS
    counting(usage)
    number = usage.of_new_key()
    clock.now_ms += 2 * MINUTE_MS
    assert usage.frequency(number) == 3


def test_a_huge_log_factor_counts_nothing_beyond_the_first_use(usage: Usage) -> None:
    counting(usage, log_factor=2**31 - 1)
    assert usage.frequency(used(usage, usage.of_new_key(), 1000)) == 6


def test_what_is_loaded_is_as_idle_or_as_frequent_as_it_says(usage: Usage) -> None:
    assert usage.idle_s(usage.of_loaded_key(500, -1)) == 500
    assert usage.idle_s(usage.of_loaded_key(-1, 200)) == 0
    assert usage.idle_s(usage.of_loaded_key(10**10, -1)) == NOW_MS // 1000
    counting(usage)
    assert usage.frequency(usage.of_loaded_key(-1, 200)) == 200
    assert usage.frequency(usage.of_loaded_key(500, -1)) == 5


def test_a_key_of_another_policy_counts_as_new_when_it_was_used(usage: Usage, clock: Clock) -> None:
    number = usage.of_new_key()
    clock.now_ms += 2 * MINUTE_MS
    counting(usage)
    assert usage.frequency(number) == 3
    assert usage.frequency(usage.after_use(number)) == 4


def test_a_counted_key_is_idle_for_whole_minutes(usage: Usage, clock: Clock) -> None:
    number = counting(usage).of_new_key()
    usage.counts = False
    clock.now_ms += 3 * MINUTE_MS
    assert usage.idle_s(number) == 180


@given(
    number=st.integers(0, 2**32 - 1),
    now_s=st.integers(0, 2**32 - 1),
    counts=st.booleans(),
    decay_minutes=st.integers(0, 2**31 - 1),
    log_factor=st.integers(0, 2**31 - 1),
)
def test_any_number_at_any_time_makes_sense(
    number: int, now_s: int, counts: bool, decay_minutes: int, log_factor: int
) -> None:
    clock = Clock()
    clock.now_ms = 1000 * now_s
    usage = Usage(clock, Chance(1))
    usage.counts, usage.decay_minutes, usage.log_factor = counts, decay_minutes, log_factor
    assert usage.idle_s(number) >= 0
    assert 0 <= usage.frequency(number) <= 255
    assert 0 <= usage.after_use(number) < 2**32
