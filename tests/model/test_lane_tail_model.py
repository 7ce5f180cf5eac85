"""LaneTail against a dictionary: pending entries that come and go in any order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from storage import allocation
from storage.stream.lane_tail import FEW, MANY, LaneTail
from storage.stream.pending import Pending, new_pending
from tests.used_memory import used_at_start
from tests.worth import rounds

# What a group does: entries come in the order of their ids, and leave in front, or anywhere.
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ("add", "add", "add", "add many", "fill", "pop", "pop many", "remove", "insert")
        ),
        st.integers(0, 400),
    ),
    max_size=60,
)
in_order = steps.map(lambda found: [step for step in found if step[0] != "insert"])


def entry(number: int) -> Pending:
    return new_pending(number // 3, number % 3, 0, 1, 0, 7)


def number_of(pending: Pending | None) -> int | None:
    return None if pending is None else pending.ms * 3 + pending.seq


class Pair:
    """A tail, and what it should have, by number."""

    def __init__(self) -> None:
        self.tail = LaneTail()
        self.model: dict[int, Pending] = {}
        self.last = 1000

    def add(self, number: int) -> None:
        if number not in self.model:
            self.model[number] = entry(number)
            self.tail.add(self.model[number])

    def add_more(self, times: int, number: int) -> None:
        for _ in range(times):
            self.last += 1 + number % 3
            self.add(self.last)

    def do(self, step: str, number: int) -> None:
        if step.startswith("add"):
            self.add_more(3 * FEW if step == "add many" else 1, number)
        elif step == "fill":  # so that there is a middle
            self.add_more(MANY, number)
        elif step.startswith("pop"):
            for _ in range(2 * FEW if step == "pop many" else 1):
                first = self.model.pop(min(self.model)) if self.model else None
                assert self.tail.pop() is first
        elif step == "insert":
            self.add(self.last - number)
        elif self.model:
            gone = sorted(self.model)[number * len(self.model) // 401]
            self.tail.remove(self.model.pop(gone))

    def check(self) -> None:
        kept = sorted(self.model)
        assert self.tail.size() == len(kept)
        assert number_of(self.tail.first()) == (kept[0] if kept else None)
        walked, at = [], self.tail.after(entry(0))
        while at is not None:
            assert at is self.model[number_of(at) or 0]
            walked.append(number_of(at))
            at = self.tail.after(at)
        assert walked == kept
        for one, other in pairwise(kept):  # also of such that it has not
            between = (one + other) // 2
            assert number_of(self.tail.after(entry(between))) == other


def compare(found: list[tuple[str, int]]) -> None:
    pair = Pair()
    for step, number in found:
        pair.do(step, number)
        assert pair.tail.size() == len(pair.model)
    pair.check()


@settings(max_examples=rounds(200))
@given(steps)
def test_it_has_what_was_added_in_any_order(found: list[tuple[str, int]]) -> None:
    compare(found)


@settings(max_examples=rounds(200))
@given(in_order)
def test_it_has_what_was_added_in_order(found: list[tuple[str, int]]) -> None:
    compare(found)


@settings(max_examples=rounds(50))
@given(steps)
def test_its_memory_is_counted_and_given_back(found: list[tuple[str, int]]) -> None:
    before, pair = used_at_start(), Pair()
    for step, number in found:
        pair.do(step, number)
    assert allocation.used_bytes() - before >= 9 * len(pair.model)
    del pair
    assert allocation.used_bytes() == before


def test_what_it_has_not_is_not_removed() -> None:
    tail = LaneTail()
    tail.add(entry(3))
    for number in (1, 3, 5):  # of the second it has one with that id, but not this one
        tail.remove(entry(number))
    assert tail.size() == 1


def test_one_from_the_middle_of_many_moves_few_others() -> None:
    """A consumer that had every second entry of a lane was removed in a time of N squared."""
    tail, count = LaneTail(), 4 * MANY
    entries = [entry(number) for number in range(count)]
    before = used_at_start()
    for one in entries:
        tail.add(one)
    as_list = allocation.used_bytes() - before
    assert as_list == 9 * count
    for one in entries[: 2 * FEW : 2]:  # near the front others move
        tail.remove(one)
    assert 9 * tail.size() <= allocation.used_bytes() - before <= as_list
    tail.remove(entries[-2])  # and near the end
    assert 9 * tail.size() <= allocation.used_bytes() - before < as_list
    tail.remove(entries[count // 2])  # here it is a tree that they are in from then on
    assert allocation.used_bytes() - before > as_list
    gone = {*range(0, 2 * FEW, 2), count - 2, count // 2}
    kept = [number for number in range(count) if number not in gone]
    assert [number_of(tail.pop()) for _ in kept] == kept
    assert tail.size() == 0


def test_places_that_are_gone_are_counted_until_they_are_freed() -> None:
    before, tail = used_at_start(), LaneTail()
    of_object = allocation.used_bytes() - before
    for number in range(FEW):
        tail.add(entry(number))
    for _ in range(FEW):
        tail.pop()
    assert tail.size() == 0
    assert allocation.used_bytes() - before == of_object + 9 * FEW
