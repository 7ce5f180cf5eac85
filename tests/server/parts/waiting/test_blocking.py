"""The registry of waiters: their queues, the order in which they are served, and deadlines.

Harness.run_again takes the place of the commands that the waiters run again.
"""

from __future__ import annotations

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.client.client import Client
from server.observe.memory import Memory
from server.parts.waiting.alarms import MANY_STALE
from server.parts.waiting.blocking import MOST_LEFT, Blocking
from server.parts.waiting.wait_queue import Spot
from server.process.timers import NoTimers
from server.table.command import new_block
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from tests.worth import rounds


class Harness:
    """The registry of waiters, its databases, and a record of what became of each waiter."""

    def __init__(self):
        events = KeyEvents()
        self.databases = [Keyspace(index, events) for index in range(3)]
        self.blocking = Blocking(self.databases, Memory())
        self.ran = []  # client ids, in the order in which their commands ran again
        self.over = []  # (client id, reply) of the waits that timed out
        self.now_ms = 0
        self.takes = True  # whether a woken waiter takes an element

    def park(
        self,
        number,
        *keys,
        kind=list,
        timeout_ms=0,
        on_no_key=False,
        now_ms=0,
        db=0,
        wake_ms=-1,
        speaks_for=None,
        for_more=False,
        reads_as=None,
        but_for=None,
    ):
        client = Client(number, 0)
        client.db_index = db
        over = f"over {number}".encode()
        block = new_block(
            list(keys), kind, timeout_ms, over,
            on_no_key=on_no_key, wake_ms=wake_ms, speaks_for=speaks_for, for_more=for_more,
            reads_as=reads_as, but_for=but_for,
        )  # fmt: skip
        self.blocking.park(client, [b"cmd"], block, now_ms)
        return client

    def put(self, key, *items, db=0):
        self.databases[db].put(key, list(items))
        self.blocking.key_ready(db, key)

    def serve(self):
        while (waiter := self.blocking.next_woken()) is not None:
            block = self.run_again(waiter)
            if block is None:
                self.blocking.forget(waiter)
            else:
                self.blocking.wait_on(waiter, block, self.now_ms)
        return self.ran

    def run_again(self, waiter):
        """Do what BLPOP does: take the first element of the first list, or block again."""
        self.ran.append(waiter.client.id)
        db = self.databases[waiter.client.db_index]
        for key in waiter.block.keys:
            items = db.find(key, ANY)
            if self.takes and isinstance(items, list) and items:
                items.pop(0)
                if not items:
                    db.remove(key)
                return None
        return waiter.block

    def expire(self, now_ms):
        self.now_ms = max(self.now_ms, now_ms)
        while (waiter := self.blocking.next_over(now_ms)) is not None:
            if waiter.client.waiter is waiter:
                self.serve()
            else:
                self.over.append((waiter.client.id, waiter.block.when_over))


@pytest.fixture
def harness():
    return Harness()


# ---------------------------------------------------------------------- order


def test_waiters_are_served_in_the_order_in_which_they_blocked(harness):
    for number in (3, 1, 2):
        harness.park(number, b"a")
    harness.put(b"a", b"x", b"y")
    assert harness.serve() == [3, 1]
    assert list(harness.blocking.queues) == [(0, b"a")]
    assert harness.blocking.waiting == 1


def test_a_key_without_waiters_does_not_become_ready(harness):
    harness.put(b"a", b"x")
    assert harness.blocking.first_ready is None


def test_keys_are_served_in_the_order_in_which_they_became_ready(harness):
    harness.park(1, b"a")
    harness.park(2, b"b")
    harness.put(b"b", b"x")
    harness.put(b"a", b"x")
    harness.put(b"b", b"x", b"y")
    assert harness.serve() == [2, 1]


def test_a_waiter_that_blocks_again_goes_to_the_tail_of_all_its_queues(harness):
    first = harness.park(1, b"a", b"b")
    harness.park(2, b"a", b"b")
    harness.takes = False
    harness.put(b"a", b"x")
    assert harness.serve() == [1, 2]
    harness.park(3, b"b")
    assert first.waiter is not None
    harness.blocking.forget(next(iter(harness.blocking.queues[0, b"a"])))
    harness.takes = True
    harness.put(b"b", b"x", b"y", b"z")
    assert harness.serve() == [1, 2, 2, 3]


