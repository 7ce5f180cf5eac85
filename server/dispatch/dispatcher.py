"""The road that every command takes, whatever its origin.

    look up -> arity -> admission -> execution -> answer

and then, when the command is done, the clients whose keys became ready. Nothing here awaits: a
command runs to its end before the next one begins.

    command_lookup.py   which command it is
    admission.py        whether it may run now
    execution.py        the handler, the AOF, the time it took; commands inside commands
    turn.py             answers leave when the turn of the loop ends
    replaying.py        what was logged, and what a primary sends
"""

from __future__ import annotations

import logging
from typing import Final

from protocol.encoder import Encoder
from protocol.replies import QUEUED, ErrorReply, Reply
from protocol.requests import RequestParser
from server.client.client import (
    HEARS,
    IN_MULTI,
    MUTED,
    REPLICA,
    RESTRICTED,
    TRACKING,
    Client,
    Waiter,
)
from server.client.command_queue import CommandQueue
from server.client.origin import CLIENT, WOKEN
from server.dispatch import execution
from server.dispatch.admission import Admission
from server.dispatch.command_lookup import CommandLookup
from server.dispatch.execution import Execution
from server.dispatch.long_scripts import LongScripts
from server.dispatch.replaying import Replaying
from server.dispatch.turn import Turn
from server.parts.propagation.propagation import Durability, Propagation
from server.parts.scripting.script_run import ScriptRun
from server.parts.state import ServerState
from server.parts.waiting.blocking import Runner
from server.parts.waiting.shared_reply import SharedReply
from server.process import faults
from server.process.faults import ServerFault
from server.process.timekeeper import Timekeeper
from server.process.timers import NoTimers, Timers
from server.table import errors
from server.table.command import Block, Command, Flags
from storage.keyspace.keyspace import Keyspace

READONLY = int(Flags.READONLY)
NOT_QUEUED = int(Flags.NOT_QUEUED)
RUNS_QUEUE = int(Flags.RUNS_QUEUE)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
RUNS_OTHERS = RUNS_QUEUE | RUNS_SCRIPTS

LOOK_AHEAD: Final = 16  # commands

# What begins the lines of an HTTP request. A web page can make its visitor's browser send one to a
# server that only they can reach, with commands in its body: these must never be run.
SPOKEN_BY_BROWSERS = frozenset((b"post", b"host:"))

_log = logging.getLogger("penstock")


