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
    """A timekeeper that has compared both clocks: it does not where the machine interrupts it."""
    keeper = Timekeeper(Clock(), ServerClock())
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
