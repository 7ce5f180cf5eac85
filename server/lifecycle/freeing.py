"""What is large beside a removed key, the schedule of a stream, is freed in slices.

Each slice takes SLICE_S; then others are served. While there is more, the next one follows after a
turn of the loop, until a quarter of the time between two ticks is used up.
"""

from __future__ import annotations

from collections.abc import Callable

from server.config.parameters import Config
from storage.keyspace.settings import LazyFreeing

SLICE_S = 0.0005
SHARE = 0.25
PARTS = 256  # that are freed between two looks at the clock


class Freeing:
    """Empties what is doomed in *freeing*. *monotonic_s* is the system's clock."""

    def __init__(
        self, freeing: LazyFreeing, config: Config, monotonic_s: Callable[[], float]
    ) -> None:
        self._doomed = freeing.doomed
        self._config = config
        self._monotonic_s = monotonic_s
        self._until_s = 0.0  # by when the slices of this tick are over

    def begin(self) -> None:
        """A tick begins."""
        self._until_s = self._monotonic_s() + SHARE / self._config.hz

    def go_on(self) -> bool:
        """Free for a slice of time. Whether another one should follow in this tick."""
        end_s = self._monotonic_s() + SLICE_S
        while self._doomed:
            if self._doomed[-1].shed(PARTS):
                self._doomed.pop()
            elif self._monotonic_s() >= end_s:
                return end_s < self._until_s
        return False
