"""The road that every command takes, whatever its origin.

    look up -> arity -> admission -> execution -> answer

and then, when the command is done, the clients whose keys became ready. Nothing here awaits: a
command runs to its end before the next one begins.

    command_lookup.py   which command it is
    admission.py        whether it may run now
    execution.py        the handler, the AOF, the time it took, the answer; what EXEC runs
    waits.py            clients that are parked, woken, or held back by CLIENT PAUSE
    script_commands.py  what scripts call
    long_scripts.py     scripts that are suspended
    replaying.py        what was logged, and what a primary sends
    turn.py             answers leave when the turn of the loop ends
"""

from __future__ import annotations

import logging
from typing import Final

from protocol.replies import QUEUED, ErrorReply, Reply
from protocol.requests import RequestParser
from server.client.client import HEARS, IN_MULTI, TRACKING, Client
from server.client.origin import CLIENT
from server.dispatch.admission import Admission
from server.dispatch.command_lookup import CommandLookup
from server.dispatch.execution import Execution
from server.dispatch.long_scripts import LongScripts
from server.dispatch.replaying import Replaying
from server.dispatch.script_commands import ScriptCommands
from server.dispatch.turn import Turn
from server.observe.large_commands import LargeCommands
from server.parts.propagation.propagation import Durability
from server.parts.state import ServerState
from server.process.timekeeper import Timekeeper
from server.process.timers import NoTimers, Timers
from server.table import errors
from server.table.command import Block, Command, Flags
from storage.keyspace.keyspace import Keyspace

NOT_QUEUED = int(Flags.NOT_QUEUED)
RUNS_QUEUE = int(Flags.RUNS_QUEUE)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
RUNS_OTHERS = RUNS_QUEUE | RUNS_SCRIPTS

LOOK_AHEAD: Final = 16  # commands

# What begins the lines of an HTTP request. A web page can make its visitor's browser send one to a
# server that only they can reach, with commands in its body: these must never be run.
SPOKEN_BY_BROWSERS = frozenset((b"post", b"host:"))

_log = logging.getLogger("penstock")


