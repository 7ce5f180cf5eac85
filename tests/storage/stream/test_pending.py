"""Pending entries: DeliveryQueue, which orders them by delivery time, and delivery counts."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.stream import pending as pendings
from storage.stream.pending import (
    MAX_COUNT,
    NOBODY,
    DeliveryQueue,
    Pending,
    any_released,
    count_of,
    count_up,
    id_of,
    new_pending,
    set_count,
)
from storage.stream.stream_id import U64_MAX, StreamId


def delivered(ms: int, at: int) -> Pending:
    return new_pending(ms, 0, at, 1, NOBODY)


def queue_of(*times: int) -> tuple[DeliveryQueue, list[Pending]]:
    """Entries 0-0, 1-0, ... delivered at *times*."""
    queue = DeliveryQueue()
    entries = [delivered(ms, at) for ms, at in enumerate(times)]
    for entry in entries:
        queue.add(entry)
    return queue, entries


def ids(queue: DeliveryQueue) -> list[int]:
    """The ms of the entries, oldest first, after a check of the links in both directions."""
    forward = [entry.ms for entry in queue]
    backward = []
    entry = queue.newest()
    while entry is not None:
        backward.append(entry.ms)
        entry = pendings.older_of(entry)
    assert backward == forward[::-1]
    return forward


def test_entries_are_ordered_by_delivery_time() -> None:
    assert ids(queue_of(10, 30, 20, 5)[0]) == [3, 0, 2, 1]


def test_entries_of_equal_times_keep_the_order_of_addition() -> None:
    assert ids(queue_of(10, 20, 10, 20)[0]) == [0, 2, 1, 3]


def test_oldest_and_newest_are_the_ends_of_the_queue() -> None:
    queue, entries = queue_of(10, 30, 20)
    assert queue.oldest() is entries[0]
    assert queue.newest() is entries[1]
    empty = DeliveryQueue()
    assert (empty.oldest(), empty.newest(), ids(empty)) == (None, None, [])


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_any_entry_can_be_removed(gone: int) -> None:
    queue, entries = queue_of(10, 20, 30)
    queue.remove(entries[gone])
    assert ids(queue) == [ms for ms in range(3) if ms != gone]
    assert (pendings.older_of(entries[gone]), pendings.newer_of(entries[gone])) == (None, None)


def test_the_only_entry_can_be_removed_and_added_again() -> None:
    queue, [entry] = queue_of(10)
    queue.remove(entry)
    assert ids(queue) == []
    queue.add(entry)
    assert ids(queue) == [0]


def test_an_entry_can_be_removed_while_iterating() -> None:
    queue, entries = queue_of(10, 20, 30)
    for entry in queue:
        queue.remove(entry)
    assert ids(queue) == []
    assert all(pendings.newer_of(entry) is None for entry in entries)


@given(st.lists(st.integers(0, 5)), st.data())
def test_additions_and_removals_keep_the_order(times: list[int], data: st.DataObject) -> None:
    queue, entries = queue_of(*times)
    model = sorted(entries, key=lambda entry: entry.delivery_time)
    for entry in data.draw(st.permutations(entries)):
        assert ids(queue) == [other.ms for other in model]
        queue.remove(entry)
        model.remove(entry)
        if data.draw(st.booleans()):
            entry.delivery_time = data.draw(st.integers(0, 5))
            queue.add(entry)
            later = [o for o in model if o.delivery_time > entry.delivery_time]
            model.insert(len(model) - len(later), entry)
    assert ids(queue) == [other.ms for other in model]


def test_a_queue_keeps_its_entries_alive() -> None:
    queue = DeliveryQueue()
    for ms in range(100):
        queue.add(delivered(ms, ms))
    gc.collect()
    assert ids(queue) == list(range(100))


def test_a_freed_queue_unlinks_its_entries() -> None:
    queue, entries = queue_of(10, 20, 30)
    del queue
    gc.collect()
    assert [(pendings.older_of(entry), pendings.newer_of(entry)) for entry in entries] == [
        (None, None)
    ] * 3


def test_a_long_queue_is_freed_without_recursion() -> None:
    queue = DeliveryQueue()
    for ms in range(200_000):
        queue.add(delivered(ms, ms))
    del queue


def test_the_delivery_count_saturates_at_both_ends() -> None:
    entry = delivered(1, 1)
    set_count(entry, MAX_COUNT - 1)
    count_up(entry)
    count_up(entry)
    assert entry.delivery_count == MAX_COUNT
    set_count(entry, 2**63 - 1)
    assert entry.delivery_count == MAX_COUNT
    set_count(entry, -1)
    assert entry.delivery_count == 0


def test_id_of_gives_an_entry_s_id() -> None:
    assert id_of(new_pending(U64_MAX, U64_MAX - 1, 0, 1, NOBODY)) == StreamId(U64_MAX, U64_MAX - 1)


def test_released_entries_come_first_in_the_order_of_their_release() -> None:
    queue = DeliveryQueue()
    entries = [new_pending(ms, 0, 100 * ms, 1, 1) for ms in range(1, 6)]
    for entry in entries:
        queue.add(entry)
    assert not queue.has_released()
    for entry in (entries[3], entries[0], entries[4]):
        queue.remove(entry)
        queue.release(entry)
    assert [entry.ms for entry in queue] == [4, 1, 5, 2, 3]
    assert [entry.ms for entry in queue.released()] == [4, 1, 5]
    assert [entry.delivery_time for entry in queue] == [0, 0, 0, 200, 300]

    queue.remove(entries[4])  # the last one released
    queue.add(new_pending(6, 0, -5, 1, 1))  # older than all, but not released
    assert [entry.ms for entry in queue] == [4, 1, 6, 2, 3]
    queue.remove(entries[3])
    queue.remove(entries[0])
    assert not queue.has_released()
    assert queue.released() == []
    queue.release(entries[0])
    assert [entry.ms for entry in queue] == [1, 6, 2, 3]
    queue.clear()
    assert not queue.has_released()


def test_the_greatest_count_is_shown_as_that_of_redis() -> None:
    entry = new_pending(1, 0, 0, MAX_COUNT - 1, 1)
    assert count_of(entry) == MAX_COUNT - 1
    count_up(entry)
    assert count_of(entry) == 2**63 - 1


def test_queues_with_released_entries_are_counted() -> None:
    gc.collect()  # what other tests have left
    assert not any_released()
    first, second = DeliveryQueue(), DeliveryQueue()
    entries = [delivered(ms, 0) for ms in range(3)]
    first.release(entries[0])
    first.release(entries[1])
    second.release(entries[2])
    assert any_released()
    first.remove(entries[1])
    first.remove(entries[0])
    assert any_released()
    second.clear()
    assert not any_released()
    second.release(entries[0])
    del second
    assert not any_released()
