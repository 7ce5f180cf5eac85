"""What is done when DEBUG CLOCK has moved the clock: all that has become due by that.

    1. clients that are idle for too long are closed                     (timeout)
    2. waits and a pause that are over end, in the order of their ends   (BLPOP, CLIENT PAUSE),
       and scheduled entries are added, each before the waits that end later (XADD DELAY)
    3. keys and fields whose time has come are removed                   (EXPIRE, HEXPIRE),
       and consumers that have been silent                               (CONSUMERTIMEOUT)
    4. streams give up what they do by their policies                    (XCFGSET RETAIN-AGE)
    5. DEBUG CLOCK is answered: after its reply nothing is left to do

It begins when the turn of the loop ends, so that nothing of it happens inside a command. It may
take long; others are served every SLICE_S then, at the new time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from server.dispatch.dispatcher import Dispatcher
from server.lifecycle.due_entries import DueEntries
from server.lifecycle.idle_consumers import IdleConsumers
from server.lifecycle.retention import Retention
from server.parts.expiry.expiry_sweep import sweep
from storage.stream import producers

SLICE_S = 0.01


class TimeTravel:
    """Has *dispatcher* do what is due. *monotonic_s* is the system's clock: it times the slices."""

    def __init__(self, dispatcher: Dispatcher, monotonic_s: Callable[[], float]) -> None:
        self._dispatcher = dispatcher
        self._state = dispatcher.state
        self._monotonic_s = monotonic_s
        self._due = DueEntries(dispatcher, monotonic_s)
        self._idle_consumers = IdleConsumers(dispatcher.state, monotonic_s)
        self._retention = Retention(dispatcher.state, monotonic_s)
        self._sweep: Iterator[None] = iter(())
        self._has_moved = False  # and what is over by then has not ended yet
        self._is_called = False  # in a moment

    def begin(self) -> None:
        """The clock was moved. If an earlier move is still being followed, start over."""
        self._dispatcher.is_behind = True
        self._has_moved = True
        self._sweep = sweep(self._state.databases, self._state.events.clock)
        if not self._is_called:
            self._go_on_soon()

    def _go_on_soon(self) -> None:
        self._is_called = True
        self._dispatcher.turn.run_later(self._go_on)

    def _go_on(self) -> None:
        """Do what is due, for a slice of time; do the rest in the next turns of the loop."""
        self._is_called = False
        if self._state.restrictions.stopping:
            return
        if self._state.restrictions.busy is not None:
            self._go_on_soon()  # a suspended script sees none of this
            return
        if self._has_moved:
            self._has_moved = False
            self._state.clock_moved()
            self._retention.begin()
            self._idle_consumers.begin()
        is_done = self._add_due()
        if is_done:
            self._end_waits()
            is_done = self._add_due()  # what a pause has held back
        deadline_s = self._monotonic_s() + SLICE_S
        is_done = is_done and self._expire_some(deadline_s)
        if is_done:
            self._idle_consumers.run()
            is_done = self._idle_consumers.is_done or self._state.restrictions.in_force
        if is_done and self._tend_some(deadline_s):
            self._arrive()
        elif not self._is_called:
            self._go_on_soon()

    def catch_up(self) -> None:
        """Do what becomes due while time goes on, except what cron's ticks see to."""
        while not self._add_due():
            pass
        self._end_waits()

    def _add_due(self) -> bool:
        """Add scheduled entries for a slice of time. Whether all is done that may be.

        Of the waits those end that end before an entry is due; the others are served with it.
        """
        now_ms, passed_ms = self._state.events.clock.now_ms, self._state.clock.passed_ms()
        waits, until_s = self._dispatcher.waits, self._monotonic_s() + SLICE_S
        self._state.agenda.jobs_wait = False  # as cron has them do until its next tick
        while (due_ms := self._due.first_due()) is not None and due_ms <= now_ms:
            if not self._due.may_run:
                break
            waits.end_over(passed_ms - (now_ms - due_ms) - 1)
            self._due.run(due_ms)
            if self._monotonic_s() > until_s:
                return False
        return True

    def _end_waits(self) -> None:
        """End the waits and the pause whose time is up. A pause ends before longer waits do.

        So what became ready during the pause is there for them.
        """
        passed_ms = self._state.clock.passed_ms()
        pausing = self._state.pausing
        if pausing.until_ms and passed_ms >= pausing.until_ms:
            self._dispatcher.waits.end_over(pausing.until_ms - 1)
            self._dispatcher.waits.end_pause()
        self._dispatcher.waits.end_over(passed_ms)

    def _tend_some(self, deadline_s: float) -> bool:
        """Have streams give up what is due, until *deadline_s*. Whether all is done that may be."""
        retention = self._retention
        while retention.may_go_on and not retention.is_done:
            retention.go_on()
            self._state.propagation.deliver_each()
            if self._monotonic_s() >= deadline_s:
                break
        return retention.is_done or not retention.may_go_on

    def _expire_some(self, deadline_s: float) -> bool:
        """Remove keys and fields until *deadline_s*. Whether all is done that may be.

        While writes are paused, no key is removed.
        """
        if not self._state.config.switches.active_expire or self._state.pausing.active:
            return True
        producers.expire_due(self._state.events.clock.now_ms)
        is_done = all(self._monotonic_s() < deadline_s for _ in self._sweep)
        self._state.propagation.deliver_each()
        return is_done

    def _arrive(self) -> None:
        """All is done: answer the clients that wait for that."""
        self._dispatcher.is_behind = False
        self._dispatcher.waits.serve_keyless()