class Dispatcher:
    """Runs the commands of clients, one at a time, to their end.

    *durability*, if given, is what answers wait for. While *is_behind*, not all is done yet that
    has become due since DEBUG CLOCK has moved the clock.
    """

    def __init__(self, state: ServerState, durability: Durability | None = None) -> None:
        self.state = state
        self.is_behind = False
        self._timers: Timers = NoTimers()
        self._blocking = state.blocking
        self._client_eviction = state.client_eviction
        self._pushes = state.pushes
        self._restrictions = state.restrictions
        self._scripting = state.scripting
        state.propagation.set_durability(durability)
        self._large: LargeCommands = state.large_commands
        self._timekeeper = Timekeeper(state.events.clock, state.clock)
        self.lookup = CommandLookup(state.config.renamed_commands)
        self._admission = Admission(
            state.restrictions, state.key_eviction, state.access, state.config.switches
        )
        self.execution = Execution(state, self._timekeeper, self)
        self.long_scripts = LongScripts(self.execution, state, self._timekeeper)
        self.turn = Turn(state, self._admission, self.execution, self._timekeeper)
        self.waits = self.turn.waits
        self.replaying = Replaying(self.waits, self.lookup, self.execution, state)
        state.scripting.run.caller = ScriptCommands(
            self.lookup, self._admission, self.execution, self.long_scripts
        )
        state.tracking.broadcasts.turn = self.turn
        state.replication.feed.turn = self.turn

    def use_timers(self, timers: Timers) -> None:
        """Have *timers* see to what is due later."""
        self._timers = timers
        self._blocking.timers = timers
        self.state.agenda.timers = timers
        self.state.key_eviction.timers = timers
        self.long_scripts.timers = timers

    # ------------------------------------------------------------------ a client's command

    def execute(self, client: Client, argv: list[bytes]) -> None:
        """Run what *client* sent. Its answer is in client.out, or it is parked or held back."""
        command = self.lookup.named(argv[0])
        if command is None or command.subcommands or not command.accepts(len(argv)):
            command = self._look_up(client, argv)
            if command is None:
                return
        client.last_command = command
        must_check = client.flags or self._restrictions.must_check
        if must_check and not self._admit(client, command, argv):
            if self._blocking.first_ready is not None:  # a key was evicted
                self.waits.serve_ready()
            return
        if command.flags & RUNS_OTHERS and self._runs_script(client, command):
            reply = self.long_scripts.run(client, command, argv)
            if reply is not None:  # it was not suspended
                self._finish(client, command, argv, reply)
            return
        self._finish(client, command, argv, self.execution.run(client, command, argv, CLIENT))

    def _runs_script(self, client: Client, command: Command) -> bool:
        """Whether *command*, or for EXEC any that is queued, runs a script."""
        if command.flags & RUNS_QUEUE:
            return bool(client.queue.flags & RUNS_SCRIPTS)
        return True

    def _finish(
        self, client: Client, command: Command, argv: list[bytes], reply: Reply | Block
    ) -> None:
        """Count the command that has run, log what it has changed, and answer it or park it."""
        waits = type(reply) is Block  # asked once; mypy does not follow
        self.execution.finish(client, command, argv, waits)
        if waits:
            self.waits.park(client, argv, reply)  # type: ignore[arg-type]
        else:
            size = client.out.size()
            self.execution.answer(client, reply)  # type: ignore[arg-type]
            size = client.out.size() - size
            if (
                size >= self._large.reply_from
                or client.received - client.received_before >= self._large.request_from
            ):
                time_s = self._timekeeper.unix_us() // 1_000_000
                self._large.ran(client, command, argv, size, time_s)
        client.received_before = client.received
        if self._blocking.first_ready is not None:
            self.waits.serve_ready()

    def resume_script(self) -> None:
        """Resume a suspended script; if it ends, serve the clients that wait for that."""
        done = self.long_scripts.resume()
        if done is not None:
            suspended, reply = done
            self._finish(suspended.client, suspended.command, suspended.argv, reply)
            self.turn.resume_later(suspended.client)
            self.state.shutdown.script_ended()

    # ------------------------------------------------------------------ look-up and admission

    def _look_up(self, client: Client, argv: list[bytes]) -> Command | None:
        """Find the command, or the subcommand; refuse what is unknown or has the wrong arity."""
        client.last_command = None
        found = self.lookup.find(argv)
        if isinstance(found, ErrorReply):
            if argv[0].lower() in SPOKEN_BY_BROWSERS:
                _log.warning("%s speaks HTTP, as if a web page made it: closed", client.address)
                client.endpoint.disconnect()
            else:
                self._refuse(client, found)
            return None
        if not found.accepts(len(argv)):
            client.last_command = found
            self._reject(client, found, errors.wrong_arity(found.name))
            return None
        return found

    def _admit(self, client: Client, command: Command, argv: list[bytes]) -> bool:
        """Whether *command* may run now. If not, it was refused, queued or held back."""
        if self._restrictions.stopping:
            client.close_after_reply = True  # with what was answered before the end
            return False
        if self._client_eviction.make_room() and client.id not in self.state.clients:
            return False
        flags = command.flags
        if flags & RUNS_SCRIPTS:
            flags = self._scripting.flags_of(command, argv)
        refusal = self._admission.refusal(client, command, argv, flags, CLIENT)
        if refusal is not None:
            self._reject(client, command, refusal)
            return False
        if self.state.pausing.holds(client, command, flags) and not _moves_clock(command, argv):
            self.state.pausing.hold(client, argv)
            return False
        if client.flags & IN_MULTI and not flags & NOT_QUEUED:
            client.queue.append(command, argv, flags)
            self.execution.answer(client, QUEUED)
            return False
        if client.flags & HEARS:
            self._pushes.begin_command(client)
        return True

    def _refuse(self, client: Client, error: ErrorReply) -> None:
        """Answer *error* to a command that could not even be queued."""
        client.dirty_exec = True
        self.execution.answer(client, self.execution.counted(error))
        if client.flags & TRACKING:
            self.state.tracking.command_done(client)

    def _reject(self, client: Client, command: Command, error: ErrorReply) -> None:
        """Refuse a command that is known. EXEC takes its transaction along."""
        count = self.state.command_stats.of(command)
        count.rejected += 1
        if command.flags & RUNS_QUEUE:
            self.state.watching.leave_multi(client)
            error = errors.exec_aborted(error)
        self._refuse(client, error)

    # ------------------------------------------------------------------ pipelines

    def look_ahead(self, client: Client, parser: RequestParser) -> int:
        """Fetch what the next commands of *client* will look up; return how many these are.

        In a large database each look-up waits for memory several times; these waits overlap then.
        """
        db: Keyspace = self.state.databases[client.db_index]
        if db.is_large():
            command = self.lookup.named(parser.next_name())
            place = 1 if command is None else command.first_key_at
            keys = parser.look_ahead(LOOK_AHEAD, place)
            if len(keys) > 1:
                db.fetch(keys)
                self.state.stats.prefetches += 1
                self.state.stats.prefetched_keys += len(keys)
        return LOOK_AHEAD

    def queue_alike(self, client: Client, parser: RequestParser) -> None:
        """Queue what *parser* has next of the command that *client*, in MULTI, queued last.

        What needs a look at each command is left to ``execute``. Bulk loads are of such runs.
        """
        is_free = not (self._restrictions.in_force or self.state.memory.exceeded())
        if client.flags == IN_MULTI and is_free:
            count = client.queue.take_alike(parser)
            if count:
                client.out.raw(QUEUED.line * count)

    # ------------------------------------------------------------------ time travel

    def clock_moved(self) -> None:
        """DEBUG CLOCK has moved the clock: what comes next sees the new time."""
        self._timekeeper.follow()
        self._timekeeper.begin()
        self._timers.clock_moved()


def _moves_clock(command: Command, argv: list[bytes]) -> bool:
    """Whether it is DEBUG CLOCK, which a pause does not hold back: it may be what ends it."""
    return command.name == "debug" and argv[1].upper() == b"CLOCK"
