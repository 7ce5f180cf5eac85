"""Places as scores: those of Redis, and what is lost on the way there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.geo import geohash

# What is further east is rounded to 180 degrees, where a score needs more bits than it has.
EASTERNMOST = 180 - 2**-44
LONGITUDES = st.floats(-180, EASTERNMOST)
LATITUDES = st.floats(-geohash.LATITUDE_MAX, geohash.LATITUDE_MAX)
STEPS = st.integers(1, geohash.FINEST)
U32 = st.integers(0, 2**32 - 1)

# Half of a cell, and some room for rounding.
LONGITUDE_ERROR = 360 / 2**26 / 2 * 1.001
LATITUDE_ERROR = geohash.HEIGHT / 2**26 / 2 * 1.001


@pytest.mark.parametrize(
    ("longitude", "latitude", "score", "text"),
    [
        (13.361389, 38.115556, 3479099956230698, b"sqc8b49rny0"),
        (15.087269, 37.502669, 3479447370796909, b"sqdtr74hyu0"),
        (0, 0, 3377699720527872, b"s0000000000"),
        (-180, -85.05112878, 0, b"00bh0"),
        (180, 85.05112878, 2**53 + 2**52, b"bp"),
    ],
)
def test_scores_and_geohashes_are_those_of_redis(
    longitude: float, latitude: float, score: int, text: bytes
) -> None:
    assert geohash.score_of(longitude, latitude) == score
    assert geohash.text_of(score).startswith(text)


@given(U32, U32)
def test_the_bits_of_a_cell_are_those_of_its_column_and_row(column: int, row: int) -> None:
    bits = geohash.cell(column, row)
    assert f"{bits:064b}"[::2] == f"{column:032b}"
    assert f"{bits:064b}"[1::2] == f"{row:032b}"
    assert (geohash.gathered(bits >> 1), geohash.gathered(bits)) == (column, row)


@given(LONGITUDES, LATITUDES)
def test_a_place_is_in_the_middle_of_its_cell(longitude: float, latitude: float) -> None:
    score = geohash.score_of(longitude, latitude)
    assert abs(geohash.longitude_of(score) - longitude) <= LONGITUDE_ERROR
    assert abs(geohash.latitude_of(score) - latitude) <= LATITUDE_ERROR


@given(st.integers(0, 2**52 - 1))
def test_a_score_that_was_read_and_written_is_the_same(score: int) -> None:
    longitude, latitude = geohash.longitude_of(score), geohash.latitude_of(score)
    assert geohash.score_of(longitude, latitude) == score


@given(LONGITUDES, LATITUDES, STEPS)
def test_the_cells_of_a_coarser_step_hold_those_of_the_finest(
    longitude: float, latitude: float, step: int
) -> None:
    coarse = geohash.cell(geohash.column_of(longitude, step), geohash.row_of(latitude, step))
    score = geohash.score_of(longitude, latitude)
    shift = 2 * (geohash.FINEST - step)
    assert coarse << shift <= score < coarse + 1 << shift


@given(st.floats(allow_nan=False))
def test_whatever_the_score_is_the_place_is_on_the_map(score: float) -> None:
    assert abs(geohash.longitude_of(score)) <= geohash.LONGITUDE_MAX
    assert abs(geohash.latitude_of(score)) <= geohash.LATITUDE_MAX
    assert set(geohash.text_of(score)) <= set(geohash.LETTERS)


@given(LONGITUDES | st.sampled_from([0.5, 100.0, 1e-300, 5e-18]))
def test_the_text_of_an_angle_has_17_digits_behind_the_point_at_most(degrees: float) -> None:
    text = geohash.degrees_text(degrees)
    assert text == (b"%.17f" % degrees).rstrip(b"0").rstrip(b".")


@given(st.from_regex(rb"\A-?[0-9]{0,12}\.?[0-9]{0,12}\Z"))
def test_a_short_decimal_is_read_as_the_double_that_it_says(text: bytes) -> None:
    found = geohash.read_degrees(text)
    whole, point, behind = text.removeprefix(b"-").partition(b".")
    is_short = bool(whole and point and behind) and len(whole + behind) <= geohash.SHORT
    assert found == (float(text) if is_short else float("inf"))
