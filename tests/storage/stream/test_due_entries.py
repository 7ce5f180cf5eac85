"""Which entries BACKOFF need not hold: a queue that is walked in parts, and changes meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.stream import pending as pendings
from storage.stream.pending import NOBODY, DeliveryQueue, Pending, new_pending

ANN = 1  # an owner
NOW = 1000


def owned(ms: int, at: int) -> Pending:
    return new_pending(ms, 0, at, 1, ANN)


def queue_of(*times: int) -> tuple[DeliveryQueue, list[Pending]]:
    queue = DeliveryQueue()
    entries = [owned(ms, at) for ms, at in enumerate(times)]
    for entry in entries:
        queue.add(entry, NOW)
    return queue, entries


def walk(queue: DeliveryQueue, most: int) -> list[Pending]:
    """Find the next *most* entries due, and return them."""
    found: list[Pending] = []
    entry = queue.first_not_due(NOW)
    while entry is not None and len(found) < most:
        queue.is_due(entry, NOW)
        found.append(entry)
        entry = pendings.newer_of(entry)
    return found


def test_a_walk_goes_on_where_the_last_one_stopped() -> None:
    queue, entries = queue_of(1, 2, 3, 4, 5)
    assert walk(queue, 2) == entries[:2]
    assert walk(queue, 2) == entries[2:4]
    assert walk(queue, 2) == entries[4:]
    assert walk(queue, 2) == []


@pytest.mark.parametrize("gone", range(4))
def test_what_leaves_does_not_matter(gone: int) -> None:
    queue, entries = queue_of(1, 2, 3, 4)
    walk(queue, 2)
    queue.remove(entries[gone])
    assert walk(queue, 9) == [entry for entry in entries[2:] if entry is not entries[gone]]


def test_the_first_leaves_with_released_ones_before_it() -> None:
    queue, (first, second, third) = queue_of(1, 2, 3)
    queue.remove(first)
    released = new_pending(0, 0, 0, 1, NOBODY)
    queue.release(released)
    assert walk(queue, 1) == [second]
    queue.remove(second)
    queue.remove(released)
    assert walk(queue, 9) == [third]


def test_what_was_released_is_not_looked_at() -> None:
    queue, (first, second) = queue_of(1, 2)
    queue.release(new_pending(7, 0, 0, 1, NOBODY))
    walk(queue, 1)
    queue.remove(first)
    queue.release(new_pending(8, 0, 0, 1, NOBODY))
    assert walk(queue, 9) == [second]


def test_by_a_clock_that_was_set_back_none_is_due() -> None:
    queue, entries = queue_of(1, 2)
    walk(queue, 9)
    assert queue.first_not_due(NOW) is None
    assert queue.first_not_due(NOW - 1) is entries[0]


def test_by_another_policy_none_is_due() -> None:
    queue, entries = queue_of(1, 2)
    walk(queue, 9)
    queue.look_again()
    assert queue.first_not_due(NOW) is entries[0]


@given(st.data())
def test_nothing_is_passed_over(data: st.DataObject) -> None:
    """Before the first that is not due stand none but those that were found due as they are."""
    queue, entries = queue_of(*sorted(data.draw(st.lists(st.integers(1, 9), max_size=8))))
    there, due = list(entries), set[int]()
    steps = data.draw(st.lists(st.sampled_from(["walk", "again", "remove", "release", "add"])))
    for number, step in enumerate(steps, len(entries)):
        if step == "walk":
            due |= {entry.ms for entry in walk(queue, data.draw(st.integers(1, 3)))}
        elif step != "add" and there:
            entry = there.pop(data.draw(st.integers(0, len(there) - 1)))
            queue.remove(entry)
        if step == "release":
            there.append(new_pending(number, 0, 0, 1, NOBODY))
            queue.release(there[-1])
        elif step in {"add", "again"}:
            there.append(owned(number, data.draw(st.integers(1, 9))))
            queue.add(there[-1], NOW)
        first = queue.first_not_due(NOW)
        owned_now = [entry for entry in queue if entry.consumer_index != NOBODY]
        passed = owned_now if first is None else owned_now[: owned_now.index(first)]
        assert {entry.ms for entry in passed} <= due
