"""A stack beside the loop's, on which commands run that may take long.

    run(...)     a command runs ... and leaves: the loop goes on
    resume()     it runs on ... until it leaves again, or is done

Lua cannot leave a script by itself where C functions are on its stack (pcall, table.sort).
Greenlets (greenlet.readthedocs.io) can, since they exchange the stack of the process. A switch
costs some 0.2 us.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from protocol.replies import Reply
from server.client.client import Client
from server.dispatch.execution import Execution
from server.table.command import Block, Command

if TYPE_CHECKING:
    from greenlet import greenlet


class SideStack:
    """Runs one command at a time, with *execution*."""

    __slots__ = (
        "_argv",
        "_client",
        "_command",
        "_current",
        "_execution",
        "_idle",
        "_left",
        "_make",
        "_origin",
    )

    def __init__(self, execution: Execution) -> None:
        from greenlet import getcurrent, greenlet  # noqa: PLC0415  (few servers run scripts)

        self._execution = execution
        self._make = greenlet
        self._current = getcurrent
        self._idle: Callable[[], Any] | None = None  # switches to a stack that waits for work
        self._left: greenlet | None = None  # the one whose work is not done

    def is_left(self) -> bool:
        """Whether there is a command that is not done."""
        return self._left is not None

    def run(self, client: Client, command: Command, argv: list[bytes], origin: int) -> Any:
        """What Execution.run returns; None if the command was left. Raises what it raises."""
        self._client = client
        self._command = command
        self._argv = argv
        self._origin = origin
        enter = self._idle
        if enter is None:
            enter = self._make(self._serve).switch
        else:
            self._idle = None
        return enter()

    def resume(self) -> Any:
        """Take up what was left; the same as run()."""
        stack, self._left = self._left, None
        assert stack is not None
        return stack.switch()

    def leave(self) -> bool:
        """Let the loop go on, until resume(). False if the caller does not run on this stack."""
        stack = self._current()
        if stack.parent is None:
            return False
        self._left = stack
        stack.parent.switch()
        return True

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

    def _run_one(self) -> Reply | Block:
        client, command, argv = self._client, self._command, self._argv
        self._client = self._command = self._argv = None  # type: ignore[assignment]  # let go of them
        return self._execution.run(client, command, argv, self._origin)