def test_each_waiter_runs_once_when_a_key_is_served(harness):
    harness.park(1, b"a", kind=dict)
    harness.park(2, b"a")
    harness.park(3, b"a", kind=dict)
    harness.park(4, b"a")
    harness.takes = False
    harness.put(b"a", b"x")
    assert harness.serve() == [2, 4]


def serve_with(harness, stock):
    """Serve the waiters of a key whose value stays, *stock* of which get something."""
    left = [None] * stock

    def run_again(waiter):
        harness.ran.append(waiter.client.id)
        return left.pop() if left else waiter.block

    harness.run_again = run_again
    harness.ran.clear()
    harness.put(b"a", "x")
    return harness.serve()


def test_one_that_waits_on_speaks_for_all_of_its_name(harness):
    for number in range(1, 5):
        harness.park(number, b"a", speaks_for=b"g")
    assert serve_with(harness, 0) == [1]
    assert serve_with(harness, 1) == [1, 2]
    harness.park(1, b"a", speaks_for=b"g")
    assert serve_with(harness, 4) == [2, 3, 4, 1]


def test_names_are_kept_apart_and_who_has_none_looks_for_itself(harness):
    for number, name in enumerate((b"g", None, b"h", b"g", b"h", None)):
        harness.park(number, b"a", speaks_for=name)
    assert serve_with(harness, 0) == [0, 1, 2, 5]
    assert serve_with(harness, 1) == [0, 1, 2, 3, 5]
    assert serve_with(harness, 5) == [1, 2, 3, 4, 5]  # in the order in which they blocked


def test_the_alarm_of_one_that_leaves_is_passed_on(harness):
    harness.takes = False
    harness.databases[0].put(b"a", [1])
    speaker, _, other = (
        harness.park(number, b"a", wake_ms=wake_ms, speaks_for=b"g")
        for number, wake_ms in ((1, 50), (2, 0), (3, 0))
    )
    harness.blocking.client_left(speaker)
    harness.expire(49)
    assert harness.ran == []
    harness.expire(50)
    assert harness.ran == [2]
    harness.blocking.client_left(other)
    assert len(harness.blocking.queues) == 1


def test_what_one_is_given_is_seen_by_the_next_and_by_those_before(harness):
    """None looks twice, but who had looked before the delivery."""

    def deliver_to_2(waiter):
        harness.ran.append(waiter.client.id)
        if waiter.client.id != 2:
            return waiter.block
        harness.blocking.delivered(0, b"a")
        return None

    harness.run_again = deliver_to_2
    for number in (2, 3):
        harness.park(number, b"a", wake_ms=0)
    harness.put(b"a", "x")
    assert harness.serve() == [2, 3]
    harness.ran.clear()
    harness.park(2, b"a", wake_ms=0)
    harness.put(b"a", "x")
    assert harness.serve() == [3, 2, 3]


def test_who_delivers_and_waits_on_looks_again(harness):
    """As a consumer whose read makes dead letters of what left it no room."""
    looks = iter((True, False))

    def bury(waiter):
        harness.ran.append(waiter.client.id)
        if next(looks):
            harness.blocking.delivered(0, b"a")
        return waiter.block

    harness.run_again = bury
    harness.park(1, b"a", wake_ms=0, speaks_for=b"g")
    harness.put(b"a", "x")
    assert harness.serve() == [1, 1]


def test_a_waiter_for_another_type_is_not_woken(harness):
    harness.park(1, b"a", kind=dict)
    harness.park(2, b"a")
    harness.put(b"a", b"x")
    assert harness.serve() == [2]


def test_a_key_that_was_removed_again_wakes_no_waiter(harness):
    harness.park(1, b"a")
    harness.put(b"a", b"x")
    harness.databases[0].remove(b"a")
    assert harness.serve() == []


def test_a_key_that_was_removed_before_it_was_made_is_served_behind_those_made_earlier(harness):
    harness.park(1, b"a")
    harness.park(2, b"b")
    harness.databases[0].put(b"a", "another type")
    harness.blocking.key_removed(0, b"a")
    harness.put(b"b", b"x")
    harness.put(b"a", b"x")
    assert harness.serve() == [2, 1]


