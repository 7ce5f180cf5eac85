"""How late cron's ticks come: so long has the event loop kept somebody waiting.

    tick due | ... a long command, a fork, a busy machine ... | tick
             `------------------ lag -------------------------'

One sample a tick, so hz of them a second, each of which costs a subtraction.
"""

from __future__ import annotations

from server.observe.part import Part

PEAK_MS = 60_000  # the peak is of one such time, and of what has begun after it


class LoopLag(Part):
    """Counts since the start or the last CONFIG RESETSTAT."""

    __slots__ = ("_earlier_peak_s", "_peak_s", "_peak_since_ms", "count", "last_s", "sum_s")

    def __init__(self) -> None:
        self.statistics_reset()

    def statistics_reset(self) -> None:
        self.count = 0
        self.sum_s = 0.0
        self.last_s = 0.0
        self._peak_s = self._earlier_peak_s = 0.0
        self._peak_since_ms = 0

    def note(self, late_s: float) -> None:
        """A tick has come so much later than it should have."""
        late_s = max(late_s, 0.0)
        self.count += 1
        self.sum_s += late_s
        self.last_s = late_s
        self._peak_s = max(self._peak_s, late_s)

    def tick(self, now_ms: int) -> None:
        if now_ms - self._peak_since_ms >= PEAK_MS:
            self._earlier_peak_s, self._peak_s = self._peak_s, 0.0
            self._peak_since_ms = now_ms

    @property
    def peak_s(self) -> float:
        """The longest lag of the last minute or two."""
        return max(self._peak_s, self._earlier_peak_s)
