"""Cron: what has to be done regularly, although no client asks for it.

It ticks hz times a second, and also when the next wait is over, so that a client waits as long as
it asked for whatever hz is. While nothing happens a tick costs some microseconds, however many
clients wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from server.dispatch.dispatcher import Dispatcher
from server.dispatch.expiry import ExpiryCycle
from server.process import memory_reserve


class Cron:
    """Runs on the loop it is started on, until stop().

    *on_due* is told when the next timer is due, by the monotonic clock in s; 0: there is none.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        monotonic_s: Callable[[], float],
        on_due: Callable[[float], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._state = dispatcher.state
        self._monotonic_s = monotonic_s
        self._on_due = on_due
        self._expiry = ExpiryCycle(dispatcher.state, monotonic_s)
        self._timer: asyncio.TimerHandle | None = None
        self._wait_timer: asyncio.TimerHandle | None = None
        self._wait_due_ms = 0
        self._tick_due_s = 0.0

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._state.blocking.on_deadline = self._wait_until
        self._state.key_eviction.on_unfinished = self._evict_more_soon
        self._dispatcher.long_scripts.on_left = self._go_on_with_script_soon
        self._tick()

    def stop(self) -> None:
        for timer in (self._timer, self._wait_timer):
            if timer is not None:
                timer.cancel()
        self._on_due(0.0)

    # ------------------------------------------------------------------ ticks

    def _tick(self) -> None:
        pause_s = 1 / self._state.config.hz
        self._timer = self._loop.call_later(pause_s, self._tick)
        self._tick_due_s = self._monotonic_s() + pause_s
        self._tell_due()
        self.run()

    def _tell_due(self) -> None:
        if self._wait_timer is None:
            self._on_due(self._tick_due_s)
        else:
            self._on_due(min(self._tick_due_s, self._wait_due_ms / 1000))

    def run(self) -> None:
        """One tick."""
        state = self._state
        if not state.config.switches.cron:
            return
        self._dispatcher.timekeeper.begin()
        now_ms = self._passed_ms()
        for part in state.parts:
            part.tick(now_ms)
        self._watch_memory()
        if state.pausing.active and now_ms >= state.pausing.until_ms:
            self._dispatcher.end_pause()
        if not state.restrictions.loading and state.restrictions.busy is None:
            self._look_after_data()
        self._dispatcher.serve_ready()
        self._dispatcher.resume_unblocked()

    def _look_after_data(self) -> None:
        state = self._state
        if state.config.switches.active_expire and not state.pausing.active:
            self._expiry.run()
        state.propagation.deliver_each()
        state.persistence.tick()
        state.restrictions.follow_persistence()

    def _passed_ms(self) -> int:
        """Monotonic time, rounded down: a wait is over when the whole of it has passed."""
        return int(self._monotonic_s() * 1000)

    def _watch_memory(self) -> None:
        """Update what the AOF buffer holds, and the peak. Each command checks maxmemory itself."""
        memory = self._state.memory
        memory.log = self._state.persistence.append_only.log.pending
        memory.used()
        self._state.restrictions.set_short_of_memory(memory_reserve.is_short())

    def _evict_more_soon(self) -> None:
        """An eviction is unfinished: go on behind this turn of the loop."""
        self._dispatcher.turn.at_end_of_turn(self._dispatcher.evict_more)

    def _go_on_with_script_soon(self) -> None:
        """A script was left: take it up again behind this turn of the loop."""
        self._dispatcher.turn.at_end_of_turn(self._dispatcher.go_on_with_script)

    # ------------------------------------------------------------------ waits

    def _wait_until(self, due_ms: int) -> None:
        """Set the timer: a wait ends at *due_ms*."""
        if self._wait_timer is None or due_ms < self._wait_due_ms:
            if self._wait_timer is not None:
                self._wait_timer.cancel()
            self._wait_due_ms = due_ms
            delay = max(0.0, due_ms / 1000 - self._monotonic_s())
            self._wait_timer = self._loop.call_later(delay, self._end_waits)
            self._tell_due()

    def _end_waits(self) -> None:
        self._wait_timer = None
        self._dispatcher.timekeeper.begin()
        blocking = self._state.blocking
        blocking.expire(self._passed_ms(), self._dispatcher.end_wait)
        self._dispatcher.resume_unblocked()
        if blocking.next_deadline_ms is not None:
            self._wait_until(blocking.next_deadline_ms)
        else:
            self._tell_due()
