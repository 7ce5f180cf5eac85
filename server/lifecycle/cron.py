"""Cron: what has to be done regularly, although no client asks for it.

It ticks hz times a second, and also when the next wait or a pause is over, so that a client waits
as long as it asked for whatever hz is. While nothing happens a tick costs some microseconds,
however many clients wait.

Scheduled entries have a timer of their own, which is set when the first is due before the next
tick: unix time may have been moved by then.

The ticks follow the system's clock, the waits the server's, which DEBUG CLOCK moves and stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from server.dispatch.dispatcher import Dispatcher
from server.lifecycle.due_entries import DueEntries
from server.lifecycle.freeing import Freeing
from server.lifecycle.idle_consumers import IdleConsumers
from server.lifecycle.retention import Retention
from server.lifecycle.time_travel import TimeTravel
from server.parts.expiry.expiry_cycle import ExpiryCycle
from server.parts.waiting.pausing import LATEST_MS
from server.process import memory_reserve
from server.process.server_clock import NS_A_MS
from storage.stream import producers

SHARE = 0.25  # of the time between two ticks, for silent consumers; and for jobs (XSCHEDULE)


class Cron:
    """Runs on the loop it is started on, until stop(); it has the timers of all parts.

    *monotonic_s* is the system's clock. *on_due* is told when by that clock the next timer is due;
    0: there is none. *on_tick* is called at each tick, even while cron is paused: the loop turns.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        monotonic_s: Callable[[], float],
        on_due: Callable[[float], None],
        on_tick: Callable[[], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._turn = dispatcher.turn
        self._state = dispatcher.state
        self._clock = dispatcher.state.clock
        self._monotonic_s = monotonic_s
        self._on_due = on_due
        self._on_tick = on_tick
        self._expiry = ExpiryCycle(
            self._state.databases,
            self._state.events,
            self._state.config,
            self._state.stats,
            self._state.latency_events,
            monotonic_s,
        )
        self._retention = Retention(self._state, monotonic_s)
        self._freeing = Freeing(self._state.events.freeing, self._state.config, monotonic_s)
        self._travel = TimeTravel(dispatcher, monotonic_s)
        self._idle_consumers = IdleConsumers(self._state, monotonic_s)
        self._silence_until_s = 0.0  # when it has had its share of this tick
        self._due = DueEntries(dispatcher, monotonic_s)
        self._due_timer: asyncio.TimerHandle | None = None
        self._due_s = 0.0  # when that comes, by the system's clock
        self._adds_soon = False  # the rest of what is due, in a moment
        self._timer: asyncio.TimerHandle | None = None
        self._wait_timer: asyncio.TimerHandle | None = None
        self._wait_due_ms = 0  # by the server's clock
        self._wait_due_s = 0.0  # by the system's, as the next one
        self._tick_due_s = 0.0

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tick()

    def stop(self) -> None:
        for timer in (self._timer, self._wait_timer, self._due_timer):
            if timer is not None:
                timer.cancel()
        self._on_due(0.0)

    # ------------------------------------------------------------------ ticks

    def _tick(self) -> None:
        pause_s, now_s = 1 / self._state.config.hz, self._monotonic_s()
        self._timer = self._loop.call_later(pause_s, self._tick)
        if self._tick_due_s:
            self._state.loop_lag.note(now_s - self._tick_due_s)
        self._tick_due_s = now_s + pause_s
        self._due.begin(SHARE * pause_s)
        self._set_due_timer()
        self._on_tick()
        self._turn.run(self.run)

    def _tell_due(self) -> None:
        due_s = self._tick_due_s
        if self._wait_timer is not None:
            due_s = min(due_s, self._wait_due_s)
        if self._due_timer is not None:
            due_s = min(due_s, self._due_s)
        self._on_due(due_s)

    def run(self) -> None:
        """One tick, in a turn."""
        state = self._state
        if not state.config.switches.cron:
            return
        now_ms = int(self._monotonic_s() * 1000)
        for part in state.parts:
            part.tick(now_ms)
        memory_reserve.tick(now_ms)
        self._watch_memory()
        self._end_pause(self._clock.passed_ms())
        if not state.restrictions.loading and state.restrictions.busy is None:
            self._look_after_data(now_ms)

    def _look_after_data(self, now_ms: int) -> None:
        state = self._state
        if state.config.switches.active_expire:
            producers.expire_due(state.events.clock.now_ms)  # nobody is told of that
            if not state.pausing.active:
                self._expire_keys()
        self._freeing.begin()
        self._free_more()
        self._idle_consumers.begin()
        self._silence_until_s = self._monotonic_s() + SHARE / self._state.config.hz
        self._look_at_consumers()
        self._retention.begin()
        self._tend_streams()
        state.propagation.deliver_each()
        state.replication.begin_copies(now_ms)
        state.persistence.tick()
        state.restrictions.follow_persistence()

    def _expire_keys(self) -> None:
        """Remove what has expired. A replica gets that from its primary, but for its own keys."""
        if self._state.restrictions.is_replica:
            now_ms = self._state.events.clock.now_ms
            self._state.events.replica_expiry.run(self._state.databases, now_ms, self._monotonic_s)
        else:
            self._expiry.run()

    def _free_more(self) -> None:
        """Free for a slice of time; if there is more, in the next turns."""
        if self._freeing.go_on():
            self._turn.run_later(self._free_more)

    def _look_at_consumers(self) -> None:
        """Delete silent consumers for a slice of time; if there are more, in the next turns."""
        self._idle_consumers.run()
        self._state.propagation.deliver_each()
        is_held = self._idle_consumers.is_done or self._state.restrictions.in_force
        if not is_held and self._monotonic_s() < self._silence_until_s:
            self._turn.run_later(self._look_at_consumers)

    def _tend_streams(self) -> None:
        """Streams give up entries for a slice of time; if there are more, in the next turns."""
        if self._retention.may_go_on:
            self._retention.go_on()
            if self._retention.has_worked and not self._retention.is_over:
                self._turn.run_later(self._tend_more)

    def _tend_more(self) -> None:
        self._tend_streams()
        self._state.propagation.deliver_each()

    def _watch_memory(self) -> None:
        """Update what the AOF buffer holds, and the peak. Each command checks maxmemory itself."""
        memory = self._state.memory
        memory.log = self._state.persistence.append_only.log.pending
        memory.note_peak(self._state.events.clock.now_ms // 1000)
        self._state.restrictions.set_short_of_memory(memory_reserve.is_short())

    def evict_soon(self) -> None:
        """An eviction was suspended: resume it after this turn of the loop."""
        self._turn.run_later(self._evict_more)

    def _evict_more(self) -> None:
        if self._state.restrictions.busy is None:  # else the next write starts it again
            self._state.key_eviction.resume()

    def run_script_soon(self) -> None:
        """A script was suspended: resume it after this turn of the loop."""
        self._turn.run_later(self._dispatcher.resume_script)

    def read_on_soon(self) -> None:
        """Clients wait that have not looked at all yet: run them after this turn of the loop."""
        self._turn.run_later(self._dispatcher.waits.read_on)

    # ------------------------------------------------------------------ scheduled entries

    def entries_due(self, due_ms: int) -> None:
        """See to it that the timer is set: of all scheduled entries the first is due then."""
        self._set_due_timer()

    def _set_due_timer(self) -> None:
        """Set the timer if an entry is due before the next tick, which looks for later ones."""
        if self._due_timer is not None:
            self._due_timer.cancel()
            self._due_timer = None
        due_ms = self._due.first_due()
        if due_ms is not None and self._due.may_run and not self._adds_soon:
            delay_s = max(0, due_ms * NS_A_MS - self._clock.unix_ns()) / 1e9
            due_s = self._monotonic_s() + delay_s
            if due_s <= self._tick_due_s and not (delay_s and self._clock.is_frozen):
                self._due_s = due_s
                self._due_timer = self._loop.call_later(delay_s, self._turn.run, self._add_due)
        self._tell_due()

    def _add_due(self) -> None:
        """Add what is due, for a slice of time; what is left comes after this turn of the loop."""
        self._due_timer = None
        self._adds_soon = not self._due.run(self._state.events.clock.now_ms)
        if self._adds_soon:
            self._turn.run_later(self._add_due)
        self._set_due_timer()

    # ------------------------------------------------------------------ waits

    def wait_until(self, due_ms: int) -> None:
        """See to it that the timer is set: a wait, or a pause, ends at *due_ms*."""
        if self._wait_timer is None or due_ms < self._wait_due_ms:
            self._set_wait_timer(due_ms)

    def _set_wait_timer(self, due_ms: int | None) -> None:
        """Reset the timer; None: no wait ends. While time stands still there is no timer."""
        if self._wait_timer is not None:
            self._wait_timer.cancel()
            self._wait_timer = None
        if due_ms is not None and not self._clock.is_frozen:
            delay_s = max(0, due_ms * NS_A_MS - self._clock.passed_ns()) / 1e9
            self._wait_due_ms = due_ms
            self._wait_due_s = self._monotonic_s() + delay_s
            self._wait_timer = self._loop.call_later(delay_s, self._turn.run, self._end_waits)
        self._tell_due()

    def _end_waits(self) -> None:
        self._wait_timer = None
        now_ms = self._clock.passed_ms()
        self._end_pause(now_ms)
        self._dispatcher.waits.end_over(now_ms)
        self._set_wait_timer(self._next_end_ms())

    def _end_pause(self, now_ms: int) -> None:
        pausing = self._state.pausing
        if pausing.until_ms and now_ms >= pausing.until_ms:
            self._dispatcher.waits.end_pause()

    def _next_end_ms(self) -> int | None:
        """When the next wait or the pause ends, by the server's clock; None: there is none."""
        due_ms = self._state.blocking.next_deadline_ms
        until_ms = self._state.pausing.until_ms
        if not until_ms or until_ms == LATEST_MS:
            return due_ms
        return until_ms if due_ms is None else min(due_ms, until_ms)

    def clock_moved(self) -> None:
        """DEBUG CLOCK has moved the clock: the timer would come at another time."""
        self._set_wait_timer(self._next_end_ms())
        self._set_due_timer()
        self._travel.begin()
