"""The registry of waiters: their queues, the order in which they are served, and deadlines.

Desk.run_again takes the place of the commands that the waiters run again.
"""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.dispatch.blocking import MANY_STALE, Blocking, Runner
from server.table.command import Block
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace


class Desk(Runner):
    """The registry of waiters, its databases, and a record of what became of each waiter."""

    def __init__(self):
        events = KeyEvents()
        self.databases = [Keyspace(index, events) for index in range(3)]
        self.blocking = Blocking(self.databases)
        self.ran = []  # client ids, in the order in which their commands ran again
        self.over = []  # (client id, reply) of the waits that timed out
        self.takes = True  # whether a woken waiter takes an element

    def park(self, number, *keys, kind=list, timeout_ms=0, on_no_key=False, now_ms=0, db=0):
        client = Client(number, 0)
        client.db_index = db
        block = Block(list(keys), kind, timeout_ms, f"over {number}".encode(), on_no_key=on_no_key)
        self.blocking.park(client, [b"cmd"], block, now_ms)
        return client

    def put(self, key, *items, db=0):
        self.databases[db].put(key, list(items))
        self.blocking.key_ready(db, key)

    def serve(self):
        self.blocking.serve(self)
        return self.ran

    def run_again(self, waiter):
        """Do what BLPOP does: take the first element of the first list, or block again."""
        self.ran.append(waiter.client.id)
        db = self.databases[waiter.client.db_index]
        for key in waiter.block.keys:
            items = db.get(key)
            if self.takes and isinstance(items, list) and items:
                items.pop(0)
                if not items:
                    db.remove(key)
                return None
        return waiter.block

    def expire(self, now_ms):
        self.blocking.expire(now_ms, lambda w, reply: self.over.append((w.client.id, reply)))


@pytest.fixture
def desk():
    return Desk()


# ---------------------------------------------------------------------- order


def test_waiters_are_served_in_the_order_in_which_they_blocked(desk):
    for number in (3, 1, 2):
        desk.park(number, b"a")
    desk.put(b"a", b"x", b"y")
    assert desk.serve() == [3, 1]
    assert list(desk.blocking.queues) == [(0, b"a")]
    assert desk.blocking.waiting == 1


def test_a_key_without_waiters_does_not_become_ready(desk):
    desk.put(b"a", b"x")
    assert desk.blocking.first_ready is None


def test_keys_are_served_in_the_order_in_which_they_became_ready(desk):
    desk.park(1, b"a")
    desk.park(2, b"b")
    desk.put(b"b", b"x")
    desk.put(b"a", b"x")
    desk.put(b"b", b"x", b"y")
    assert desk.serve() == [2, 1]


def test_a_waiter_that_blocks_again_goes_to_the_tail_of_all_its_queues(desk):
    first = desk.park(1, b"a", b"b")
    desk.park(2, b"a", b"b")
    desk.takes = False
    desk.put(b"a", b"x")
    assert desk.serve() == [1, 2]
    desk.park(3, b"b")
    assert first.waiter is not None
    desk.blocking.forget(next(iter(desk.blocking.queues[0, b"a"])))
    desk.takes = True
    desk.put(b"b", b"x", b"y", b"z")
    assert desk.serve() == [1, 2, 2, 3]


def test_each_waiter_runs_once_when_a_key_is_served(desk):
    desk.park(1, b"a", kind=dict)
    desk.park(2, b"a")
    desk.park(3, b"a", kind=dict)
    desk.park(4, b"a")
    desk.takes = False
    desk.put(b"a", b"x")
    assert desk.serve() == [2, 4]


def test_a_waiter_for_another_type_is_not_woken(desk):
    desk.park(1, b"a", kind=dict)
    desk.park(2, b"a")
    desk.put(b"a", b"x")
    assert desk.serve() == [2]


def test_a_key_that_was_removed_again_wakes_no_waiter(desk):
    desk.park(1, b"a")
    desk.put(b"a", b"x")
    desk.databases[0].remove(b"a")
    assert desk.serve() == []


def test_a_missing_key_wakes_waiters_with_on_no_key(desk):
    desk.park(1, b"a")
    desk.park(2, b"a", kind=dict, on_no_key=True)
    desk.blocking.key_ready(0, b"a")
    assert desk.serve() == [2]


def test_a_key_of_another_type_wakes_waiters_with_on_no_key(desk):
    desk.park(1, b"a", kind=dict, on_no_key=True)
    desk.park(2, b"a", kind=dict)
    desk.put(b"a", b"x")
    desk.takes = False
    assert desk.serve() == [1]


def test_a_waiter_may_be_served_from_a_key_that_did_not_wake_it(desk):
    desk.park(1, b"a", b"b")
    desk.put(b"b", b"y")
    desk.put(b"a", b"x")
    assert desk.serve() == [1]
    assert list(desk.databases[0].keys()) == [b"b"]
    assert desk.blocking.queues == {}