def test_a_removed_key_wakes_waiters_with_on_no_key(harness):
    harness.park(1, b"a", on_no_key=True)
    harness.blocking.key_removed(0, b"a")
    assert harness.serve() == [1]


def test_a_missing_key_wakes_waiters_with_on_no_key(harness):
    harness.park(1, b"a")
    harness.park(2, b"a", kind=dict, on_no_key=True)
    harness.blocking.key_ready(0, b"a")
    assert harness.serve() == [2]


def test_a_key_of_another_type_wakes_waiters_with_on_no_key(harness):
    harness.park(1, b"a", kind=dict, on_no_key=True)
    harness.park(2, b"a", kind=dict)
    harness.put(b"a", b"x")
    harness.takes = False
    assert harness.serve() == [1]


def test_a_waiter_may_be_served_from_a_key_that_did_not_wake_it(harness):
    harness.park(1, b"a", b"b")
    harness.put(b"b", b"y")
    harness.put(b"a", b"x")
    assert harness.serve() == [1]
    assert list(harness.databases[0].keys()) == [b"b"]
    assert harness.blocking.queues == {}


def test_a_waiter_has_one_place_in_the_queue_of_a_key_named_twice(harness):
    harness.park(1, b"a", b"a", on_no_key=True)
    assert harness.blocking.waiting_keys() == (1, 1)
    harness.put(b"a", b"x", b"y")
    assert harness.serve() == [1]
    assert (harness.blocking.queues, harness.blocking.waiting) == ({}, 0)


def test_a_key_that_a_served_waiter_makes_ready_is_served_in_the_same_call(harness):
    harness.park(1, b"a")
    harness.park(2, b"b")

    run_again = harness.run_again

    def move(waiter):
        if waiter.client.id == 1:
            harness.put(b"b", b"x")
        return run_again(waiter)

    harness.run_again = move
    harness.put(b"a", b"x")
    assert harness.serve() == [1, 2]
    assert harness.blocking.queues == {}


def test_a_key_wakes_only_waiters_of_its_own_database(harness):
    harness.park(1, b"a", db=1)
    harness.put(b"a", b"x", db=0)
    assert harness.serve() == []
    harness.put(b"a", b"x", db=1)
    assert harness.serve() == [1]


def test_swapped_databases_make_all_their_keys_ready(harness):
    for number, db in enumerate((0, 1, 2)):
        harness.park(number, b"a", db=db)
        harness.databases[db].put(b"a", [b"x"])
    harness.blocking.emptied([harness.databases[2], harness.databases[0]])
    assert harness.serve() == [2, 0]


# ---------------------------------------------------------------------- deadlines


def test_waits_end_in_the_order_of_their_deadlines(harness):
    for number, timeout_ms in ((1, 300), (2, 100), (3, 200), (4, 0)):
        harness.park(number, b"a", timeout_ms=timeout_ms)
    assert harness.blocking.next_deadline_ms == 100
    harness.expire(99)
    assert harness.over == []
    harness.expire(250)
    assert harness.over == [(2, b"over 2"), (3, b"over 3")]
    assert harness.blocking.next_deadline_ms == 300
    harness.expire(10**9)
    assert harness.over[2:] == [(1, b"over 1")]
    assert harness.blocking.waiting == 1


def test_waits_with_the_same_deadline_end_in_the_order_in_which_they_began(harness):
    for number in (2, 1, 3):
        harness.park(number, b"a", timeout_ms=100)
    harness.expire(100)
    assert [number for number, _ in harness.over] == [2, 1, 3]


def test_a_waiter_that_blocks_again_keeps_its_deadline(harness):
    harness.park(1, b"a", timeout_ms=100)
    harness.takes = False
    harness.put(b"a", b"x")
    harness.serve()
    harness.expire(100)
    assert harness.over == [(1, b"over 1")]


def test_a_served_waiter_does_not_time_out(harness):
    harness.park(1, b"a", timeout_ms=100)
    harness.put(b"a", b"x")
    harness.serve()
    harness.expire(100)
    assert harness.over == []
    assert harness.blocking.next_deadline_ms is None


def test_deadlines_of_waits_that_ended_early_do_not_pile_up(harness):
    keeps = harness.park(0, b"a", timeout_ms=10**6)
    for number in range(1, 10 * MANY_STALE):
        harness.blocking.forget(harness.park(number, b"a", timeout_ms=10**6).waiter)
        assert len(harness.blocking._alarms) <= 2 * MANY_STALE + 3
    assert keeps.waiter is not None
    harness.expire(10**6)
    assert harness.over == [(0, b"over 0")]


