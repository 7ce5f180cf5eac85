"""The pace at which the console works: a slice a turn, whatever all its browsers want.

Sessions and live streams have their next step taken here. However many they are, the other clients
of the server wait for one slice at most, and then have their turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from server.dispatch.turn import Turn
from server.process import ticks

SLICE_NS = 1_000_000  # defends other clients against the console; a step that has begun is ended


class Pace:
    """Takes steps, in the order in which they were asked for."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._steps: deque[Callable[[], None]] = deque()
        self._is_on = False

    def soon(self, step: Callable[[], None]) -> None:
        """Take *step*, which must not raise, in a turn to come."""
        self._steps.append(step)
        if not self._is_on:
            self._is_on = True
            self._turn.run_later(self._run)

    def _run(self) -> None:
        until_ns = ticks.now_ns() + SLICE_NS
        for _ in range(len(self._steps)):  # what these ask for comes in the next turn
            self._steps.popleft()()
            if ticks.now_ns() >= until_ns:
                break
        self._is_on = bool(self._steps)
        if self._is_on:
            self._turn.run_later(self._run)
