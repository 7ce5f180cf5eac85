"""Distances: known ones, and what holds for all."""

from __future__ import annotations

from math import isclose, pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.geo import sphere

HALF_WAY_ROUND = sphere.EARTH_RADIUS * pi
LONGITUDES = st.floats(-180, 180)
LATITUDES = st.floats(-90, 90)
PLACES = st.tuples(LONGITUDES, LATITUDES)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((0, 0), (180, 0), 1),
        ((0, 90), (77, -90), 1),
        ((-90, 0), (90, 0), 1),
        ((0, 0), (0, 45), 0.25),
        ((0, 0), (90, 0), 0.5),
        ((10, 0), (20, 90), 0.5),
        ((179, 0), (-179, 0), 2 / 180),
        ((5, 5), (5, 5), 0),
    ],
)
def test_distances_are_shares_of_half_of_the_equator(
    one: tuple[float, float], other: tuple[float, float], share: float
) -> None:
    assert isclose(sphere.distance(*one, *other), share * HALF_WAY_ROUND, rel_tol=1e-7)


@given(PLACES, PLACES)
def test_a_distance_is_the_same_both_ways_and_at_least_that_of_the_latitudes(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    distance = sphere.distance(*one, *other)
    assert 0 <= distance <= HALF_WAY_ROUND * (1 + 1e-15)
    assert isclose(distance, sphere.distance(*other, *one), rel_tol=1e-9, abs_tol=1e-9)
    apart = sphere.latitude_distance(one[1], other[1])
    assert distance >= apart * (1 - 1e-7) - 1e-9  # m


@given(st.floats(0, 1e6), st.floats(-80, 80))
def test_a_width_in_degrees_is_that_distance(width: float, latitude: float) -> None:
    degrees = sphere.degrees_east(width, latitude)
    along_the_parallel = width * 1.5 + 1e-6  # a great circle is shorter than the parallel
    assert sphere.distance(0, latitude, degrees, latitude) <= along_the_parallel
    north = sphere.degrees_north(width)
    assert isclose(sphere.distance(0, 0, 0, north), width, rel_tol=1e-9, abs_tol=1e-9)