class Dispatcher(Runner):
    """Runs the commands of clients, one at a time, to their end.

    *durability*, if given, is what answers wait for. While *is_behind*, not all is done yet that
    has become due since DEBUG CLOCK has moved the clock.
    """

    def __init__(self, state: ServerState, durability: Durability | None = None) -> None:
        self.state = state
        self._clock = state.clock
        self._timers: Timers = NoTimers()
        self.is_behind = False
        self._restrictions = state.restrictions
        self._propagation: Propagation = state.propagation
        self._propagation.set_durability(durability)
        self._timekeeper = Timekeeper(state.events.clock, state.clock)
        self._admission = Admission(
            state.restrictions, state.key_eviction, state.access, state.config.switches
        )
        self._client_eviction = state.client_eviction
        self._execution = Execution(state, self._timekeeper, self)
        self._long_scripts = LongScripts(
            self._execution,
            state.scripting.run,
            state.restrictions,
            state.propagation,
            state.pushes,
            self._timekeeper,
            state.events.clock,
        )
        self.turn = Turn(
            self,
            state.blocking,
            self._timekeeper,
            self._execution,
            state.propagation,
            state.clients,
            state.restrictions,
            state.client_eviction,
            state.value_packing,
            state.loop_times,
        )
        self.lookup = CommandLookup(state.config.renamed_commands)
        self.replaying = Replaying(self, self.lookup, self._execution, state)
        self._blocking = state.blocking
        self._pushes = state.pushes
        self._scripting = state.scripting
        state.scripting.run.caller = self
        state.tracking.broadcasts.turn = self.turn
        state.replication.feed.turn = self.turn
        self._shared = SharedReply(state.events)

    def use_timers(self, timers: Timers) -> None:
        """Have *timers* see to what is due later."""
        self._timers = timers
        self._blocking.timers = timers
        self.state.key_eviction.timers = timers
        self._long_scripts.timers = timers

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
                self.serve_ready()
            return
        if command.flags & RUNS_OTHERS and self._runs_script(client, command):
            left = self._long_scripts.run(client, command, argv)
            if left is not None:
                self._finish(client, command, argv, left)
            return
        self._finish(client, command, argv, self._execution.run(client, command, argv, CLIENT))

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
        if waits:
            self._execution.count_time(command)
        else:
            self._execution.count(client, command, argv)
        if self._propagation.ops:
            client.written_offset = self._propagation.deliver()
            client.replicated_offset = self._propagation.stream_offset
        if waits:
            self._park(client, argv, reply)  # type: ignore[arg-type]
        else:
            self._answer(client, reply)  # type: ignore[arg-type]
        if self._blocking.first_ready is not None:
            self.serve_ready()

    def _park(self, client: Client, argv: list[bytes], block: Block) -> None:
        now_ms = self._clock.begun_ms() if block.timeout_ms else 0
        self._blocking.park(client, argv, block, now_ms)
        self._pushes.end_command(client)

    def _answer(self, client: Client, reply: Reply) -> None:
        if client.flags & MUTED or self._pushes.running is not None:
            self._answer_rare(client, reply)
        else:
            execution.write(client.out, reply)

    def _answer_rare(self, client: Client, reply: Reply) -> None:
        """Answer a client that has replies switched off, or gets messages after its reply."""
        if not client.flags & MUTED:
            execution.write(client.out, reply)
        else:
            execution.drop(reply)
            if client.skip:
                client.skip -= 1
                if not client.skip:
                    client.clear_flag(MUTED)
        self._pushes.end_command(client)
        if client.flags & TRACKING:
            self.state.tracking.command_done(client)
        if client.replica is not None and client.flags & REPLICA:
            self._blocking.serve_replicated(self, client.replica.acked)  # it may have told that

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
            self._answer(client, QUEUED)
            return False
        if client.flags & HEARS:
            self._pushes.begin_command(client)
        return True

    def _refuse(self, client: Client, error: ErrorReply) -> None:
        """Answer *error* to a command that could not even be queued."""
        client.dirty_exec = True
        self._answer(client, self._execution.counted(error))
        if client.flags & TRACKING:
            self.state.tracking.command_done(client)

    def _reject(self, client: Client, command: Command, error: ErrorReply) -> None:
        """Refuse a command that is known. EXEC takes its transaction along."""
        command.rejected += 1
        if command.flags & RUNS_QUEUE:
            self.state.watching.leave_multi(client)
            error = errors.exec_aborted(error)
        self._refuse(client, error)

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

    # ------------------------------------------------------------------ clients that wait

    def serve_ready(self) -> None:
        """Serve the clients whose keys have become ready, unless something holds them.

        What was pushed for them may have expired while the command ran that pushed it. To look
        whether a key wakes them removes it then, and no command of theirs logs that.
        """
        if self._restrictions.must_check and self._holds_waiters():
            return
        self._timekeeper.begin()
        try:
            self._blocking.serve(self)
            if self._propagation.ops:
                self._propagation.deliver_each()
        except Exception as error:
            raise ServerFault("waiting clients were not served") from error
        finally:
            self._shared.forget()

    def _holds_waiters(self) -> bool:
        now = self._restrictions
        held = bool(self.state.pausing.active) or now.busy is not None
        return held or now.stopping or now.refuses_reads

    def serve_keyless(self) -> None:
        """Run the commands again that wait for no key but for what is kept (WAITAOF)."""
        self._blocking.serve_keyless(self)

    def run_again(self, waiter: Waiter) -> Block | None:
        """Run a woken client's command again; None when it was answered."""
        client, argv = waiter.client, waiter.argv
        command = client.last_command
        assert command is not None  # it is what the client waits in
        must_check = client.flags & RESTRICTED or self._restrictions.must_check
        refusal = None
        if must_check:
            refusal = self._admission.refusal(client, command, argv, command.flags, WOKEN)
        if refusal is not None:
            command.rejected += 1
            reply: Reply | Block = self._execution.counted(refusal)
        else:
            if client.flags & HEARS:
                self._pushes.begin_command(client)
            reply = self._run_woken(client, command, argv)
            if isinstance(reply, Block):
                self._execution.count_time(command)
            else:
                self._execution.count(client, command, argv)
            if self._propagation.ops:
                client.written_offset = self._propagation.deliver()
                client.replicated_offset = self._propagation.stream_offset
        if isinstance(reply, Block):
            self._pushes.end_command(client)
            return reply
        try:
            self._answer(client, reply)
            self.turn.resume_later(client)
        except Exception as error:  # the client that woke it is not to blame
            faults.report("answering after a wait", error)
            client.endpoint.disconnect()
        return None

    def _run_woken(self, client: Client, command: Command, argv: list[bytes]) -> Reply | Block:
        """Run it. Readers with equal commands share the first one's reply."""
        shared = self._shared
        if not command.flags & READONLY:
            shared.forget()
            return self._execution.run(client, command, argv, WOKEN)
        tracks = client.flags & TRACKING  # then it is remembered that this client has read
        reply: Reply | Block = None if tracks else shared.reply_to(client, argv)
        if reply is None:
            shared.begin(client, argv)
            reply = self._execution.run(client, command, argv, WOKEN)
            if isinstance(reply, Encoder):
                shared.keep(reply)
        return reply

    @property
    def long_scripts(self) -> LongScripts:
        return self._long_scripts

    def evict_more(self) -> None:
        """Resume an eviction that was suspended because it took too long."""
        if self._restrictions.busy is not None:
            return  # the next write starts it again
        self.state.key_eviction.go_on()

    # ------------------------------------------------------------------ what Call asks of it

    def run_queued(self, client: Client, queue: CommandQueue) -> Encoder:
        """Run what *client* has queued, for EXEC; the array of the replies."""
        return self._execution.run_queued(client, queue)

    def run_inside(self, client: Client, argv: list[bytes], run: ScriptRun) -> Reply:
        """Run *argv* inside the command of *client* that runs the script *run*.

        It does not wait, and an error is a value. What it changes is logged with the outer command,
        as one transaction.
        """
        command = self.lookup.called(argv[0])
        if command is None or command.subcommands:
            command = self.lookup.find_any(argv)
        if command is None:
            return self._execution.counted(errors.UNKNOWN_IN_SCRIPT)
        refusal = None
        origin = self._execution.origin_in_script()
        if not command.accepts(len(argv)):
            refusal = errors.WRONG_ARITY_IN_SCRIPT
        else:
            refusal = self._admission.refusal_in_script(client, command, argv, run, origin)
        if refusal is not None:
            command.rejected += 1
            return self._execution.counted(refusal)
        return self._execution.run_called(client, command, argv, origin)

    def count_error(self, error: ErrorReply) -> None:
        """Count *error*, which a script returns: no command gave it."""
        self._execution.counted(error)

    def may_run(self, client: Client, argv: list[bytes]) -> bool | None:
        """Whether the user of *client* may run *argv*; None if there is no such command."""
        command = self.lookup.find_any(argv)
        if command is None:
            return None
        if not client.flags & RESTRICTED:
            return True
        if not command.accepts(len(argv)):  # it names no keys, as far as can be told
            return client.user.may_call(command, argv)
        return client.user.denial(command, argv) is None

    def go_on_with_script(self) -> None:
        """Resume a suspended script; if it ends, serve the clients that wait for that."""
        done = self._long_scripts.go_on()
        if done is None:
            return
        left, reply = done
        self._finish(left.client, left.command, left.argv, reply)
        self.turn.resume_later(left.client)
        self.state.shutdown.script_ended()

    def end_wait(self, waiter: Waiter, reply: Reply) -> None:
        """End a wait from outside: its time is up, or somebody unblocks the client."""
        client = waiter.client
        command = client.last_command
        assert command is not None  # it is what the client waits in
        if client.waiter is waiter:
            self._blocking.forget(waiter)
        if isinstance(reply, ErrorReply):
            command.failed += 1
            self._execution.counted(reply)
        self._execution.count(client, command, waiter.argv)
        self._answer(client, reply)
        self.turn.resume_later(client)

    def begin_pause(self, timeout_ms: int, writes_only: bool) -> None:
        """CLIENT PAUSE: hold commands back for *timeout_ms*, or only those that write."""
        self.state.pausing.begin(self._clock.begun_ms() + timeout_ms, writes_only)
        self._restrictions.update()

    def end_pause(self) -> None:
        """CLIENT PAUSE is over: serve what became ready meanwhile, and run what was held back."""
        for client in self.state.pausing.end():
            self.turn.resume_later(client)
        self._restrictions.update()
        self.serve_ready()

    # ------------------------------------------------------------------ time travel

    def clock_moved(self) -> None:
        """DEBUG CLOCK has moved the clock: what comes next sees the new time."""
        self._timekeeper.follow()
        self._timekeeper.begin()
        self._timers.clock_moved()


def _moves_clock(command: Command, argv: list[bytes]) -> bool:
    """Whether it is DEBUG CLOCK, which a pause does not hold back: it may be what ends it."""
    return command.name == "debug" and argv[1].upper() == b"CLOCK"
