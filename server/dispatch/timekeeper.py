"""What time it is for commands, and how long they take: one look at the clock for both.

begin()   a socket was read: all commands of that batch run at this time
lap()     a command is done: the ns since the last look are its own
"""

from __future__ import annotations

from collections.abc import Callable

from server.process import ticks
from storage.keyspace.clock import Clock

COMPARE_EVERY_NS = 50_000_000  # a wall clock that is set is noticed so soon


class Timekeeper:
    """Sets *clock* (unix time in ms), which the keyspace and the handlers read.

    *wall_ms* is unix time in ms; the system's if it is not given.
    """

    __slots__ = ("_clock", "_compare_at", "_looked_at", "_wall_ahead", "_wall_ms")

    def __init__(self, clock: Clock, wall_ms: Callable[[], int] | None = None) -> None:
        self._clock = clock
        self._wall_ms = wall_ms
        self._looked_at = 0  # the monotonic clock at the last look, in ns
        self._wall_ahead = 0  # ns from monotonic to unix time
        self._compare_at = 0

    def begin(self) -> None:
        """Look at the clock, and let it be that time."""
        self._looked_at = ticks.now_ns()
        if self._looked_at >= self._compare_at:
            self._compare()
        self.set()

    def set(self) -> None:
        """Let it be the time of the last look at the clock."""
        if self._wall_ms is not None:
            self._clock.now_ms = self._wall_ms()
        else:
            self._clock.now_ms = (self._looked_at + self._wall_ahead) // 1_000_000

    def lap(self) -> int:
        """Look at the clock; the ns since the last look."""
        now = ticks.now_ns()
        passed = now - self._looked_at
        self._looked_at = now
        return passed

    def _compare(self) -> None:
        """Find out how far the wall clock is ahead; until the next time, one clock tells both."""
        self._wall_ahead = ticks.wall_ns() - self._looked_at
        self._compare_at = self._looked_at + COMPARE_EVERY_NS
