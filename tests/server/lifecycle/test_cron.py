"""Cron: what it has the loop do, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.lifecycle.cron import Cron
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


def test_the_timer_of_a_pause_leaves_that_of_a_wait(server, loop):
    guest = server.client()
    assert guest.send_line("BLPOP q 0.020") == NOTHING
    server.send_line("CLIENT PAUSE 5 WRITE")
    server.pass_time(5)
    loop.next().run()
    assert guest.reply() == NOTHING
    assert loop.next().delay_s == pytest.approx(0.015)


def test_a_pause_without_an_end_sets_no_timer(server, loop):
    """That is how a failover pauses writes."""
    before = loop.next()
    server.send_line("CLIENT PAUSE 9223372036854775807 ALL")
    assert loop.next() is before
