"""The commands that scripts call: the way of a command inside a command.

    look up -> arity -> admission by the script's rules -> execution -> a value

It does not wait, and an error is a value. What it changes is logged with the command that runs the
script, as one transaction.
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.client.client import RESTRICTED, Client
from server.dispatch.admission import Admission
from server.dispatch.command_lookup import CommandLookup
from server.dispatch.execution import Execution
from server.dispatch.long_scripts import LongScripts
from server.parts.scripting.script_run import Caller, ScriptRun
from server.table import errors


class ScriptCommands(Caller):
    """Runs with *execution* what scripts call; *long_scripts* suspends those that take long."""

    __slots__ = ("_admission", "_execution", "_long_scripts", "_lookup")

    def __init__(
        self,
        lookup: CommandLookup,
        admission: Admission,
        execution: Execution,
        long_scripts: LongScripts,
    ) -> None:
        self._lookup = lookup
        self._admission = admission
        self._execution = execution
        self._long_scripts = long_scripts

    def run_inside(self, client: Client, argv: list[bytes], run: ScriptRun) -> Reply:
        """Run *argv* inside the command of *client* that runs the script *run*."""
        command = self._lookup.called(argv[0])
        if command is None or command.subcommands:
            command = self._lookup.find_any(argv)
        if command is None:
            return self._execution.counted(errors.UNKNOWN_IN_SCRIPT)
        origin = self._execution.origin_in_script()
        if not command.accepts(len(argv)):
            refusal: ErrorReply | None = errors.WRONG_ARITY_IN_SCRIPT
        else:
            refusal = self._admission.refusal_in_script(client, command, argv, run, origin)
        if refusal is not None:
            return self._execution.rejected(command, refusal)
        return self._execution.run_called(client, command, argv, origin)

    def count_error(self, error: ErrorReply) -> None:
        """Count *error*, which a script returns: no command gave it."""
        self._execution.counted(error)

    def may_run(self, client: Client, argv: list[bytes]) -> bool | None:
        """Whether the user of *client* may run *argv*; None if there is no such command."""
        command = self._lookup.find_any(argv)
        if command is None:
            return None
        if not client.flags & RESTRICTED:
            return True
        if not command.accepts(len(argv)):  # it names no keys, as far as can be told
            return client.user.may_call(command, argv)
        return client.user.denial(command, argv) is None

    def suspend(self) -> None:
        """Suspend the script, if that is possible, so that others are served meanwhile."""
        self._long_scripts.suspend()
