"""Chance: even, within its limits, and the same for the same seed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storage.chance import Chance


@given(seed=st.integers(0, 2**70), limit=st.integers(1, 2**32))
def test_a_number_is_below_its_limit(seed: int, limit: int) -> None:
    chance = Chance(seed)
    assert all(0 <= chance.below(limit) < limit for _ in range(10))


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, same, other = Chance(7), Chance(7), Chance(8)
    numbers = [one.below(2**32) for _ in range(20)]
    assert numbers == [same.below(2**32) for _ in range(20)]
    assert numbers != [other.below(2**32) for _ in range(20)]


def test_the_numbers_are_those_of_xorshift64star() -> None:
    chance = Chance(1)
    assert [chance.below(2**32) for _ in range(3)] == [0x47E4CE4B, 0xABCFA6A8, 0xB9D10D8F]


def test_all_numbers_are_about_as_frequent() -> None:
    chance = Chance(3)
    counts = [0] * 10
    for _ in range(10_000):
        counts[chance.below(10)] += 1
    assert all(900 < count < 1100 for count in counts)