def test_a_waiter_has_one_place_in_the_queue_of_a_key_named_twice(desk):
    desk.park(1, b"a", b"a", on_no_key=True)
    assert desk.blocking.waiting_keys() == (1, 1)
    desk.put(b"a", b"x", b"y")
    assert desk.serve() == [1]
    assert (desk.blocking.queues, desk.blocking.waiting) == ({}, 0)


def test_a_key_that_a_served_waiter_makes_ready_is_served_in_the_same_call(desk):
    desk.park(1, b"a")
    desk.park(2, b"b")

    class Mover(Runner):
        def run_again(self, waiter):
            if waiter.client.id == 1:
                desk.put(b"b", b"x")
            return desk.run_again(waiter)

    desk.put(b"a", b"x")
    desk.blocking.serve(Mover())
    assert desk.ran == [1, 2]
    assert desk.blocking.queues == {}


def test_a_key_wakes_only_waiters_of_its_own_database(desk):
    desk.park(1, b"a", db=1)
    desk.put(b"a", b"x", db=0)
    assert desk.serve() == []
    desk.put(b"a", b"x", db=1)
    assert desk.serve() == [1]


def test_swapped_databases_make_all_their_keys_ready(desk):
    for number, db in enumerate((0, 1, 2)):
        desk.park(number, b"a", db=db)
        desk.databases[db].put(b"a", [b"x"])
    desk.blocking.emptied([desk.databases[2], desk.databases[0]])
    assert desk.serve() == [2, 0]


# ---------------------------------------------------------------------- deadlines


def test_waits_end_in_the_order_of_their_deadlines(desk):
    for number, timeout_ms in ((1, 300), (2, 100), (3, 200), (4, 0)):
        desk.park(number, b"a", timeout_ms=timeout_ms)
    assert desk.blocking.next_deadline_ms == 100
    desk.expire(99)
    assert desk.over == []
    desk.expire(250)
    assert desk.over == [(2, b"over 2"), (3, b"over 3")]
    assert desk.blocking.next_deadline_ms == 300
    desk.expire(10**9)
    assert desk.over[2:] == [(1, b"over 1")]
    assert desk.blocking.waiting == 1


def test_waits_with_the_same_deadline_end_in_the_order_in_which_they_began(desk):
    for number in (2, 1, 3):
        desk.park(number, b"a", timeout_ms=100)
    desk.expire(100)
    assert [number for number, _ in desk.over] == [2, 1, 3]


def test_a_waiter_that_blocks_again_keeps_its_deadline(desk):
    desk.park(1, b"a", timeout_ms=100)
    desk.takes = False
    desk.put(b"a", b"x")
    desk.serve()
    desk.expire(100)
    assert desk.over == [(1, b"over 1")]


def test_a_served_waiter_does_not_time_out(desk):
    desk.park(1, b"a", timeout_ms=100)
    desk.put(b"a", b"x")
    desk.serve()
    desk.expire(100)
    assert desk.over == []
    assert desk.blocking.next_deadline_ms is None


def test_deadlines_of_waits_that_ended_early_do_not_pile_up(desk):
    keeps = desk.park(0, b"a", timeout_ms=10**6)
    for number in range(1, 10 * MANY_STALE):
        desk.blocking.forget(desk.park(number, b"a", timeout_ms=10**6).waiter)
        assert len(desk.blocking._deadlines) <= 2 * MANY_STALE + 3
    assert keeps.waiter is not None
    desk.expire(10**6)
    assert desk.over == [(0, b"over 0")]


def test_cron_is_told_of_each_deadline(desk):
    told: list[int] = []
    desk.blocking.on_deadline = told.append
    desk.park(1, b"a", timeout_ms=100, now_ms=1000)
    desk.park(2, b"a")
    assert told == [1100]


# ---------------------------------------------------------------------- the waiter


def test_forget_removes_every_trace_of_a_waiter(desk):
    client = desk.park(1, b"a", b"b", b"a", timeout_ms=5, on_no_key=True)
    desk.blocking.forget(client.waiter)
    assert (desk.blocking.queues, desk.blocking.waiting) == ({}, 0)
    assert desk.blocking.waiting_keys() == (0, 0)
    assert client.waiter is None
    desk.expire(10)
    assert desk.over == []


def test_a_waiter_keeps_the_argv_of_its_block(desk):
    client = Client(1, 0)
    block = Block([b"a"], list, 0, None, argv=[b"XREAD", b"5-1"])
    desk.blocking.park(client, [b"XREAD", b"$"], block, 0)
    assert client.waiter is not None
    assert client.waiter.argv == [b"XREAD", b"5-1"]
