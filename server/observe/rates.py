"""How fast counters grow: means over the last samples, as INFO's instantaneous_* fields are."""

from __future__ import annotations

from collections import deque

SAMPLES = 16  # as in redis


class Rates:
    """Samples counters, which only grow, at each tick of cron."""

    def __init__(self) -> None:
        self._last: tuple[int, ...] | None = None  # ms, and the counters
        self._samples: deque[tuple[float, ...]] = deque(maxlen=SAMPLES)

    def sample(self, now_ms: int, *counters: int) -> None:
        """Take one sample; *now_ms* is the monotonic clock's."""
        now = (now_ms, *counters)
        if self._last is not None and now_ms > self._last[0]:
            seconds = (now_ms - self._last[0]) / 1000
            growth = zip(now[1:], self._last[1:], strict=True)
            self._samples.append(tuple((new - old) / seconds for new, old in growth))
        self._last = now

    def per_second(self, number: int) -> float:
        """How much the counter with that *number* has grown a second, over the last samples."""
        return sum([sample[number] for sample in self._samples]) / SAMPLES
