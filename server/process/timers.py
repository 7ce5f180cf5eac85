"""What parts have cron do later."""

from __future__ import annotations

from typing import Protocol


class Timers(Protocol):
    """Schedules work in a later turn."""

    def wait_until(self, due_ms: int) -> None:
        """A wait, or a pause, ends at *due_ms*, by the server's clock."""

    def entries_due(self, due_ms: int) -> None:
        """Of all scheduled entries the first is due at *due_ms* now, in unix ms."""

    def evict_soon(self) -> None:
        """An eviction was suspended: resume it after this turn of the loop."""

    def run_script_soon(self) -> None:
        """A script was suspended: resume it after this turn of the loop."""

    def read_on_soon(self) -> None:
        """A read that waits has stopped before its end: go on with it after this turn of the loop.

        See Blocking: XREAD WHERE stops after so many entries, so that others are served.
        """

    def clock_moved(self) -> None:
        """DEBUG CLOCK has moved the server's clock: other things are due."""


class NoTimers:
    """Stands for cron where there is none: nothing is ever due."""

    def wait_until(self, due_ms: int) -> None:
        """Let it wait."""

    def entries_due(self, due_ms: int) -> None:
        """Leave them."""

    def evict_soon(self) -> None:
        """Leave it unfinished until the next command."""

    def run_script_soon(self) -> None:
        """Leave it."""

    def read_on_soon(self) -> None:
        """Let them wait."""

    def clock_moved(self) -> None:
        """Nothing is due by the clock."""
