"""CONSUMERTIMEOUT: a silent consumer is deleted, and what it had is the group's."""

from __future__ import annotations

from itertools import count

import pytest

from server.lifecycle.idle_consumers import IdleConsumers
from tests.server.commands.streams.test_group_policies import given, pending
from tests.server.conftest import NOTHING


class Ticks:
    """What cron does at each tick, 100 ms apart."""

    def __init__(self, server):
        self.server = server
        self._idle_consumers = IdleConsumers(server.state, lambda: 0.0)

    def __call__(self, ms):
        for _ in range(ms // 100):
            self.server.advance(100)
            self._idle_consumers.begin()
            self.server.turn(self._idle_consumers.run)


@pytest.fixture
def queue(server):
    """The stream s has 1-0 to 3-0. ann and bob, of its group g, have one each."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    for ms in range(1, 4):
        server.send("XADD", "s", f"{ms}-0", "job", ms)
    server.send_line("XGROUP CFGSET s g CONSUMERTIMEOUT 1000")
    for name in ("ann", "bob"):
        server.send_line(f"XREADGROUP GROUP g {name} COUNT 1 STREAMS s >")
    server.logged()
    return server


@pytest.fixture
def ticks(queue):
    return Ticks(queue)


def names(server):
    return [row[1] for row in server.send_line("XINFO CONSUMERS s g")]


def test_who_is_silent_is_deleted_and_what_it_had_is_the_group_s(queue, ticks):
    ticks(600)
    queue.send_line("XREADGROUP GROUP g bob COUNT 1 STREAMS s >")
    ticks(600)
    assert names(queue) == [b"ann", b"bob"]
    queue.logged()
    ticks(100)
    assert names(queue) == [b"bob"]
    assert pending(queue) == {1: (b"", 1), 2: (b"bob", 1), 3: (b"bob", 1)}
    assert queue.logged() == [
        b"XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 1 FORCE", b"XGROUP DELCONSUMER s g ann",
    ]  # fmt: skip


def test_who_waits_for_what_is_released_gets_it(queue, ticks):
    waiter = queue.client()
    waiter.send_line("XREADGROUP GROUP g cem CLAIM 100000 BLOCK 0 STREAMS s >")
    waiter.reply()
    waiter.send_line("XREADGROUP GROUP g cem CLAIM 100000 BLOCK 0 STREAMS s >")
    ticks(1500)
    assert given(waiter.reply()) == [1, 2]


def test_what_it_had_comes_next(queue, ticks):
    ticks(900)
    waiter = queue.client()
    line = "XREADGROUP GROUP g cem COUNT 2 BLOCK 0 STREAMS s >"
    assert given(waiter.send_line(line)) == [3]
    assert waiter.send_line(line) == NOTHING
    ticks(500)
    assert given(waiter.reply()) == [1, 2]
    assert queue.send_line("XREADGROUP GROUP g cem STREAMS s >") is None


def test_who_waits_is_not_silent(queue, ticks):
    queue.send_line("XREADGROUP GROUP g ann STREAMS s >")
    queue.send_line("XACK s g 2")
    waiter = queue.client()
    for _ in range(5):
        waiter.send_line("XREADGROUP GROUP g ann BLOCK 3000 STREAMS s >")
        ticks(3000)
        assert waiter.reply() is None
        assert b"ann" in names(queue)
        queue.advance(1)
    assert names(queue) == [b"ann"]


def test_who_is_gone_while_it_waits_is_silent(queue, ticks):
    queue.send_line("XREADGROUP GROUP g ann STREAMS s >")
    waiter = queue.client()
    waiter.send_line("XREADGROUP GROUP g ann BLOCK 0 STREAMS s >")
    ticks(5000)
    waiter.leave()
    ticks(2500)
    assert names(queue) == []
    assert list(pending(queue)) == [1, 2, 3]


def test_a_sign_of_life_between_two_looks_is_enough(queue, ticks):
    ticks(1100)
    queue.send_line("XREADGROUP GROUP g ann STREAMS s 0")
    ticks(1100)
    assert names(queue) == [b"ann"]


@pytest.mark.parametrize("line", ["CLIENT PAUSE 100000 WRITE", "REPLICAOF 127.0.0.1 1"])
def test_it_waits_while_writes_do(queue, ticks, line):
    assert queue.send_line(line) == b"OK"
    ticks(5000)
    assert names(queue) == [b"ann", b"bob"]


def test_streams_and_groups_that_are_gone_do_not_matter(queue, ticks):
    queue.send_line("COPY s t")
    queue.send_line("COPY s u")
    queue.send_line("XGROUP DESTROY s g")
    queue.send_line("DEL t")
    ticks(1500)
    assert queue.send_line("XINFO CONSUMERS u g") == []


def test_many_entries_and_many_consumers(queue, ticks):
    for ms in range(4, 500):
        queue.send("XADD", "s", f"{ms}-0", "job", ms)
    queue.send_line("XREADGROUP GROUP g ann STREAMS s >")
    for number in range(500):
        queue.send_line(f"XGROUP CREATECONSUMER s g c{number}")
    ticks(1500)
    assert names(queue) == []
    assert len(pending(queue)) == 100
    assert queue.send_line("XPENDING s g")[0] == 499


def test_it_is_done_when_the_clock_is_moved(queue):
    queue.state.config.enable_debug_command = "yes"
    for move in ("+1000ms", "+250ms"):
        assert queue.send_line(f"DEBUG CLOCK {move}") is not None
    assert names(queue) == []


def test_many_are_deleted_in_slices(queue, monkeypatch):
    """Each slice is over after a few looks at the clock, and the next goes on from there."""
    seconds = iter(n / 10_000 for n in range(10**6))
    idle_consumers = IdleConsumers(queue.state, lambda: next(seconds))
    for n in range(200):
        queue.send_line(f"XGROUP CREATECONSUMER s g c{n}")
    slices = 0
    for ms in (2000, 250, 0):
        queue.advance(ms)
        idle_consumers.begin()
        while not idle_consumers.is_done:
            queue.turn(idle_consumers.run)
            slices += 1
    assert names(queue) == []
    assert slices > 20


def test_a_group_with_a_timeout_is_looked_at_when_the_clock_was_set_back(queue, ticks):
    ticks(100)
    queue.now_ms -= 10**9
    ticks(1000)
    assert names(queue) == [b"ann", b"bob"]
    ticks(400)
    assert names(queue) == []


def test_a_slice_that_is_over_at_once_makes_a_step(queue):
    """Regression: then nothing was ever done."""
    clock = count()
    consumers = IdleConsumers(queue.state, lambda: float(next(clock)))
    for _ in range(2):  # a silence is looked at twice
        queue.advance(1250)
        consumers.begin()
        for _ in range(10):
            queue.turn(consumers.run)
    assert names(queue) == []


@pytest.fixture
def rested(queue):
    """The stream m, of which ann has read and acknowledged all."""
    queue.send_line("XGROUP CREATE m g 0 MKSTREAM")
    queue.send_line("XGROUP CFGSET m g CONSUMERTIMEOUT 1000 ACTIVE 1")
    queue.send_line("XADD m 1-0 f v")
    queue.send_line("XREADGROUP GROUP g ann STREAMS m >")
    queue.send_line("XACK m g 1-0")
    return queue


@pytest.mark.parametrize("active", [0, 1])
def test_who_reads_by_a_pattern_is_not_silent_though_the_stream_rests(rested, ticks, active):
    rested.send_line(f"XGROUP CFGSET m g ACTIVE {active}")
    for _ in range(8):
        assert rested.send_line("XREADGROUP GROUP g ann MATCH m >") is None
        ticks(400)
    assert len(rested.send_line("XINFO CONSUMERS m g")) == 1
    for _ in range(4):
        ticks(400)
    assert rested.send_line("XINFO CONSUMERS m g") == []


def test_who_read_by_a_pattern_before_the_clock_was_set_back_may_be_silent(rested, ticks):
    rested.send_line("XREADGROUP GROUP g ann MATCH m >")
    rested.now_ms -= 3_600_000
    for _ in range(5):
        ticks(400)
    assert rested.send_line("XINFO CONSUMERS m g") == []


@pytest.mark.parametrize("source", ["MATCH m >", "STREAMS m >"])
def test_an_active_consumer_that_is_deleted_is_followed(rested, ticks, source):
    """Once, nobody was told, if it had nothing pending."""
    waiter = rested.client()
    waiter.send_line(f"XREADGROUP GROUP g bob BLOCK 0 {source}")
    rested.send_line("XADD m 9-0 f v")
    for _ in range(8):
        ticks(400)
    assert given(waiter.reply()) == [9]


def test_a_round_goes_over_those_of_which_one_may_be_silent(server):
    """Once, each round went over all keys with a policy."""
    for key, timeout in (("s", 1000), ("other", 9000), ("third", 1200)):
        server.send_line(f"XGROUP CREATE {key} g 0 MKSTREAM")
        server.send_line(f"XGROUP CREATECONSUMER {key} g ann")
        server.send_line(f"XGROUP CFGSET {key} g CONSUMERTIMEOUT {timeout}")
    consumers = IdleConsumers(server.state, lambda: 0.0)

    def looked_at() -> list[bytes]:
        server.turn(consumers.begin)
        found = sorted(key for _, key in consumers._left)
        server.turn(consumers.run)
        return found

    assert looked_at() == [b"other", b"s", b"third"]
    server.send_line("XGROUP CFGSET other g CONSUMERTIMEOUT 9000")
    assert looked_at() == [b"other", b"s", b"third"]
    server.now_ms += 1000
    assert looked_at() == [b"s"]
    server.now_ms += 250
    assert looked_at() == [b"s", b"third"]
    server.now_ms += 8750
    assert looked_at() == [b"other", b"s", b"third"]


def test_no_round_begins_while_nobody_can_be_silent(server):
    """Once, with one CONSUMERTIMEOUT somewhere, all keys with a policy were listed at each tick."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.send_line("XGROUP CREATE other g 0 MKSTREAM")
    server.send_line("XGROUP CREATECONSUMER s g ann")
    server.send_line("XGROUP CFGSET s g CONSUMERTIMEOUT 1000")
    consumers = IdleConsumers(server.state, lambda: 0.0)

    def round_begins() -> bool:
        server.turn(consumers.begin)
        begins = not consumers.is_done
        server.turn(consumers.run)
        assert consumers.is_done
        return begins

    assert [round_begins(), round_begins()] == [True, False]
    server.now_ms += 999
    assert not round_begins()
    server.now_ms += 1
    assert round_begins()  # it may be silent
    server.now_ms += 249
    assert not round_begins()
    server.now_ms += 1
    assert round_begins()  # it is, and has gone
    assert server.send_line("XINFO CONSUMERS s g") == []
    assert not round_begins()
    server.send_line("XGROUP CFGSET other g CONSUMERTIMEOUT 1000")
    assert round_begins()
    server.now_ms -= 50_000
    assert round_begins()  # the clock was set back
