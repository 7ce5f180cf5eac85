"""The queue of the clients blocked on one key, compared with a plain list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server.client.client import Client, new_waiter
from server.parts.waiting.wait_queue import Queue, new_queue
from server.table.command import new_block
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

steps = st.lists(st.tuples(st.sampled_from(("add", "leave", "tail")), st.integers(0, 20)))


def a_queue(registry):
    return new_queue(Keyspace(0, KeyEvents()), b"k", registry)


def a_waiter(number, on_no_key=False):
    return new_waiter(Client(number, 0), [], new_block([], list, 0, None, on_no_key=on_no_key), 0)


@given(steps)
def test_waiters_keep_their_order_when_others_leave_or_go_to_the_tail(steps):
    queue, model = a_queue({}), []
    for number, (step, at) in enumerate(steps):
        if step == "add":
            model.append(a_waiter(number, on_no_key=bool(at % 2)))
            queue.append_waiter(model[-1])
        elif len(model) > 1:
            waiter = model.pop(at % len(model))
            standing = waiter.standing
            if step == "leave":
                standing.leave()
            else:
                standing.go_to_tail()
                model.append(waiter)
        assert list(queue) == model
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
