"""Cron: what it has the loop do, and when."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from server.lifecycle.cron import Cron
from server.process.timers import NoTimers
from tests.server.conftest import NOTHING, SocketlessServer


class Timer:
    """A call that the loop makes later."""

    def __init__(self, delay_s: float, call: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.delay_s = delay_s
        self._call = call
        self._args = args
        self.is_over = False

    def cancel(self) -> None:
        self.is_over = True

    def run(self) -> None:
        self.is_over = True
        self._call(*self._args)


class Loop:
    """Makes no call by itself."""

    def __init__(self) -> None:
        self._timers: list[Timer] = []

    def call_later(self, delay_s: float, call: Callable[..., object], *args: Any) -> Timer:
        self._timers.append(Timer(delay_s, call, args))
        return self._timers[-1]

    def next(self) -> Timer:
        """The timer that is due first."""
        return min((t for t in self._timers if not t.is_over), key=lambda t: t.delay_s)


@pytest.fixture
def loop(server: SocketlessServer) -> Loop:
    made = Loop()
    cron = Cron(server.dispatcher, lambda: 0.0, lambda due_s: None, lambda: None)
    server.dispatcher.use_timers(cron)
    cron.start(made)  # type: ignore[arg-type]  # it is all of a loop that cron needs
    return made


def test_a_pause_ends_when_it_is_over_and_not_at_the_next_tick(server, loop):
    """Once, a pause of 5 ms took up to 100."""
    guest = server.client()
    server.send_line("CLIENT PAUSE 5 ALL")
    assert guest.send_line("PING") == NOTHING
    timer = loop.next()
    assert timer.delay_s == pytest.approx(0.005)
    server.pass_time(5)
    timer.run()
    assert guest.reply() == b"PONG"


def test_a_copy_for_a_replica_waits_for_a_script_that_is_half_done(server, loop, monkeypatch):
    """Once, it had what the script had changed by then, and all of it came in the stream, too."""
    copies = server.state.replication.copies
    begun = []
    monkeypatch.setattr(copies, "_begin", lambda replicas, *_: begun.append(replicas))
    replica = server.client()
    replica.send("REPLCONF", "capa", "eof", "capa", "psync2", "capa", "penstock")
    replica.send("PSYNC", "?", -1)
    server.send("CONFIG", "SET", "busy-reply-threshold", 1, "repl-diskless-sync-max-replicas", 1)
    server.dispatcher.long_scripts.timers = NoTimers()
    script = "redis.call('INCR', 'k') for i = 1, 3000000 do end return redis.call('INCR', 'k')"
    assert server.send("EVAL", script, 0) == NOTHING
    loop.next().run()
    assert not begun
    while server.owner.reply() == NOTHING:
        server.turn(server.dispatcher.resume_script)
    loop.next().run()
    assert begun == [[replica.client.replica]]


def test_the_timer_of_a_pause_leaves_that_of_a_wait(server, loop):
    guest = server.client()
    assert guest.send_line("BLPOP q 0.020") == NOTHING
    server.send_line("CLIENT PAUSE 5 WRITE")
    server.pass_time(5)
    loop.next().run()
    assert guest.reply() == NOTHING
    assert loop.next().delay_s == pytest.approx(0.015)


def test_a_scheduled_entry_has_a_timer_if_it_is_due_before_the_next_tick(server, loop):
    tick = loop.next()
    server.send_line("XADD s DELAY 5000 * a b")
    assert loop.next() is tick
    server.send_line("XADD s DELAY 20 * a b")
    server.send_line("XADD s DELAY 5 * a b")
    server.send_line("XADD s DELAY 30 * a b")
    timer = loop.next()
    assert timer.delay_s == pytest.approx(0.005)
    server.pass_time(5)
    timer.run()
    assert server.send_line("XLEN s") == 1
    assert loop.next().delay_s == pytest.approx(0.015)
    server.pass_time(100)
    tick.run()
    loop.next().run()
    assert server.send_line("XLEN s") == 3


def test_a_timer_that_comes_too_early_is_set_again(server, loop):
    server.send_line("XADD s DELAY 5 * a b")
    server.pass_time(4)
    loop.next().run()
    assert server.send_line("XLEN s") == 0
    assert loop.next().delay_s == pytest.approx(0.001)


def test_a_tick_finds_what_is_due_after_the_clock_was_set(server, loop):
    server.send_line("XADD s DELAY 3600000 * a b")
    server.now_ms += 3_600_000  # the system's unix time, and no other
    loop.next().run()
    assert loop.next().delay_s == 0
    loop.next().run()
    assert server.send_line("XLEN s") == 1


def test_nothing_is_set_for_entries_that_are_held_back(server, loop):
    tick = loop.next()
    server.send_line("CLIENT PAUSE 9223372036854775807 WRITE")
    server.owner.client.out.take()
    server.state.agenda.note(0, b"s")
    server.send_line("CLIENT UNPAUSE")
    server.send_line("XADD s DELAY 5 * a b")
    server.state.restrictions.set_phase(stopping=True)
    server.pass_time(5)
    loop.next().run()
    assert loop.next() is tick
    server.state.restrictions.set_phase()


def test_many_entries_that_are_due_at_once_are_added_in_slices(server, monkeypatch):
    """Others are served in between: each slice is a turn of its own."""
    seconds = iter(number / 10_000 for number in range(1_000_000))
    made, lengths = Loop(), []
    cron = Cron(server.dispatcher, lambda: next(seconds), lambda due_s: None, lambda: None)
    server.dispatcher.use_timers(cron)
    cron.start(made)  # type: ignore[arg-type]
    for number in range(1000):
        server.send("XADD", "s", "DELAY", 50, "*", "n", number)
    call_soon = server.call_soon

    def between_the_turns(call):
        lengths.append(server.state.databases[0].peek(b"s").length)
        call_soon(call)

    monkeypatch.setattr(server, "call_soon", between_the_turns)
    server.pass_time(50)
    made.next().run()
    server._make_calls()
    assert server.send_line("XLEN s") == 1000
    assert len(lengths) > 2
    assert max(after - before for before, after in pairwise(lengths)) <= 32 * 11


def test_jobs_that_have_had_their_share_wait_for_the_next_tick(server):
    seconds = iter(number / 10_000 for number in range(1_000_000))
    made = Loop()
    cron = Cron(server.dispatcher, lambda: next(seconds), lambda due_s: None, lambda: None)
    server.dispatcher.use_timers(cron)
    for number in range(1000):
        server.send("XSCHEDULE", "s", f"job{number}", "EVERY", 1, "*", "n", number)
    cron.start(made)  # type: ignore[arg-type]
    tick = made.next()
    server.pass_time(1)
    made.next().run() if made.next() is not tick else server.turn(cron._add_due)
    server._make_calls()
    assert made.next() is tick
    assert 100 < server.send_line("XLEN s") < 300  # it looks at the clock after each
    tick.run()
    made.next().run()
    server._make_calls()
    assert 200 < server.send_line("XLEN s") < 600


def test_a_pause_without_an_end_sets_no_timer(server, loop):
    """That is how a failover pauses writes."""
    before = loop.next()
    server.send_line("CLIENT PAUSE 9223372036854775807 ALL")
    assert loop.next() is before