def test_cron_is_told_of_the_next_deadline(harness):
    told: list[int] = []

    class Told(NoTimers):
        def wait_until(self, due_ms: int) -> None:
            told.append(due_ms)

    harness.blocking.timers = Told()
    harness.park(1, b"a", timeout_ms=100, now_ms=1000)
    harness.park(2, b"a")
    harness.park(3, b"a", timeout_ms=200, now_ms=1000)
    harness.park(4, b"a", timeout_ms=50, now_ms=1001)
    assert told == [1100, 1051]


# ---------------------------------------------------------------------- the waiter


def test_forget_removes_every_trace_of_a_waiter(harness):
    client = harness.park(1, b"a", b"b", b"a", timeout_ms=5, on_no_key=True)
    harness.blocking.forget(client.waiter)
    assert (harness.blocking.queues, harness.blocking.waiting) == ({}, 0)
    assert harness.blocking.waiting_keys() == (0, 0)
    assert client.waiter is None
    harness.expire(10)
    assert harness.over == []


def test_a_waiter_keeps_the_argv_of_its_block(harness):
    client = Client(1, 0)
    block = new_block([b"a"], list, 0, None, argv=[b"XREAD", b"5-1"])
    harness.blocking.park(client, [b"XREAD", b"$"], block, 0)
    assert client.waiter is not None
    assert client.waiter.argv == [b"XREAD", b"5-1"]


# ---------------------------------------------------------------------- moments


def test_a_waiter_is_woken_at_its_moment_and_its_wait_goes_on(harness):
    harness.takes = False
    harness.databases[0].put(b"a", [1])
    client = harness.park(1, b"a", timeout_ms=500, wake_ms=100)
    assert harness.blocking.next_deadline_ms == 100
    harness.expire(99)
    assert harness.ran == []
    harness.expire(100)
    assert harness.ran == [1]
    assert harness.blocking.next_deadline_ms == 200  # it has blocked for as long again
    harness.expire(499)
    assert (harness.ran, harness.over) == ([1, 1], [])
    harness.expire(500)
    assert harness.over == [(1, b"over 1")]
    assert client.waiter is None


def test_moments_and_ends_come_in_their_order(harness):
    harness.databases[0].put(b"a", [1])
    harness.park(1, b"a", timeout_ms=50)
    harness.park(2, b"a", timeout_ms=150, wake_ms=100)
    harness.park(3, b"a", timeout_ms=120)
    harness.expire(1000)
    assert harness.over == [(1, b"over 1"), (3, b"over 3")]
    assert harness.ran == [2]


def test_an_earlier_moment_takes_the_place_of_a_later_one(harness):
    harness.takes = False
    harness.databases[0].put(b"a", [1])
    client = harness.park(1, b"a", wake_ms=1000)
    for wake_ms in (2000, 300, 700):
        block = new_block([b"a"], list, 0, b"over", wake_ms=wake_ms)
        harness.blocking.wait_on(client.waiter, block, 0)
    assert harness.blocking.next_deadline_ms == 300
    assert client.waiter.wake_at_ms == 300


def test_deliveries_wake_those_that_would_claim_and_no_others(harness):
    harness.databases[0].put(b"a", [1])
    harness.park(1, b"a")
    harness.blocking.delivered(0, b"a")
    assert harness.serve() == []
    harness.park(2, b"a", wake_ms=0)
    harness.takes = False
    harness.blocking.delivered(0, b"b")
    harness.blocking.delivered(2, b"a")
    assert harness.serve() == []
    harness.blocking.delivered(0, b"a")
    assert harness.serve() == [1, 2]


def test_moments_of_waiters_that_have_left_are_dropped_when_they_are_the_majority(harness):
    keeps = harness.park(0, b"a", wake_ms=10**6)
    for number in range(1, 300):
        harness.blocking.forget(harness.park(number, b"a", wake_ms=10**6 + number).waiter)
    assert len(harness.blocking._alarms) < 150
    assert keeps.waiter.wake_at_ms == 10**6
    for number in range(300, 400):
        harness.blocking.forget(
            harness.park(number, b"a", timeout_ms=10**6, wake_ms=10**6 + number).waiter
        )
    harness.expire(10**9)
    assert harness.blocking.next_deadline_ms is None


