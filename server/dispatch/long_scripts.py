"""Commands that run scripts, which may take long: they run on a stack of their own.

    run()      EVAL ... most scripts end long before busy-reply-threshold; nothing else happens then
               after busy-reply-threshold, and every 10 ms from then on:
                   the script is suspended, and others are served: these get -BUSY, but for SCRIPT
                   KILL, FUNCTION KILL, SHUTDOWN NOSAVE and what else has the flag ALLOW_BUSY
    go_on()    ... and resumed, until it ends

What the script has changed by then is in the keyspace, but nobody sees it: reads get -BUSY,
the AOF gets the changes when the script ends, keys that are ready are served then, and nothing
is saved or expires meanwhile.
"""

from __future__ import annotations

from protocol.replies import Reply
from server.client.client import Client
from server.client.origin import CLIENT
from server.client.pushes import Pushes
from server.dispatch.execution import Execution
from server.dispatch.greenlet_stack import GreenletStack
from server.dispatch.own_stack import OwnStack
from server.dispatch.side_stack import SideStack
from server.parts.propagation.propagation import Op, Propagation
from server.parts.restrictions import Restrictions
from server.parts.scripting.script_run import ScriptRun
from server.process import stack_calls
from server.process.timekeeper import Timekeeper
from server.process.timers import Timers
from server.table import errors
from server.table.command import Block, Command
from storage.keyspace.clock import Clock


class LeftCommand:
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


class LongScripts:
    """Runs commands with *execution*. *timers* call go_on() in the next turn.

    Without timers, scripts are not suspended.
    """

    def __init__(
        self,
        execution: Execution,
        run: ScriptRun,
        restrictions: Restrictions,
        propagation: Propagation,
        pushes: Pushes,
        timekeeper: Timekeeper,
        clock: Clock,
    ) -> None:
        self._execution = execution
        self._run = run
        self._restrictions = restrictions
        self._propagation = propagation
        self._pushes = pushes
        self._timekeeper = timekeeper
        self._clock = clock
        self._stack: SideStack | None = None  # made for the first script
        self._left: LeftCommand | None = None
        self.timers: Timers | None = None

    def run(self, client: Client, command: Command, argv: list[bytes]) -> Reply | Block | None:
        """Run *command*. None if it was suspended: *client* is served again when it is done."""
        stack = self._stack
        if stack is None:
            stack = self._make_stack()
        reply: Reply | Block = stack.run(client, command, argv, CLIENT)
        if stack.is_left():
            self._leave(LeftCommand(client, command, argv))
            return None
        return reply

    def go_on(self) -> tuple[LeftCommand, Reply | Block] | None:
        """Resume the suspended command. None if it was suspended again."""
        left, stack = self._left, self._stack
        if left is None or stack is None:
            return None
        self._left = None
        self._propagation.ops = left.ops
        self._clock.now_ms = left.now_ms
        if left.running is not None:
            self._pushes.begin_command(left.running)
        self._timekeeper.go_on(left.ns)
        reply: Reply | Block = stack.resume()
        if stack.is_left():
            self._leave(left)
            return None
        left.client.postponed = None
        left.client.script_left = False
        self._restrictions.set_busy(None)
        return left, reply

    def _make_stack(self) -> SideStack:
        if stack_calls.are_there():
            self._stack = OwnStack(self._execution)
        else:
            self._stack = GreenletStack(self._execution)
        self._run.pause = self._pause
        return self._stack

    def _pause(self) -> None:
        """Called by the script that has run for too long."""
        if self.timers is not None and self._stack is not None:
            self._stack.leave()

    def _leave(self, left: LeftCommand) -> None:
        """Put away what others must not see, and answer them -BUSY."""
        self._left = left
        left.ns = self._timekeeper.lap()
        left.ops, self._propagation.ops = self._propagation.ops, []
        left.now_ms = self._clock.now_ms
        left.running = self._pushes.pause_command()
        left.client.postponed = left.argv
        left.client.script_left = True
        is_function = self._run.is_function
        self._restrictions.set_busy(errors.BUSY_FUNCTION if is_function else errors.BUSY_SCRIPT)
        if self.timers is not None:
            self.timers.run_script_soon()
