"""The table of lanes does what a dictionary does, wherever its numbers belong."""

from __future__ import annotations

import gc
import sys
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import allocation
from storage.stream.lane import Lane
from storage.stream.lane_table import CHAIN, FEW, KEPT, SPARSE, LaneTable
from storage.stream.pending import Pending, new_pending
from tests.used_memory import used_at_start

U64 = 2**64 - 1


# Few numbers whose ends are alike, so that they crowd in few chains; and any others.
ends, rests = st.sampled_from((0, 1, 7)), st.integers(0, 9)
crowded = st.builds(lambda end, rest: end | rest << 3 | 1 << 40, ends, rests)
numbers = st.one_of(crowded, st.integers(1, U64))
steps = st.lists(st.tuples(st.sampled_from(("add", "add", "add", "remove", "clear")), numbers))


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
            assert table.add(number, item) is (model.setdefault(number, item) is item)
        elif step == "remove":
            held = model.pop(number, None)
            assert not table.remove(number, item_of(number))
            if held is not None:
                assert table.remove(number, held)
        elif number % 5 == 0:
            table.clear()
            model.clear()
        assert table.size == len(model)
        assert all(table.find(each) is item for each, item in model.items())
        assert table.has(number) is (table.find(number) is not None) is (number in model)
    assert sorted(map(id, table.items())) == sorted(map(id, model.values()))


def spread(number: int) -> int:
    """Another number, as a hash is."""
    return number * 0x9E3779B97F4A7C15 & U64


def test_chains_are_split_and_joined_again():
    dice, table, model = Random(1), LaneTable(), dict[int, Any]()
    for most in (20_000, 3_000, 10_000, 100, 5_000, 0):
        while len(model) != most:
            if len(model) < most:
                number = spread(dice.randrange(1, 10**6))
                model.setdefault(number, item := item_of(number))
                assert table.add(number, item) is (model[number] is item)
            else:
                number = next(iter(model)) if dice.random() < 0.5 else next(reversed(model))
                assert table.remove(number, model.pop(number))
        assert table.size == most
        assert all(table.find(number) is item for number, item in model.items())
        assert sorted(map(id, table.items())) == sorted(map(id, model.values()))


def table_of(items: dict[int, Any]) -> LaneTable:
    table = LaneTable()
    for number, item in items.items():
        assert table.add(number, item)
    return table


def test_what_was_cleared_comes_into_another_table():
    """The items of one table do not know those that followed them in an earlier one."""
    items = {number: item_of(number) for number in range(1, 2001)}
    first = table_of(items)
    first.clear()
    assert first.items() == []
    odd = {number: item for number, item in items.items() if number % 2}
    second = table_of(odd)
    assert sorted(map(id, second.items())) == sorted(map(id, odd.values()))
    assert second.find(2) is first.find(1) is None


def test_an_item_is_in_one_table_only():
    """Else who gives one table up would give up items of the other."""
    item = item_of(7)
    first, second = table_of({7: item}), LaneTable()
    for table in (first, second):
        with pytest.raises(ValueError, match="cannot be put"):
            table.add(8, item)
    assert first.find(7) is item
    assert second.size == 0


@pytest.mark.parametrize("stranger", [None, b"7", new_pending(1, 1, 0, 1, 0)])
def test_nothing_else_is_an_item(stranger: Pending | bytes | None):
    table = LaneTable()
    with pytest.raises(ValueError, match="cannot be put"):
        table.add(7, stranger)
    assert table.items() == []


@pytest.mark.parametrize("ends", ["remove", "clear", "del"])
def test_items_are_kept_alive_by_their_table(ends: str):
    items = {number: item_of(number) for number in map(spread, range(1, 101))}
    before = {number: sys.getrefcount(item) for number, item in items.items()}
    table = table_of(items)
    counts = [sys.getrefcount(item) - before[number] for number, item in items.items()]
    assert min(counts) == 1
    if ends == "remove":
        for number in list(items):
            table.remove(number, items[number])
    elif ends == "clear":
        table.clear()
    del table
    gc.collect()
    assert {number: sys.getrefcount(item) for number, item in items.items()} == before


def test_no_call_moves_many():
    """A table grows by a chain, and shrinks by a few; only its room doubles at once."""
    items = {number: item_of(number) for number in map(spread, range(1, 9001))}
    table, before = LaneTable(), used_at_start()
    rooms = []
    for number, item in items.items():
        table.add(number, item)
        rooms.append(allocation.used_bytes() - before)
    for number, item in items.items():
        table.remove(number, item)
        rooms.append(allocation.used_bytes() - before)
    assert max(rooms) == CHAIN * (16384 - FEW)
    assert rooms[-1] == CHAIN * (2 * KEPT - FEW)
    assert len([1 for one, two in pairwise(rooms) if one != two]) == 11 + 3


def test_a_table_that_has_shrunk_does_not_grow_and_shrink_in_turn():
    """One that was larger was joined at each item that left it, and split at each that came."""
    items = {number: item_of(number) for number in map(spread, range(1, 1026))}
    table = table_of(items)
    while table.size >= KEPT // SPARSE:
        assert table.remove(*items.popitem())
    used = []
    for number in map(spread, range(2000, 2009)):
        assert table.add(number, item := item_of(number))
        used.append(allocation.used_bytes())
        assert table.remove(number, item)
        used.append(allocation.used_bytes())
    assert len(set(used)) == 1


@pytest.mark.parametrize("step", [1, -1])
def test_it_grows_and_shrinks_and_its_memory_is_counted(step):
    before = used_at_start()
    table = LaneTable()
    empty = allocation.used_bytes() - before
    items = {number: item_of(number) for number in map(spread, range(1, 5001))}
    used = allocation.used_bytes()
    for number, item in items.items():
        table.add(number, item)
    assert allocation.used_bytes() - used == CHAIN * (8192 - FEW)
    for number in list(items)[::step]:
        assert table.remove(number, items[number])
    assert table.size == 0
    assert allocation.used_bytes() - used == CHAIN * (2 * KEPT - FEW)
    del items, item
    gc.collect()
    assert allocation.used_bytes() - before == empty + CHAIN * (2 * KEPT - FEW)
    del table
    gc.collect()
    assert allocation.used_bytes() == before
