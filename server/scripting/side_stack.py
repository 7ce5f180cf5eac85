"""A stack beside the loop's, on which scripts run: a long one can be left, and taken up again.

    run(work)    work runs ... and leaves: LEFT, and the loop goes on
    resume()     work runs on ... until it leaves again, or returns

Lua cannot leave a script by itself where C functions are on its stack (pcall, table.sort).
Greenlets (greenlet.readthedocs.io) can, since they exchange the stack of the process. A switch
costs some 0.2 us.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from greenlet import getcurrent, greenlet

Work: TypeAlias = Callable[[], object]


class Left:
    """What run() and resume() return when the work is not done."""


LEFT: Final = Left()


class SideStack:
    """Runs one piece of work at a time."""

    __slots__ = ("_idle", "_left")

    def __init__(self) -> None:
        self._idle: greenlet | None = None  # a stack that waits for work
        self._left: greenlet | None = None  # the one whose work is not done

    @property
    def is_left(self) -> bool:
        """Whether there is work that is not done."""
        return self._left is not None

    def run(self, work: Work) -> object:
        """What *work* returns, or LEFT. Raises what it raises."""
        stack, self._idle = self._idle or greenlet(self._serve), None
        return stack.switch(work)

    def resume(self) -> object:
        """Take up what was left; the same as run()."""
        stack, self._left = self._left, None
        assert stack is not None
        return stack.switch()

    def leave(self) -> bool:
        """Let the loop go on, until resume(). False if the caller does not run on this stack."""
        stack = getcurrent()
        if stack.parent is None:
            return False
        self._left = stack
        stack.parent.switch(LEFT)
        return True

    def _serve(self, work: Work) -> object:
        """Do one piece of work after the other."""
        stack = getcurrent()
        assert stack.parent is not None
        while True:
            result = work()
            self._idle = stack
            work = stack.parent.switch(result)
