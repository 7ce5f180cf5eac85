"""The server's clock: unix time, and the time that has passed. DEBUG CLOCK moves it and stops it.

    system          12:00:00  12:00:01  12:00:02  12:00:03 ...
    +3600s          12:00:00  13:00:01  13:00:02  13:00:03      unix time is ahead from then on
    FREEZE          12:00:00  12:00:01  12:00:01  12:00:01      ... and stands still

It has two faces. *Unix time* can be moved forth and back. *The time that has passed* is what waits
and pauses are measured by, and never goes back: a wait of ten seconds takes ten seconds, even if
unix time has gone back by an hour.

What protects the server or measures its work does not look here but at the system's clocks.
docs/time-travel.md says which reading is of which kind.
"""

from __future__ import annotations

import time
from collections.abc import Callable

NS_A_MS = 1_000_000
HAS_BOOT_TIME = hasattr(time, "CLOCK_BOOTTIME")  # Linux

# Unix time that can be travelled to: before 2100. Last uses of keys are seconds of 32 bits, and
# must stay below 2105 (storage/keyspace/usage.py) however long the server runs then.
LAST_MS = 4_102_444_800_000
MOST_PASSED_MS = 2**61  # plus the longest wait: still within 64 bits


def monotonic_ms() -> int:
    """The system's monotonic clock in ms, which DEBUG CLOCK does not move."""
    return time.monotonic_ns() // 1_000_000


def lease_ms() -> int:
    """A monotonic clock in ms that runs on while the machine is suspended, where there is one."""
    if HAS_BOOT_TIME:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return monotonic_ms()


class OutOfRange(ValueError):
    """The clock cannot be moved as far as that."""


class ServerClock:
    """Follows the system's clocks, *unix_ns* and *monotonic_ns*, until it is moved or stopped."""

    def __init__(
        self,
        unix_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._system_unix_ns = self._unix_source = unix_ns
        self._system_passed_ns = self._passed_source = monotonic_ns
        self.ahead_ns = 0  # of unix time before its source
        self.passed_ahead_ns = 0
        self.is_frozen = False

    # ------------------------------------------------------------------ what time it is

    def unix_ns(self) -> int:
        return self._unix_source() + self.ahead_ns

    def unix_us(self) -> int:
        return self.unix_ns() // 1000

    def unix_ms(self) -> int:
        return (self._unix_source() + self.ahead_ns) // NS_A_MS

    def unix_s(self) -> float:
        return self.unix_ns() / 1e9

    def passed_ns(self) -> int:
        """The time that has passed since some moment in the past."""
        return self._passed_source() + self.passed_ahead_ns

    def passed_ms(self) -> int:
        """passed_ns() in ms, rounded down: a wait is over when the whole of it has passed."""
        return self.passed_ns() // NS_A_MS

    def begun_ms(self) -> int:
        """passed_ns() in ms, rounded up: no wait that begins now is shorter than was asked for."""
        return -(-self.passed_ns() // NS_A_MS)

    @property
    def is_systems(self) -> bool:
        """Whether it is the system's clock, and how far that is ahead of it is all there is to add.

        That is *ahead_ns* for unix time, *passed_ahead_ns* for the time that has passed.
        """
        return self._unix_source is time.time_ns and self._passed_source is time.monotonic_ns

    @property
    def offset_ms(self) -> int:
        """How far unix time is ahead of the system's; it falls while the clock stands still."""
        if not self.is_frozen:
            return self.ahead_ns // NS_A_MS
        return (self.unix_ns() - self._system_unix_ns()) // NS_A_MS

    # ------------------------------------------------------------------ travelling

    def travel(self, ms: int) -> None:
        """Move unix time by *ms*, which may be negative. Raises OutOfRange.

        A way ahead counts as time that has passed; a way back does not.
        """
        self._move(ms * NS_A_MS)

    def travel_to(self, unix_ms: int) -> None:
        """Let it be *unix_ms*. Raises OutOfRange."""
        self._move(unix_ms * NS_A_MS - self.unix_ns())

    def freeze(self) -> None:
        """Stand still, at a whole ms."""
        unix_ns, passed_ns = self.unix_ms() * NS_A_MS, self.begun_ms() * NS_A_MS
        self._unix_source, self.ahead_ns = lambda: unix_ns, 0
        self._passed_source, self.passed_ahead_ns = lambda: passed_ns, 0
        self.is_frozen = True

    def thaw(self) -> None:
        """Run again, from where it stands still."""
        self.ahead_ns = self.unix_ns() - self._system_unix_ns()
        self.passed_ahead_ns = self.passed_ns() - self._system_passed_ns()
        self._unix_source, self._passed_source = self._system_unix_ns, self._system_passed_ns
        self.is_frozen = False

    def reset(self) -> None:
        """Let unix time be the system's again."""
        self.thaw()
        self._move(-self.ahead_ns)

    def _move(self, way_ns: int) -> None:
        """Move unix time, and let time pass up to a whole ms.

        A wait that has begun in this very ms, for as long as the way, is over then.
        """
        passed_ns = self.passed_ns()
        passes_ns = -passed_ns % NS_A_MS + max(0, way_ns)
        if not 0 <= self.unix_ns() + way_ns < LAST_MS * NS_A_MS:
            raise OutOfRange
        if passed_ns + passes_ns > MOST_PASSED_MS * NS_A_MS:
            raise OutOfRange
        self.ahead_ns += way_ns
        self.passed_ahead_ns += passes_ns
