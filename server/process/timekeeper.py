"""What time it is for commands, and how long they take: one look at the clock for both.

begin()      a turn begins: it is that time
catch_up()   a socket was read: all commands of that batch run at this time
lap()        a command is done: the ns since the last look are its own

Commands are timed by the CPU's own counter, whose pace is found out by comparing it with the
monotonic clock. It tells how long commands took, and whether the clock has to be looked at again in
the same turn. When it is wrong (the machine was moved, or its CPUs count apart from each other),
a command may run at the time at which its turn began; nothing else is wrong.
"""

from __future__ import annotations

from server.process import ticks
from server.process.server_clock import ServerClock
from storage.keyspace.settings import Clock

COMPARE_EVERY_NS = 50_000_000  # a system's clock that is set is noticed so soon
AT_ONCE_NS = 20_000  # two clocks were read together, and the process did not sleep in between
SOON_NS = 50_000  # so old the time of a command may be, within a turn
COMPARABLE_NS = 1_000_000_000_000  # 1,000 s: what is longer would overflow 64 bits, 65,536 times


class Timekeeper:
    """Sets *clock* (unix time in ms), which the keyspace and the handlers read.

    *server_clock* says what time it is. While it follows the system's clock it is not asked: how
    far it is ahead of the monotonic clock is remembered.
    """

    __slots__ = (
        "_asks",
        "_begun_ticks",
        "_clock",
        "_compare_at",
        "_compared_at",
        "_compared_ticks",
        "_looked_at",
        "_pace",
        "_passed_ahead",
        "_server_clock",
        "_soon",
        "_ticks",
        "_unix_ahead",
    )

    def __init__(self, clock: Clock, server_clock: ServerClock) -> None:
        self._clock = clock
        self._server_clock = server_clock
        self._looked_at = 0  # the monotonic clock at the last look, in ns
        self._ticks = 0  # the CPU's counter then
        self._begun_ticks = 0  # as it was then; lap() goes on from _ticks
        self._pace = 0  # ns that 65,536 of its ticks take
        self._soon = 0  # how many ticks SOON_NS are; 0: not known
        self._compared_at = ticks.now_ns()
        self._compared_ticks = ticks.cpu_ticks()
        self._unix_ahead = 0  # ns from monotonic to unix time
        self._passed_ahead = 0  # ns from the system's monotonic time to the server's
        self.follow()

    def follow(self) -> None:
        """The server's clock was moved, stopped or restarted."""
        self._asks = not self._server_clock.is_systems
        self._passed_ahead = self._server_clock.passed_ahead_ns
        self._compare_at = 0
        self._soon = 0  # until they were compared

    def catch_up(self) -> None:
        """Begin as begin() does; the clock is not looked at if it was less than SOON_NS ago.

        What has made a socket ready was sent before the turn began, so its commands run at no time
        before that. What has come during the turn may run at a time up to SOON_NS too early.
        """
        now = ticks.cpu_ticks()
        if 0 <= now - self._begun_ticks < self._soon and not self._asks:
            self._ticks = now
        else:
            self.begin()

    def begin(self) -> None:
        """Look at the clock, and let it be that time."""
        self._looked_at = ticks.now_ns()
        self._begun_ticks = self._ticks = ticks.cpu_ticks()
        if self._looked_at >= self._compare_at:
            self._compare()
        if self._asks:
            self._clock.now_ms = self._server_clock.unix_ms()
        else:
            self._clock.now_ms = (self._looked_at + self._unix_ahead) // 1_000_000

    def lap(self) -> int:
        """The ns since the last lap, or since begin()."""
        now = ticks.cpu_ticks()
        passed = max(now - self._ticks, 0) * self._pace >> 16
        self._ticks = now
        return passed

    def resume(self, ns: int) -> None:
        """Let the command that is next have taken *ns* already, and nothing since then."""
        self._ticks = ticks.cpu_ticks() - ((ns << 16) // self._pace if self._pace else 0)

    def begun_ms(self) -> int:
        """The time at which a wait begins now, in ms, rounded up: as ServerClock.begun_ms()."""
        if self._asks:
            return self._server_clock.begun_ms()
        passed_ns = ticks.now_ns() + self._passed_ahead
        return (passed_ns + 999_999) // 1_000_000

    def unix_us(self) -> int:
        """Unix time in us, as it is now and not when the batch began."""
        return self._server_clock.unix_us()

    def _compare(self) -> None:
        """Find out how far unix time is ahead; until the next time, one clock tells both."""
        self._compare_at = self._looked_at + COMPARE_EVERY_NS
        if ticks.now_ns() - self._looked_at < AT_ONCE_NS:
            self._find_pace()
        self._unix_ahead = ticks.unix_ns() - ticks.now_ns() + self._server_clock.ahead_ns

    def _find_pace(self) -> None:
        """Find out at which pace the CPU has counted since the last time."""
        passed = self._looked_at - self._compared_at
        counted = self._ticks - self._compared_ticks
        if counted > 0 and passed < COMPARABLE_NS:
            self._pace = (passed << 16) // counted
            self._soon = (SOON_NS << 16) // self._pace if self._pace else 0
        self._compared_at = self._looked_at
        self._compared_ticks = self._ticks
