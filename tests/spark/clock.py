"""A clock for what tries again."""

from __future__ import annotations


class Clock:
    """A clock, and the pauses that move it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds
