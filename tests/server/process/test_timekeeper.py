"""How long commands take, by the CPU's own counter."""

import time

from server.process.server_clock import ServerClock
from server.process.timekeeper import Timekeeper
from storage.keyspace.settings import Clock


def pass_ms(ms):
    """Let the clock move on by *ms*: it cannot be set, since compiled code reads it in C."""
    until_ns = time.monotonic_ns() + ms * 1_000_000
    while time.monotonic_ns() < until_ns:
        pass


def knowing_the_pace():
    return knowing_the_pace_of(Clock())


def knowing_the_pace_of(clock):
    """A timekeeper that has compared both clocks: it does not where the machine interrupts it."""
    keeper = Timekeeper(clock, ServerClock())
    while True:
        pass_ms(10)
        keeper.follow()
        keeper.begin()
        pass_ms(1)
        if keeper.lap():
            return keeper


def test_a_lap_is_as_long_as_by_the_monotonic_clock():
    """To a part in a hundred, and what it takes to look at both clocks."""
    keeper = knowing_the_pace()
    before = time.monotonic_ns()
    keeper.begin()
    began = time.monotonic_ns()
    pass_ms(20)
    end = time.monotonic_ns()
    lap = keeper.lap()
    after = time.monotonic_ns()
    assert (end - began) * 0.99 <= lap <= (after - before) * 1.01


def test_laps_add_up():
    keeper = Timekeeper(Clock(), ServerClock())
    pass_ms(10)
    before = time.monotonic_ns()
    keeper.begin()
    laps = [keeper.lap() for _ in range(1000)]
    assert min(laps) >= 0
    assert sum(laps) <= (time.monotonic_ns() - before) * 1.01


def test_a_wait_begins_by_the_servers_clock_rounded_up():
    clock = ServerClock()
    keeper = Timekeeper(Clock(), clock)

    def is_as_the_clock():
        keeper.follow()
        before = clock.begun_ms()
        return before <= keeper.begun_ms() <= clock.begun_ms()

    assert is_as_the_clock()
    clock.travel(5000)
    assert is_as_the_clock()
    clock.freeze()
    assert is_as_the_clock()
    clock.travel(7)
    assert is_as_the_clock()
    clock.reset()
    assert is_as_the_clock()


def test_within_a_turn_the_clock_is_looked_at_when_some_time_has_passed():
    """Not again at once: what has come from other sockets was sent before the turn began."""
    clock = Clock()
    keeper = knowing_the_pace_of(clock)
    keeper.begin()
    begun = clock.now_ms
    clock.now_ms = 5
    keeper.catch_up()
    at_once = clock.now_ms
    pass_ms(1)
    keeper.catch_up()
    assert clock.now_ms >= begun
    assert at_once == 5 or at_once >= begun  # the machine may have interrupted it
    clock.now_ms = 5
    keeper.follow()  # somebody has moved the clock
    keeper.catch_up()
    assert clock.now_ms >= begun


def test_a_lap_begins_where_the_clock_was_caught_up_with():
    keeper = knowing_the_pace()
    keeper.begin()
    for ms in (0, 1):
        pass_ms(ms)
        before = time.monotonic_ns()
        keeper.catch_up()
        lap = keeper.lap()
        assert lap <= (time.monotonic_ns() - before) * 1.01


def test_a_clock_that_is_not_the_systems_is_asked_each_time():
    clock, server_clock = Clock(), ServerClock()
    keeper = Timekeeper(clock, server_clock)
    server_clock.freeze()
    keeper.follow()
    keeper.begin()
    frozen = clock.now_ms
    server_clock.travel(7)
    keeper.catch_up()
    assert clock.now_ms == frozen + 7
