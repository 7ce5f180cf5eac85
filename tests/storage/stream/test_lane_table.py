"""The table of lanes does what a dictionary does, wherever its numbers belong."""

from __future__ import annotations

import gc
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import allocation
from storage.stream.lane import Lane
from storage.stream.lane_segment import PLACE
from storage.stream.lane_table import MOST, LaneTable
from storage.stream.pending import new_pending

U64 = 2**64 - 1


def number_at(place: int, low: int) -> int:
    """A number that belongs to *place* of eight, and to *place* and more of sixteen ..."""
    return place | low << 3 | 1 << 40


# Few numbers that crowd at few places, the last of them beside the first; and any others.
crowded = st.builds(number_at, st.sampled_from((0, 1, 6, 7)), st.integers(0, 9))
numbers = st.one_of(crowded, st.integers(1, U64))
steps = st.lists(st.tuples(st.sampled_from(("add", "add", "remove", "replace")), numbers))


def item_of(number: int):
    """A lane, or an entry that is the only one of its lane."""
    if number % 2:
        return new_pending(1, number % 1000, 0, 1, 0, number)
    lane = Lane.__new__(Lane)
    lane.begin(number, 0)
    return lane


@given(steps)
def test_it_is_as_a_dictionary(steps):
    table = LaneTable()
    model: dict[int, Any] = {}
    for step, number in steps:
        if step == "add":
            item = item_of(number)
            assert table.add(number, item) is model.setdefault(number, item)
        elif step == "remove":
            held = model.pop(number, None)
            assert not table.remove(number, item_of(number))
            if held is not None:
                assert table.remove(number, held)
        elif number in model:
            model[number] = item_of(number)
            table.replace(number, model[number])
        assert table.size == len(model)
        assert all(table.find(each) is item for each, item in model.items())
        assert (table.find(number) is None) == (number not in model)
    assert sorted(map(id, table.items())) == sorted(map(id, model.values()))


def spread(number: int) -> int:
    """Another number, as a hash is."""
    return number * 0x9E3779B97F4A7C15 & U64


def test_segments_become_two_and_one_again():
    dice, table, model = Random(1), LaneTable(), dict[int, Any]()
    for most in (20_000, 3_000, 10_000, 100, 5_000, 0):
        while len(model) != most:
            if len(model) < most:
                number = spread(dice.randrange(1, 10**6))
                model.setdefault(number, item := item_of(number))
                assert table.add(number, item) is model[number]
            else:
                number = next(iter(model)) if dice.random() < 0.5 else next(reversed(model))
                assert table.remove(number, model.pop(number))
        assert table.size == most
        assert all(table.find(number) is item for number, item in model.items())
        assert sorted(map(id, table.items())) == sorted(map(id, model.values()))


def test_numbers_that_are_much_alike_have_a_segment_of_their_own():
    """Hashes are not; but the directory has a limit."""
    table, before = LaneTable(), allocation.used_bytes()
    items = {number: item_of(number) for number in range(1, 3001)}
    for number, item in items.items():
        assert table.add(number, item) is item
    assert all(table.find(number) is item for number, item in items.items())
    assert allocation.used_bytes() - before < 20_000_000
    for number, item in items.items():
        assert table.remove(number, item)
    assert table.items() == []


@pytest.mark.parametrize("step", [1, -1])
def test_it_grows_and_shrinks_and_its_memory_is_counted(step):
    gc.collect()
    before = allocation.used_bytes()
    table = LaneTable()
    empty = allocation.used_bytes() - before
    items = {number: item_of(number) for number in map(spread, range(1, 5001))}
    used = allocation.used_bytes()
    for number, item in items.items():
        table.add(number, item)
    assert 24 * 5000 <= allocation.used_bytes() - used <= 48 * 5000
    for number in list(items)[::step]:
        assert table.remove(number, items[number])
    assert table.size == 0
    assert allocation.used_bytes() - used == PLACE * (MOST - 8)
    del items, item
    gc.collect()
    assert allocation.used_bytes() - before == empty + PLACE * (MOST - 8)
    del table
    gc.collect()
    assert allocation.used_bytes() == before
