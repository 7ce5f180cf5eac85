"""The search of an area: it finds what a look at every place finds, in the order of the ranges."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from storage.geo import geohash, search, sphere
from storage.geo.area import Area
from storage.limits import ListpackLimits
from storage.sorted_sets.sorted_set import SortedSet
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(200), deadline=None)
AS_TREE = ListpackLimits(0)
AS_LISTPACK = ListpackLimits(10_000)
LATITUDE_MAX = 85.05  # a place that is right on the edge of the map is found from there only
# What is further east is rounded to 180 degrees, where a score needs more bits than it has.
EASTERNMOST = 180 - 2**-44
LONGITUDES = st.floats(-180, EASTERNMOST) | st.sampled_from([-180.0, 179.99, 0.0])
LATITUDES = st.floats(-LATITUDE_MAX, LATITUDE_MAX)
HABITED = st.floats(-60, 60)  # further to the poles Redis misses some, and so do we
CIRCLES = st.floats(0, 1e6).map(lambda radius: (radius, radius, False))
BOXES = st.tuples(st.floats(0, 7e5), st.floats(0, 7e5), st.just(True))


@st.composite
def places_around(
    draw: st.DrawFn, centre: tuple[float, float], reach: float
) -> list[tuple[float, float]]:
    """Places, most of them about as far from the centre as the area reaches."""
    degrees = sphere.degrees_north(reach)
    away = st.floats(-2, 2).map(lambda share: share * degrees)
    near = st.tuples(away, away).map(
        lambda by: on_the_map(centre[0] + 2 * by[0], centre[1] + by[1])
    )
    return draw(st.lists(near | st.tuples(LONGITUDES, LATITUDES), max_size=40))


def on_the_map(longitude: float, latitude: float) -> tuple[float, float]:
    longitude = (longitude + 180) % 360 - 180
    return longitude, max(-LATITUDE_MAX, min(LATITUDE_MAX, latitude))


def set_of(places: list[tuple[float, float]], limits: ListpackLimits) -> SortedSet:
    values = SortedSet()
    for number, place in enumerate(places):
        values.put(
            b"m%d" % number if number % 3 else b"%d" % number, geohash.score_of(*place), limits
        )
    return values


def found_in(values: SortedSet, area: Area, most: int = 0) -> list[tuple[bytes, float, float]]:
    found = search.find(values, area, most)
    rows = []
    for at in range(found.count):
        found.go(at)
        rows.append((found.member(), found.score, found.distance))
    return rows


def brute_force(values: SortedSet, area: Area) -> list[tuple[bytes, float, float]]:
    """All members in the area, as a look at every one of them finds them."""
    rows = [(member, score, area.distance_of(score)) for member, score in values]
    return [row for row in rows if row[2] >= 0]


@SETTINGS
@given(st.data(), LONGITUDES, HABITED, CIRCLES | BOXES)
def test_a_search_finds_all_places_in_the_area_and_no_other(
    data: st.DataObject, longitude: float, latitude: float, shape: tuple[float, float, bool]
) -> None:
    wide, high, is_box = shape
    places = data.draw(places_around((longitude, latitude), max(wide, high)))
    area = Area(longitude, latitude, wide, high, 1.0, is_box)
    tree, pack = set_of(places, AS_TREE), set_of(places, AS_LISTPACK)
    found = found_in(tree, area)
    assert sorted(found) == sorted(brute_force(tree, area))
    assert found == found_in(pack, area)
    for most in (1, 2, len(found)):
        assert found_in(tree, area, most) == found[: most or None]
        assert found_in(pack, area, most) == found[: most or None]


@SETTINGS
@given(st.data(), LONGITUDES, LATITUDES, st.floats(0, 2.1e7), st.booleans())
def test_nowhere_is_anything_found_that_is_outside(
    data: st.DataObject, longitude: float, latitude: float, reach: float, is_box: bool
) -> None:
    places = data.draw(places_around((longitude, latitude), reach))
    area = Area(longitude, latitude, reach, reach, 1.0, is_box)
    values = set_of(places, AS_TREE)
    found = found_in(values, area)
    assert set(found) <= set(brute_force(values, area))
    assert len(set(found)) == len(found)
    if not is_box:
        for _, score, distance in found:
            place = geohash.longitude_of(score), geohash.latitude_of(score)
            assert distance == sphere.distance(longitude, latitude, *place) <= reach


@SETTINGS
@given(LONGITUDES, LATITUDES, st.floats(0, 2.1e7) | st.sampled_from([0.0, 1e300, float("inf")]))
def test_no_two_ranges_overlap(longitude: float, latitude: float, reach: float) -> None:
    ranges = Area(longitude, latitude, reach, reach, 1.0, False).ranges()
    assert 1 <= len(ranges) <= 9
    ordered = sorted(ranges)
    assert all(low < high for low, high in ordered)
    assert all(one[1] <= other[0] for one, other in pairwise(ordered))


def test_the_cell_of_the_centre_is_searched_first_then_those_around_it_in_redis_s_order() -> None:
    places = [(lon, lat) for lat in (-1.0, 0.5, 2.0) for lon in (-1.0, 0.5, 2.0)]
    values = set_of(places, AS_TREE)
    rows = found_in(values, Area(0.5, 0.5, 300.0, 300.0, 1000.0, False))
    found = [int(member.lstrip(b"m")) for member, _, _ in rows]
    assert found == [4, 5, 7, 8, 1, 2, 3, 6, 0]


def test_the_whole_earth_is_searched_in_four_ranges() -> None:
    for reach in (5.1e6, 2.1e7, float("inf")):
        ranges = Area(0.0, 0.0, reach, reach, 1.0, False).ranges()
        assert sorted(ranges) == [(n * 2.0**50, (n + 1) * 2.0**50) for n in range(4)]