def test_the_alarms_of_one_moment_have_each_key_served_once(harness):
    """Of a thousand readers with CLAIM, each one's alarm had all thousand run again."""
    harness.takes = False
    for number in range(1, 6):
        harness.park(number, b"a", wake_ms=10)
    harness.park(9, b"b", timeout_ms=12)
    harness.put(b"a", b"x")
    harness.serve()
    harness.ran.clear()
    harness.expire(15)
    assert sorted(harness.ran) == [1, 2, 3, 4, 5]
    assert [client for client, _ in harness.over] == [9]


def test_who_speaks_for_all_but_one_consumer_has_that_one_run(harness):
    harness.takes = False
    for number, name in enumerate((b"bob", b"cid", b"ann", b"dan")):
        but_for = b"ann" if name != b"ann" else None
        harness.park(number, b"a", speaks_for=b"g", reads_as=name, but_for=but_for)
    harness.put(b"a", b"x")
    assert harness.serve() == [0, 2]
    assert [waiter.client.id for waiter in harness.blocking.queues[0, b"a"]] == [0, 1, 2, 3]
    harness.blocking.key_ready(0, b"a")
    assert harness.serve() == [0, 2, 0, 2]


def test_whom_one_does_not_speak_for_in_a_service_matters_in_that_one_only(harness):
    harness.takes = False
    harness.park(1, b"a", speaks_for=b"g", reads_as=b"bob", but_for=b"ann")
    for number, (group, name) in enumerate([(b"g", b"bob"), (b"h", b"cid"), (b"g", b"ann")], 2):
        harness.park(number, b"b", speaks_for=group, reads_as=name)
    harness.put(b"a", b"x")
    harness.put(b"b", b"x")
    assert harness.serve() == [1, 2, 3]


# ---------------------------------------------------------------------- waiters for other kinds


def test_who_waits_for_another_kind_is_passed_over_once_in_a_service(harness):
    for number in range(3):
        harness.park(number, b"a", kind=dict)
    for number in range(3, 6):
        harness.park(number, b"a")
    harness.put(b"a", b"x", b"y", b"z")
    queue = harness.blocking.queues[0, b"a"]
    for number in range(3, 6):
        waiter = harness.blocking.next_woken()
        assert waiter.client.id == number
        # Here the next search begins.
        assert queue.passed.waiter.client.id == 2
        harness.blocking.forget(waiter)
    assert harness.blocking.next_woken() is None


KINDS: dict[object, list[bytes] | dict[bytes, bytes]] = {list: [b"x"], dict: {b"f": b"x"}}

waiters = st.fixed_dictionaries({
    "kind": st.sampled_from(list(KINDS)), "on_no_key": st.booleans(), "for_more": st.booleans(),
    "speaks_for": st.sampled_from([None, b"one", b"other"]),
})  # fmt: skip
# What a command does when it is run again: whether it is answered, which client leaves, what kind
# of value the key has then, and who begins to wait.
runs = st.tuples(
    st.booleans(),
    st.none() | st.integers(0, 7),
    st.sampled_from([None, list, dict, "gone"]),
    st.none() | waiters,
)


class Line:
    """What next_woken() promises, as simply as possible: each search begins at the oldest."""

    def __init__(self, all_waiters):
        self.line = list(enumerate(all_waiters))
        self.speaker = all_waiters[0]["speaks_for"]
        self.had_turn = set()
        self.silent = set()
        self.some_wait_on = self.is_over = False

    def next_woken(self, kind):
        if self.is_over or (
            kind is None and not any(waiter["on_no_key"] for _, waiter in self.line)
        ):
            return None
        for spot in self.line:
            number, waiter = spot
            if number in self.had_turn:
                if not waiter["for_more"]:
                    return None
            elif waiter["kind"] is kind or waiter["on_no_key"]:
                self.had_turn.add(number)
                if waiter["speaks_for"] not in self.silent:
                    return number
                self.line.remove(spot)
                self.line.append(spot)
                return self.next_woken(kind)
        return None

    def leave(self, number):
        self.line = [spot for spot in self.line if spot[0] != number]

    def wait_on(self, number):
        spot = next(spot for spot in self.line if spot[0] == number)
        name = spot[1]["speaks_for"]
        if spot[1]["for_more"]:
            return
        is_first, self.some_wait_on = not self.some_wait_on, True
        all_speak = all(each["speaks_for"] == self.speaker for _, each in self.line)
        if name is not None and is_first and all_speak:
            self.is_over = True
            return
        if name is not None:
            self.silent.add(name)
        self.line.remove(spot)
        self.line.append(spot)


