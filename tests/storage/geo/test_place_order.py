"""Sorting: all places stably, and the first few of many, whatever their distances are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storage.geo import place_marks, place_order
from storage.geo.place_order import ASCENDING, DESCENDING

ORDERS = st.sampled_from([ASCENDING, DESCENDING])
DISTANCES = st.lists(
    st.sampled_from([0.0, 1.0, 2.0]) | st.integers(0, 9).map(float) | st.floats(0, 2e7),
    max_size=200,
)


def marks_of(distances: list[float]) -> bytearray:
    """Marks whose spots are their numbers; and one after them, which must stay as it is."""
    marks = bytearray((len(distances) + 1) * place_marks.MARK)
    for at, distance in enumerate([*distances, -1.0]):
        place_marks.put(marks, at, distance, distance + 1, at)
    return marks


def sorted_stably(distances: list[float], order: int) -> list[tuple[float, int]]:
    numbered = [(distance, at) for at, distance in enumerate(distances)]
    return sorted(numbered, key=lambda pair: pair[0] * order)


def pairs_of(marks: bytearray, count: int) -> list[tuple[float, int]]:
    for at in range(count):
        assert place_marks.score_at(marks, at) == place_marks.distance_at(marks, at) + 1
    assert place_marks.distance_at(marks, count) == -1
    return [
        (place_marks.distance_at(marks, at), place_marks.spot_at(marks, at)) for at in range(count)
    ]


@given(DISTANCES, ORDERS)
def test_all_are_sorted_and_equal_ones_keep_their_order(distances: list[float], order: int) -> None:
    marks = marks_of(distances)
    place_order.sort(marks, len(distances), order)
    assert pairs_of(marks, len(distances)) == sorted_stably(distances, order)


@given(DISTANCES, ORDERS, st.data())
def test_the_first_few_are_in_place_and_nothing_is_lost(
    distances: list[float], order: int, data: st.DataObject
) -> None:
    count = len(distances)
    first = data.draw(st.integers(0, count))
    marks = marks_of(distances)
    place_order.sort_first(marks, count, first, order)
    found = pairs_of(marks, count)
    expected = sorted_stably(distances, order)
    assert [distance for distance, _ in found[:first]] == [d for d, _ in expected[:first]]
    assert sorted(found) == sorted(expected)


def test_many_in_any_order_need_few_calls_inside_calls() -> None:
    for distances in (
        [1.0] * 5000,
        [float(n) for n in range(5000)],
        [float(n % 7) for n in range(5000, 0, -1)],
        [float(min(n, 5000 - n)) for n in range(5000)],
    ):
        marks = marks_of(distances)
        place_order.sort_first(marks, 5000, 4999, ASCENDING)
        assert [d for d, _ in pairs_of(marks, 5000)] == sorted(distances)
