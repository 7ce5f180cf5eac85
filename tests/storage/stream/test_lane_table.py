"""The table of lanes does what a dictionary does, wherever its numbers belong."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import allocation
from storage.stream import lane_table
from storage.stream.lane import Lane
from storage.stream.lane_table import KEPT, PLACE, LaneTable
from storage.stream.pending import new_pending

U64 = 2**64 - 1
UNDONE = pow(lane_table.FACTOR, -1, 2**64)  # a number times the factor times this is the number


def number_at(place: int, low: int) -> int:
    """A number that belongs to *place* of eight, and to one after *place* * 2 of sixteen ..."""
    return ((place << 61 | low) * UNDONE & U64) or 1


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


@pytest.mark.parametrize("step", [1, -1])
def test_it_grows_and_shrinks_and_its_memory_is_counted(step):
    gc.collect()
    before = allocation.used_bytes()
    table = LaneTable()
    empty = allocation.used_bytes() - before
    items = {number: item_of(number) for number in range(1, 5001)}
    used = allocation.used_bytes()
    for number, item in items.items():
        table.add(number, item)
    assert 24 * 5000 <= allocation.used_bytes() - used <= 48 * 5000
    for number in list(items)[::step]:
        assert table.remove(number, items[number])
    assert table.size == 0
    assert allocation.used_bytes() - used == PLACE * (KEPT - 8)
    del items, item
    gc.collect()
    assert allocation.used_bytes() - before == empty + PLACE * (KEPT - 8)
    del table
    gc.collect()
    assert allocation.used_bytes() == before
