"""A fake clock for retries."""

from __future__ import annotations


class Clock:
    """A clock that only moves when something sleeps; it records the pauses."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds
