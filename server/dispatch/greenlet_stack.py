"""A side stack made of greenlets (greenlet.readthedocs.io), which copy what is on the stack.

It serves where there are no stacks of C: uncompiled, outside Linux, and from Python 3.14 on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from server.dispatch.execution import Execution
from server.dispatch.side_stack import SideStack

if TYPE_CHECKING:
    from greenlet import greenlet


class GreenletStack(SideStack):
    """One greenlet serves one command after the other."""

    __slots__ = ("_current", "_idle", "_left", "_make")

    def __init__(self, execution: Execution) -> None:
        from greenlet import getcurrent, greenlet  # noqa: PLC0415  (few servers run scripts)

        SideStack.__init__(self, execution)
        self._make = greenlet
        self._current = getcurrent
        self._idle: Callable[[], Any] | None = None  # switches to a stack that waits for work
        self._left: greenlet | None = None  # the one whose work is not done

    def is_left(self) -> bool:
        return self._left is not None

    def resume(self) -> Any:
        stack, self._left = self._left, None
        assert stack is not None
        return stack.switch()

    def leave(self) -> bool:
        stack = self._current()
        if stack.parent is None:
            return False
        self._left = stack
        stack.parent.switch()
        return True

    def _enter(self) -> Any:
        enter = self._idle
        if enter is None:
            enter = self._make(self._serve).switch
        else:
            self._idle = None
        return enter()

    def _serve(self) -> None:
        """Run one command after the other."""
        stack = self._current()
        loop = stack.parent
        assert loop is not None
        enter, leave = stack.switch, loop.switch  # bound once
        while True:
            reply = self._run_one()
            self._idle = enter
            leave(reply)
