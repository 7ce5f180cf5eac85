"""Commands that run scripts, which may take long: they run on a stack of their own.

    run()      EVAL ... most scripts end long before busy-reply-threshold; nothing else happens then
               after busy-reply-threshold, and every 10 ms from then on:
                   the script is suspended, and others are served: these get -BUSY, but for SCRIPT
                   KILL, FUNCTION KILL, SHUTDOWN NOSAVE and what else has the flag ALLOW_BUSY
    resume()    ... and resumed, until it ends

What the script has changed by then is in the keyspace, but nobody sees it: reads get -BUSY,
the AOF gets the changes when the script ends, keys that are ready are served then, and nothing
is saved or expires meanwhile.
"""

from __future__ import annotations

from protocol.replies import Reply
from server.client.client import Client
from server.client.origin import CLIENT
from server.dispatch.execution import Execution
from server.parts.propagation.propagation import Op
from server.parts.scripting.greenlet_stack import GreenletStack
from server.parts.scripting.own_stack import OwnStack
from server.parts.scripting.side_stack import CommandRunner, SideStack
from server.parts.state import ServerState
from server.process import stack_calls
from server.process.timekeeper import Timekeeper
from server.process.timers import Timers
from server.table import errors
from server.table.command import Block, Command


class SuspendedCommand:
    """A suspended command, and the state to restore when it is resumed."""

    __slots__ = ("argv", "client", "command", "now_ms", "ns", "ops", "running")

    def __init__(self, client: Client, command: Command, argv: list[bytes]) -> None:
        self.client = client
        self.command = command
        self.argv = argv
        self.ops: list[Op] = []  # what it has to log so far
        self.now_ms = 0  # the time does not change while a script runs
        self.ns = 0  # that it has taken so far
        self.running: Client | None = None  # gets messages only after its reply


class LongScripts(CommandRunner):
    """Runs commands with *execution*. *timers* call resume() in the next turn.

    Without timers, scripts are not suspended.
    """

    def __init__(self, execution: Execution, state: ServerState, timekeeper: Timekeeper) -> None:
        self._execution = execution
        self._timekeeper = timekeeper
        self._run = state.scripting.run
        self._restrictions = state.restrictions
        self._propagation = state.propagation
        self._pushes = state.pushes
        self._clock = state.events.clock
        self._stack: SideStack | None = None  # made for the first script
        self._suspended: SuspendedCommand | None = None
        self.timers: Timers | None = None

    def run(self, client: Client, command: Command, argv: list[bytes]) -> Reply | Block | None:
        """Run *command*. None if it was suspended: *client* is served again when it is done."""
        stack = self._stack
        if stack is None:
            stack = self._make_stack()
        reply: Reply | Block = stack.run(client, command, argv, CLIENT)
        if stack.is_suspended():
            self._put_away(SuspendedCommand(client, command, argv))
            return None
        return reply

    def run_here(
        self, client: Client, command: Command, argv: list[bytes], origin: int
    ) -> Reply | Block:
        return self._execution.run(client, command, argv, origin)

    def resume(self) -> tuple[SuspendedCommand, Reply | Block] | None:
        """Resume the suspended command. None if it was suspended again."""
        suspended, stack = self._suspended, self._stack
        if suspended is None or stack is None:
            return None
        self._suspended = None
        self._propagation.ops = suspended.ops
        self._clock.now_ms = suspended.now_ms
        if suspended.running is not None:
            self._pushes.begin_command(suspended.running)
        self._timekeeper.resume(suspended.ns)
        reply: Reply | Block = stack.resume()
        if stack.is_suspended():
            self._put_away(suspended)
            return None
        suspended.client.postponed = None
        suspended.client.script_left = False
        self._restrictions.set_busy(None)
        return suspended, reply

    def suspend(self) -> None:
        """Suspend the script that runs, which has run for too long; not without timers."""
        if self.timers is not None and self._stack is not None:
            self._stack.suspend()

    def _make_stack(self) -> SideStack:
        if stack_calls.are_there():
            self._stack = OwnStack(self)
        else:
            self._stack = GreenletStack(self)
        return self._stack

    def _put_away(self, suspended: SuspendedCommand) -> None:
        """Put away what others must not see, and answer them -BUSY."""
        self._suspended = suspended
        suspended.ns = self._timekeeper.lap()
        suspended.ops, self._propagation.ops = self._propagation.ops, []
        suspended.now_ms = self._clock.now_ms
        suspended.running = self._pushes.pause_command()
        suspended.client.postpone(suspended.argv)
        suspended.client.script_left = True
        is_function = self._run.is_function
        self._restrictions.set_busy(errors.BUSY_FUNCTION if is_function else errors.BUSY_SCRIPT)
        if self.timers is not None:
            self.timers.run_script_soon()
