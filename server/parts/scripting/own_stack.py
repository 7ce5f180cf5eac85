"""A side stack that is a stack of C of its own: server/process/stack_calls.pxd.

Most commands run on it and return. A suspended one stays there with all its frames.
"""

from __future__ import annotations

from typing import Any

from protocol.replies import Reply
from server.parts.scripting.side_stack import CommandRunner, SideStack
from server.process import stack_calls
from server.table.command import Block


class OwnStack(SideStack):
    """The stack is made with it, and lives as long, or longer if a command is suspended on it."""

    __slots__ = ("_error", "_frame", "_is_entered", "_is_suspended", "_reply", "_stack")

    def __init__(self, runner: CommandRunner) -> None:
        SideStack.__init__(self, runner)
        self._stack = stack_calls.make()
        self._is_entered = False
        self._is_suspended = False
        self._frame = 0  # the function of Python that has entered it
        self._reply: Reply | Block = None
        self._error: BaseException | None = None

    def __del__(self) -> None:
        if not self._is_suspended:
            stack_calls.free(self._stack)

    def is_suspended(self) -> bool:
        return self._is_suspended

    def resume(self) -> Any:
        assert self._is_suspended
        self._is_suspended = False
        return self._enter()

    def suspend(self) -> bool:
        if not self._is_entered or stack_calls.frame() != self._frame:
            return False
        self._is_suspended = True
        stack_calls.leave(self._stack)
        return True

    def _enter(self) -> Any:
        if self._is_entered or self._is_suspended:
            # Another command is on the stack, and has resumed this one (CLIENT UNPAUSE).
            return self._run_one()
        self._frame = stack_calls.frame()
        self._is_entered = True
        stack_calls.enter(self._stack, _serve, self)
        self._is_entered = False
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        reply, self._reply = self._reply, None
        return reply

    def serve(self) -> None:
        """Run the command, on the stack: nothing that it raises may leave that."""
        try:
            self._reply = self._run_one()
        except BaseException as error:  # _enter() raises it
            self._error = error


def _serve(stack: OwnStack) -> None:
    own = stack
    own.serve()
