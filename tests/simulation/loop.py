"""The loop of a world: detangle's, with processes that can be killed, and paused.

What a process schedules carries the process with it, in its context. What belongs to one that was
killed is dropped when its time comes; what belongs to a paused one waits.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

from detangle import SimConfig, SimLoop
from detangle.strategies import Strategy

STEP_S = 2e-6  # that each step takes: time does not stand still while there is work
MOST_STEPS = 3_000_000


class Process:
    """A process of a simulated host, as far as the loop is concerned."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.is_paused = False
        self.waiting: list[tuple[Any, asyncio.Handle]] = []  # steps that come after the pause


NOBODY = Process("nobody")
running: ContextVar[Process] = ContextVar("running", default=NOBODY)


class WorldLoop(SimLoop):
    """Runs the steps of processes that live."""

    def __init__(self, strategy: Strategy) -> None:
        super().__init__(SimConfig(step_cost=STEP_S, max_steps=MOST_STEPS), strategy)

    def _execute(self, lane: Any, handle: asyncio.Handle) -> None:
        process = handle._context.get(running) or NOBODY  # type: ignore[attr-defined]
        if process.is_dead and not lane.id:  # a task's steps are run: it has been cancelled
            return
        if process.is_paused:
            process.waiting.append((lane, handle))
            return
        super()._execute(lane, handle)

    def resume(self, process: Process) -> None:
        """*process* was paused: it does what has become due meanwhile."""
        process.is_paused = False
        waiting, process.waiting = process.waiting, []
        for lane, handle in waiting:
            self._enqueue_lane(lane, handle)
