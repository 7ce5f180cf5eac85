"""Patience: work that a lost connection broke off is begun again, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from pyspark_penstock.errors import ServerError

T = TypeVar("T")
PATIENCE_S = 30.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0


def persistently(pages: Callable[[Patience], Iterator[T]]) -> Iterator[T]:
    """What *pages* yields; it is called again, to go on, where a connection was lost.

    Raises ServerError when patience is at its end.
    """
    patience = Patience()
    while True:
        try:
            yield from pages(patience)
        except OSError as problem:
            patience.wait_after(problem)
        else:
            return


class Patience:
    """How long to try again: PATIENCE_S since something first failed, with growing pauses.

    A failure may itself have taken longer than that to show; there is one more try in any case.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self.renew()

    def renew(self) -> None:
        """Something worked."""
        self._pause = FIRST_PAUSE_S
        self._end: float | None = None  # nothing has failed

    def wait_after(self, problem: OSError) -> None:
        """Pause before the next try. Raises ServerError when patience is at its end."""
        if self._end is None:
            self._end = self._now() + PATIENCE_S
        if self._now() + self._pause > self._end:
            raise ServerError(f"tried for {PATIENCE_S:.0f} s in vain: {problem}") from problem
        self._sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
