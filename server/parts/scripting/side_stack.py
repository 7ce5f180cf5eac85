"""A second stack, for commands that may take long.

    run(...)     a command runs ... and is suspended: the loop continues
    resume()     it runs on ... until it is suspended again, or done

Lua alone cannot suspend a script with C functions on its stack (pcall, table.sort). Exchanging the
stack of the process can:

    own_stack.py        compiled: another stack of C. There and back in some 100 instructions
    greenlet_stack.py   elsewhere: greenlets copy what is on the stack. Some 4,000 instructions
"""

from __future__ import annotations

from typing import Any

from protocol.replies import Reply
from server.client.client import Client
from server.table.command import Block, Command


class CommandRunner:
    """Runs the commands that are handed to a side stack."""

    __slots__ = ()

    def run_here(
        self, client: Client, command: Command, argv: list[bytes], origin: int
    ) -> Reply | Block:
        """The reply to *argv*, or a Block; it runs on the stack that this is called on."""
        raise NotImplementedError


class SideStack:
    """Has *runner* run one command at a time."""

    __slots__ = ("_argv", "_client", "_command", "_origin", "_runner")

    def __init__(self, runner: CommandRunner) -> None:
        self._runner = runner

    def is_suspended(self) -> bool:
        """Whether a command is suspended."""
        raise NotImplementedError

    def run(self, client: Client, command: Command, argv: list[bytes], origin: int) -> Any:
        """What the runner returns; None if the command was suspended. Raises what it raises."""
        self._client = client
        self._command = command
        self._argv = argv
        self._origin = origin
        return self._enter()

    def resume(self) -> Any:
        """Resume the suspended command; returns and raises as run() does."""
        raise NotImplementedError

    def suspend(self) -> bool:
        """Suspend the command until resume(). False if it cannot be suspended here."""
        raise NotImplementedError

    def _enter(self) -> Any:
        """Have the stack run the command."""
        raise NotImplementedError

    def _run_one(self) -> Reply | Block:
        """Run the command: called on the stack."""
        client, command, argv = self._client, self._command, self._argv
        self._client = self._command = self._argv = None  # type: ignore[assignment]  # let go of them
        return self._runner.run_here(client, command, argv, self._origin)
