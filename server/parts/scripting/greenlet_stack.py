"""A side stack made of greenlets (greenlet.readthedocs.io), which copy what is on the stack.

It serves where there are no stacks of C: uncompiled, outside Linux, and from Python 3.14 on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from server.parts.scripting.side_stack import CommandRunner, SideStack

if TYPE_CHECKING:
    from greenlet import greenlet


class GreenletStack(SideStack):
    """One greenlet serves one command after the other."""

    __slots__ = ("_current", "_idle", "_make", "_suspended")

    def __init__(self, runner: CommandRunner) -> None:
        from greenlet import getcurrent, greenlet  # noqa: PLC0415  (few servers run scripts)

        SideStack.__init__(self, runner)
        self._make = greenlet
        self._current = getcurrent
        self._idle: Callable[[], Any] | None = None  # switches to a stack that waits for work
        self._suspended: greenlet | None = None  # the one whose work is not done

    def is_suspended(self) -> bool:
        return self._suspended is not None

    def resume(self) -> Any:
        stack, self._suspended = self._suspended, None
        assert stack is not None
        return stack.switch()

    def suspend(self) -> bool:
        stack = self._current()
        if stack.parent is None:
            return False
        self._suspended = stack
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