@settings(max_examples=rounds(300))
@given(st.lists(waiters, min_size=1, max_size=8), st.lists(runs, min_size=1, max_size=12))
def test_the_order_is_the_same_as_if_each_search_began_at_the_oldest(all_waiters, steps):
    harness, model = Harness(), Line(all_waiters)
    clients = [harness.park(number, b"a", **waiter) for number, waiter in enumerate(all_waiters)]
    harness.put(b"a", b"x")
    db = harness.databases[0]
    kind: type | None = list
    for is_answered, leaves, becomes, comes in steps:
        woken = harness.blocking.next_woken()
        number = model.next_woken(kind)
        assert (None if woken is None else woken.client.id) == number
        if woken is None:
            return
        others = [client for client in clients if client.waiter and client.id != number]
        if leaves is not None and others:
            gone = others[leaves % len(others)]
            harness.blocking.forget(gone.waiter)
            model.leave(gone.id)
        if comes is not None:
            model.line.append((len(clients), comes))
            clients.append(harness.park(len(clients), b"a", **comes))
        if becomes == "gone" and kind is not None:
            db.remove(b"a")
            kind = None
        elif becomes in KINDS:
            kind = becomes
            db.put(b"a", KINDS[kind])
        if is_answered:
            harness.blocking.forget(woken)
            model.leave(number)
            if not model.line:
                return  # the next to wait has a queue of its own
        else:
            harness.blocking.wait_on(woken, woken.block, 0)
            model.wait_on(number)


def test_a_key_whose_waiters_have_left_is_not_served(harness):
    client = harness.park(1, b"a")
    harness.blocking.forget(client.waiter)
    harness.put(b"a", b"x")
    assert harness.blocking.first_ready is None


def test_who_waits_again_is_served_before_and_after_a_tick(harness):
    for ticks in (0, 1, 2):
        harness.park(ticks, b"a")
        for _ in range(ticks):
            harness.blocking.tick(0)
        harness.put(b"a", b"x")
        assert harness.serve() == [*range(ticks + 1)]
    harness.blocking.tick(0)
    assert harness.blocking._queues == [{}]


def test_not_too_many_queues_are_kept_without_waiters(harness):
    for number in range(MOST_LEFT + 1):
        client = harness.park(number, b"%d" % number)
        assert len(harness.blocking._left) <= MOST_LEFT
        harness.blocking.forget(client.waiter)
    assert len(harness.blocking._queues[0]) == 1


def test_a_removal_wakes_those_whose_wish_for_it_came_later(harness):
    """wait_on() gives a waiter another Block, which may mind that the key goes."""
    client = harness.park(1, b"a")
    harness.blocking.key_removed(0, b"a")
    assert harness.blocking.first_ready is None
    block = new_block([b"a"], list, 0, b"", on_no_key=True)
    harness.blocking.wait_on(client.waiter, block, 0)
    harness.blocking.key_removed(0, b"a")
    assert harness.blocking.next_woken() is client.waiter
    harness.blocking.forget(client.waiter)
    harness.park(2, b"a")
    harness.blocking.key_removed(0, b"a")
    assert harness.blocking.first_ready is None


def test_places_that_are_used_again_keep_no_others(harness):
    """Once, each kept those of its last waiter, and so on: one more in each round."""

    def places():
        return sum(type(thing) is Spot for thing in gc.get_objects())

    before = places()
    harness.park(0, b"R", b"A", b"B")
    leaver = harness.park(1, b"A", b"R")
    harness.blocking.forget(leaver.waiter)
    first, second = b"A", b"B"
    for number in range(100):
        one = harness.park(2, second, first)
        other = harness.park(3, first)
        for client in (one, other):
            harness.blocking.forget(client.waiter)
        first, second = second, first
        if number % 10 == 0:
            harness.blocking.tick(0)
    gc.collect()
    assert places() - before < 10
