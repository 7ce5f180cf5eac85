"""The queue of the clients blocked on one key, compared with a plain list."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from server.client.client import Client, Waiter, new_waiter
from server.parts.waiting.wait_queue import Queue, forget_left, new_queue
from server.table.command import new_block
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

STEPS = ("add", "leave", "tail", "forget")
steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 20)))


def a_queue(registry, left=None):
    return new_queue(Keyspace(0, KeyEvents()), b"k", registry, left)


def a_waiter(number, on_no_key=False):
    return new_waiter(Client(number, 0), [], new_block([], list, 0, None, on_no_key=on_no_key), 0)


@given(steps, st.booleans())
def test_waiters_keep_their_order_when_others_leave_or_go_to_the_tail(steps, forgets_later):
    registry: dict[bytes, Queue] = {}
    left: list[Queue] | None = [] if forgets_later else None
    model: list[Waiter] = []
    queue = a_queue({}, left)
    for number, (step, at) in enumerate(steps):
        if step == "add":
            if not registry:
                queue = a_queue(registry, left)
            model.append(a_waiter(number, on_no_key=bool(at % 2)))
            queue.append_waiter(model[-1])
        elif step == "forget" and left is not None:
            forget_left(left)
            assert left == []
            assert bool(registry) == bool(model)
        elif model and step != "forget":
            waiter = model.pop(at % len(model))
            standing = waiter.standing
            assert standing is not None
            if step == "leave":
                standing.leave()
            else:
                standing.go_to_tail()
                model.append(waiter)
        assert list(queue) == model
        assert registry == ({b"k": queue} if model or left else {})
        assert queue.on_no_key == sum(waiter.block.on_no_key for waiter in model)


def test_a_waiter_has_one_place_in_a_queue():
    queue, waiter = a_queue({}), a_waiter(1)
    queue.append_waiter(waiter)
    queue.append_waiter(waiter)
    assert list(queue) == [waiter]
    assert waiter.standing.at_next_key is None


def test_a_queue_is_registered_while_it_has_waiters():
    registry: dict[bytes, Queue] = {}
    queue, waiters = a_queue(registry), [a_waiter(1), a_waiter(2)]
    for waiter in waiters:
        queue.append_waiter(waiter)
    waiters[0].standing.leave()
    assert registry == {b"k": queue}
    waiters[1].standing.leave()
    assert registry == {}


def test_a_queue_that_was_left_has_nothing_of_those_who_left():
    registry: dict[bytes, Queue] = {}
    left: list[Queue] = []
    queue = a_queue(registry, left)
    waiter = new_waiter(
        Client(1, 0), [], new_block([], list, 0, None, wake_ms=0, speaks_for=b"group"), 0
    )
    client = waiter.client
    queue.append_waiter(waiter)
    assert queue.claims_for_others
    standing, waiter.standing = waiter.standing, None
    assert standing is not None
    standing.leave()
    assert (registry, left) == ({b"k": queue}, [queue])
    assert not queue.claims_for_others
    del waiter
    assert sys.getrefcount(client) == 2  # this name, and the call
    again = a_waiter(2)
    queue.append_waiter(again)
    assert again.standing is standing  # the place is used again
    assert (queue.speaker, queue.strangers) == (None, 1)
    forget_left(left)
    assert (registry, list(queue)) == ({b"k": queue}, [again])
    standing.leave()
    forget_left(left)
    assert registry == {}
