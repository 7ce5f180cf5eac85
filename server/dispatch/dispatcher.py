"""The one road that every command takes, whoever sent it.

    look up -> arity -> gate (authentication, OOM, pause, MULTI's queue) -> handler -> log -> answer

and then, when the command is done, the clients whose keys became ready. Nothing here awaits: a
command runs to its end before the next one begins.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from protocol.encoder import Encoder
from protocol.replies import QUEUED, ErrorReply, Reply
from protocol.requests import RequestParser
from server.client.client import IN_MULTI, MUTED, UNAUTHENTICATED, Client, Waiter
from server.client.command_queue import CommandQueue
from server.client.endpoint import Endpoint
from server.dispatch.blocking import Runner
from server.dispatch.call import Call
from server.dispatch.shared_reply import SharedReply
from server.dispatch.state import ServerState
from server.process import faults, memory_reserve, ticks
from server.process.faults import ServerFault
from server.propagation.propagation import Log, Propagation
from server.table import errors
from server.table.command import Block, Command, Flags
from storage.errors import StorageError

WRITE = int(Flags.WRITE)
READONLY = int(Flags.READONLY)
DATA = int(Flags.WRITE | Flags.READONLY)
DENYOOM = int(Flags.DENYOOM)
NO_AUTH = int(Flags.NO_AUTH)
NO_MULTI = int(Flags.NO_MULTI)
NOT_QUEUED = int(Flags.NOT_QUEUED)
LOADING = int(Flags.LOADING)

COMPARE_EVERY_NS = 50_000_000  # a wall clock that is set is noticed so soon

# What begins the lines of an HTTP request. A web page can make its visitor's browser send one to a
# server that only they can reach, with commands in its body: these must never be run.
SPOKEN_BY_BROWSERS = frozenset((b"post", b"host:"))

_log = logging.getLogger("penstock")


class Dispatcher(Runner):
    """Runs commands, one at a time, to their end.

    *wall_ms* is unix time in ms, the system's if it is not given; *log*, if given, is told what the
    AOF and the replicas must get.
    """

    def __init__(
        self, state: ServerState, wall_ms: Callable[[], int] | None = None, log: Log | None = None
    ) -> None:
        self.state = state
        self._propagation: Propagation = state.propagation
        self._propagation.log = log
        self.at_end_of_turn: Callable[[Callable[[], None]], object] = _at_once
        self._to_send: list[Endpoint] = []
        self.unblocked: list[Client] = []  # answered after a wait: to be flushed and resumed
        self._wall_ms = wall_ms
        self._spellings = state.table.by_spelling
        self._ready = state.blocking.ready
        self._call = Call(state, self)
        self._shared = SharedReply(state.journal)
        self._failures = 0  # of allocations, that have been answered for
        self._tick = 0  # monotonic time, in ns, when the last command ended
        self._wall_ahead = 0  # ns from monotonic to unix time
        self._compare_at = 0

    # ------------------------------------------------------------------ a client's command

    def begin_batch(self) -> None:
        """Read the clock: all commands of one read from a socket run at one time."""
        self._tick = ticks.now_ns()
        if self._tick >= self._compare_at:
            self._compare_clocks()
        self._tell_time()

    def _tell_time(self) -> None:
        """Let it be the time of the last look at the clock."""
        now_ms = (self._tick + self._wall_ahead) // 1_000_000
        if self._wall_ms is not None:
            now_ms = self._wall_ms()
        self.state.journal.now_ms = now_ms
        self._call.now_ms = now_ms

    def _compare_clocks(self) -> None:
        """Find out how far the wall clock is ahead; until the next time, one clock tells both."""
        self._wall_ahead = ticks.wall_ns() - self._tick
        self._compare_at = self._tick + COMPARE_EVERY_NS

    def execute(self, client: Client, argv: list[bytes]) -> None:
        """Run what *client* sent. Its answer is in client.out, or it is parked or held back."""
        command = self._spellings.get(argv[0])
        if command is None or command.subcommands or not command.accepts(len(argv)):
            command = self._look_up(client, argv)
            if command is None:
                return
        client.last_command = command
        if (client.gate or self.state.guarded) and not self._admit(client, command, argv):
            return
        self._run(client, command, argv)
        if self._ready:
            self.serve_ready()

    def queue_alike(self, client: Client, parser: RequestParser) -> None:
        """Queue what *parser* has next of the command that *client*, in MULTI, queued last.

        What needs a look at each command is left to ``execute``. Bulk loads are of such runs.
        """
        state = self.state
        if client.gate == IN_MULTI and not (state.restricted or state.memory.exceeded()):
            count = client.queue.take_alike(parser)
            if count:
                client.out.raw(QUEUED.line * count)

    def replay(self, client: Client, argv: list[bytes]) -> ErrorReply | None:
        """Run a command that was logged: nothing is checked, answered, waited for or logged again.

        Returns the error of one that is unknown or has the wrong number of words. *client* stands
        for who sent it; it keeps the database and MULTI's queue between the calls.
        """
        command = self._look_up(client, argv)
        if command is None:
            return errors.unknown_command(argv)
        if client.gate & IN_MULTI and not command.flags & NOT_QUEUED:
            client.queue.append(command, argv)
        else:
            reply = self._perform(client, command, argv)
            if reply is errors.NO_MEMORY or reply is errors.INTERNAL:
                raise ServerFault(f"a logged {command.name} was not run")
            self._count(command, 1)
        client.out.truncate(0)
        return None

    def serve_ready(self) -> None:
        """Serve the clients whose keys have become ready, unless something holds them.

        What was pushed for them may have expired while the command ran that pushed it.
        """
        if self.state.guarded and self._holds_waiters():
            return
        self._tell_time()
        try:
            self.state.blocking.serve(self)
        except Exception as error:
            raise ServerFault("waiting clients were not served") from error
        finally:
            self._shared.forget()

    def _holds_waiters(self) -> bool:
        state = self.state
        return bool(state.pausing.active) or state.stopping or state.refuses_reads

    def serve_keyless(self) -> None:
        """Run the commands again that wait for no key but for what is kept (WAITAOF)."""
        self.state.blocking.serve_keyless(self)

    def send_later(self, connection: Endpoint) -> None:
        """Have the answers of *connection* sent when this turn of the loop ends.

        All answers of a turn leave together: a client that is awake is not woken once more, and
        the AOF is written before any of them.
        """
        self._to_send.append(connection)
        if len(self._to_send) == 1:
            self._await_end_of_turn()

    def _await_end_of_turn(self) -> None:
        try:
            self.at_end_of_turn(self.send_all)
        except Exception as error:
            raise ServerFault("answers would never be sent") from error

    def send_all(self) -> None:
        """The turn of the loop ends: send what has been answered in it."""
        to_send, self._to_send = self._to_send, []
        if memory_reserve.is_gone():
            self._refuse_what_needs_memory()
        self._keep(to_send)
        at = 0
        while at < len(to_send):
            try:
                while at < len(to_send):
                    connection = to_send[at]
                    at += 1
                    connection.send()
            except Exception as error:
                faults.report("sending answers", error)
                connection.hang_up()

    def _refuse_what_needs_memory(self) -> None:
        """Until cron has the reserve again. What this turn has begun has been ended with it."""
        faults.report("what was begun has needed the reserve", MemoryError())
        self._failures = memory_reserve.failures()
        self.state.short_of_memory = True
        self.state.keep_guard()

    def send_now(self, connection: Endpoint) -> None:
        """Send the answers of *connection* in the midst of a turn: there are many, or no more."""
        self._keep([connection])
        connection.send()

    def _keep(self, connections: list[Endpoint]) -> None:
        """Write the AOF before answers leave.

        While reads are refused, what is answered tells nothing of the data, and may leave.
        """
        log = self._propagation.log
        if log is None:
            return
        if self._propagation.ops:
            raise ServerFault("a change was not logged")
        try:
            is_kept = log.write()
        except Exception as error:
            raise ServerFault("the append only file was not written") from error
        if not is_kept and not self.state.refuses_reads and log.synced_offset < log.offset:
            self._refuse_unkept(errors.not_promised(log.error), connections, log.synced_offset)

    def _refuse_unkept(
        self, error: ErrorReply, connections: list[Endpoint], synced_offset: int
    ) -> None:
        """What this turn has written is not safe: nothing that may derive from it must leave.

        Whoever has an answer, be it to a read, gets *error* instead and is hung up on. From now on
        data is not even read, until all is safe.
        """
        for connection in connections + self._to_send:
            connection.refuse(error)
        for client in list(self.state.clients.values()):
            if len(client.out):  # it was woken, and is sent its answer later
                client.refuse(error)
            elif client.written_offset > synced_offset:  # it wants no answers
                client.hang_up()
        self.state.keep_unkept()

    def settle(self) -> None:
        """After a batch: send what woken clients got, and go on with what they had pipelined."""
        while self.unblocked:
            waiting, self.unblocked = self.unblocked, []
            for client in waiting:
                try:
                    client.resume()
                except Exception as error:
                    faults.report("going on after a wait", error)
                    client.hang_up()

    # ------------------------------------------------------------------ what Call asks of it

    def run_inside(self, queue: CommandQueue) -> Encoder:
        """Run what was queued inside another command (EXEC); the array of the replies.

        None of them waits, and errors are values. Each reply is written when it is there, in the
        protocol that the client speaks by then.
        """
        call = self._call
        client, outer_argv = call.client, call.argv
        replies = client.out.another()
        replies.array(len(queue))
        call.is_inside = True
        running, times = None, 0
        try:
            for command in queue.commands:
                if command is not running:
                    self._count(running, times)
                    running, times = command, 0
                reply = self._perform(client, command, queue.next_words())
                times += 1
                replies.resp = client.out.resp
                _write(replies, reply.when_denied if isinstance(reply, Block) else reply)
        finally:
            call.is_inside = False
        self._count(running, times)
        call.argv = outer_argv
        call.logged = []  # each inner command has said its own
        return replies

    def end_wait(self, waiter: Waiter, reply: Reply) -> None:
        """End a wait from outside: its time is up, or somebody unblocks the client."""
        client = waiter.client
        command = client.last_command
        assert command is not None  # it is what the client waits in
        if client.waiter is waiter:
            self.state.blocking.forget(waiter)
        if isinstance(reply, ErrorReply):
            command.failed += 1
            self._counted(reply)
        command.calls += 1
        self.state.stats.commands += 1
        self._answer(client, reply)
        self.unblocked.append(client)

    def end_pause(self) -> None:
        """CLIENT PAUSE is over: serve what became ready meanwhile, and run what was held back."""
        self.unblocked += self.state.pausing.end()
        self.state.keep_guard()
        self.serve_ready()

    # ------------------------------------------------------------------ before it runs

    def _look_up(self, client: Client, argv: list[bytes]) -> Command | None:
        """Find the command, or the subcommand; refuse what is unknown or has the wrong arity."""
        client.last_command = None
        command = self.state.table.find(argv[0])
        if command is None and argv[0].lower() in SPOKEN_BY_BROWSERS:
            _log.warning("%s speaks HTTP, as if a web page made it: hung up", client.address)
            client.hang_up()
            return None
        if command is None:
            self._refuse(client, errors.unknown_command(argv))
            return None
        if command.subcommands and len(argv) > 1:
            child = command.subcommands.get(argv[1].lower())
            if child is None and command.handler is None:
                self._refuse(client, errors.unknown_subcommand(command.name, argv[1]))
                return None
            command = child or command
        if not command.accepts(len(argv)):
            client.last_command = command
            self._reject(client, command, errors.wrong_arity(command.name))
            return None
        return command

    def _refuse(self, client: Client, error: ErrorReply) -> None:
        """Answer *error* to a command that could not even be queued."""
        client.dirty_exec = True
        self._answer(client, self._counted(error))

    def _reject(self, client: Client, command: Command, error: ErrorReply) -> None:
        """Refuse a command that is known. EXEC takes its transaction along."""
        command.rejected += 1
        if command.name == "exec":
            self.state.watching.leave_multi(client)
            error = errors.exec_aborted(error)
        self._refuse(client, error)

    def _admit(self, client: Client, command: Command, argv: list[bytes]) -> bool:
        """The checks that concern few; False if *command* was refused, queued or held back."""
        if self.state.stopping:
            client.close_after_reply = True  # with what was answered before the end
            return False
        refusal = self._refusal(client, command)
        if refusal is not None:
            self._reject(client, command, refusal)
            return False
        if self.state.pausing.holds(client, command):
            self.state.pausing.hold(client, argv)
            return False
        if client.gate & IN_MULTI and not command.flags & NOT_QUEUED:
            client.queue.append(command, argv)
            self._answer(client, QUEUED)
            return False
        return True

    def _refusal(self, client: Client, command: Command) -> ErrorReply | None:
        """Why *command* must not run now, in redis's order; None if it may."""
        state = self.state
        if client.gate & UNAUTHENTICATED and not command.flags & NO_AUTH:
            return errors.NO_AUTH
        if client.gate & IN_MULTI and command.flags & NO_MULTI:
            return errors.NOT_IN_MULTI
        if (
            state.memory.limit
            and (command.flags & DENYOOM or _would_queue(client, command))
            and state.memory.exceeded()
        ):
            return errors.OUT_OF_MEMORY
        if state.short_of_memory and (command.flags & DENYOOM or _would_queue(client, command)):
            return errors.NO_MEMORY
        if state.unkept is not None:
            refused = DATA if state.refuses_reads else WRITE
            if _touches(client, command, refused) or command.name == "ping":
                return state.unkept  # a PING tells whether all is well
        if state.loading and not command.flags & LOADING:
            return errors.LOADING
        return None

    # ------------------------------------------------------------------ running

    def _run(self, client: Client, command: Command, argv: list[bytes]) -> None:
        reply = self._perform(client, command, argv)
        self._count(command, 0 if isinstance(reply, Block) else 1)
        if self._propagation.ops:
            self._deliver(client)
        if isinstance(reply, Block):
            self._park(client, argv, reply)
        else:
            self._answer(client, reply)

    def _park(self, client: Client, argv: list[bytes], block: Block) -> None:
        now_ms = self.state.monotonic_ms() if block.timeout_ms else 0
        self.state.blocking.park(client, argv, block, now_ms)

    def _perform(self, client: Client, command: Command, argv: list[bytes]) -> Reply | Block:
        """Run the handler and log what it changed. A refusal is a reply.

        Raises ServerFault when it is not known whether that was all, and nothing else.
        """
        call = self._call
        call.client = client
        call.argv = argv
        call.db = self.state.databases[client.db_index]
        journal = self.state.journal
        journal.no_touch = client.no_touch
        journal.hides_expired = self.state.guarded and self._hides_expired(command)
        call.logged = None
        call.is_logged = self._propagation.log is not None
        reply = self._handle(command, call, argv, journal.changes)
        client.commands += 1
        return reply

    def _hides_expired(self, command: Command) -> bool:
        """Whether *command* must leave a key that has expired: writes are paused, and it reads.

        A write that runs all the same, in the very EXEC that has begun the pause, removes it.
        """
        return bool(self.state.pausing.active) and not command.flags & WRITE

    def _handle(
        self, command: Command, call: Call, argv: list[bytes], changes: int
    ) -> Reply | Block:
        try:
            reply = command.handler(call)  # type: ignore[misc]  # a row without one has subcommands
            if call.is_logged and changes != self.state.journal.changes:
                self._propagate(call, argv, command)
        except ErrorReply as error:
            reply = error.with_traceback(None)  # else a constant's grows for ever
        except StorageError as refusal:
            reply = errors.on_the_wire(refusal)
        except Exception as error:
            self._must_be_whole(command, error, changes)
            faults.report(command.name, error)
            reply = errors.NO_MEMORY if isinstance(error, MemoryError) else errors.INTERNAL
        else:
            return reply
        if call.is_logged and changes != self.state.journal.changes:
            self._propagate(call, argv, command)  # it has refused amid its work
        command.failed += 1
        return self._counted(reply)

    def _must_be_whole(self, command: Command, error: Exception, changes: int) -> None:
        """See that a handler that has raised *error* had changed nothing by then.

        It has if the journal counts more *changes* than before it; and it may have if an allocation
        of any size has failed since the last one that was looked at here. Raises ServerFault.
        """
        broke_off = isinstance(error, MemoryError) and self._failures != memory_reserve.failures()
        self._failures = memory_reserve.failures()
        if changes != self.state.journal.changes or (broke_off and command.flags & WRITE):
            raise ServerFault(f"{command.name} was left in the midst of its changes") from error

    def _counted(self, error: ErrorReply) -> ErrorReply:
        """Count *error*. Most errors are shared: none may gather the tracebacks of its uses."""
        error.__traceback__ = None
        error.__context__ = None
        self.state.stats.count_error(error.code)
        return error

    def _propagate(self, call: Call, argv: list[bytes], command: Command) -> None:
        """Have logged what the handler said, or else what the client sent."""
        if call.logged is not None:
            for words in call.logged:
                self._propagation.add(call.db.index, words)
        elif command.flags & WRITE:
            self._propagation.add(call.db.index, argv)

    def _deliver(self, client: Client) -> None:
        """A command of *client* is done: log what it did."""
        client.written_offset = self._propagation.deliver()

    def _count(self, command: Command | None, times: int) -> None:
        """Add the time since the last command's end: one look at the clock a command.

        In a transaction it is one for all *times* that a command is run in a row. A command that
        waits is counted when it is answered, however often it runs before.
        """
        if command is None:
            return
        tick = ticks.now_ns()
        command.calls += times
        self.state.stats.commands += times
        command.nanoseconds += tick - self._tick
        self._tick = tick

    # ------------------------------------------------------------------ answering

    def _answer(self, client: Client, reply: Reply) -> None:
        if not client.gate & MUTED:
            _write(client.out, reply)
        elif client.skip:
            client.skip -= 1
            if not client.skip:
                client.open_gate(MUTED)

    def run_again(self, waiter: Waiter) -> Block | None:
        """Run a woken client's command again, checks included; None when it was answered."""
        client, argv = waiter.client, waiter.argv
        command = client.last_command
        assert command is not None  # it is what the client waits in
        if command.flags & DENYOOM and (self.state.short_of_memory or self.state.memory.exceeded()):
            command.rejected += 1
            short = self.state.short_of_memory
            error = errors.NO_MEMORY if short else errors.OUT_OF_MEMORY
            reply: Reply | Block = self._counted(error)
        else:
            reply = self._perform_woken(client, command, argv)
            self._count(command, 0 if isinstance(reply, Block) else 1)
            if self._propagation.ops:
                self._deliver(client)
        if isinstance(reply, Block):
            return reply
        try:
            self._answer(client, reply)
            self.unblocked.append(client)
        except Exception as error:  # not the fault of who has woken it
            faults.report("answering after a wait", error)
            client.hang_up()
        return None

    def _perform_woken(self, client: Client, command: Command, argv: list[bytes]) -> Reply | Block:
        """The same for a woken client. Readers who asked the same share what the first one got."""
        shared = self._shared
        if not command.flags & READONLY:
            shared.forget()
            return self._perform(client, command, argv)
        reply: Reply | Block = shared.reply_to(client, argv)
        if reply is None:
            shared.begin(client, argv)
            reply = self._perform(client, command, argv)
            if isinstance(reply, Encoder):
                shared.keep(reply)
        else:
            client.commands += 1
            self.state.stats.commands += 1
        return reply


def _at_once(call: Callable[[], None]) -> None:
    """Stand in for the end of a turn where there is no loop."""
    call()


def _write(out: Encoder, reply: Reply) -> None:
    """Append *reply*. What a handler has written by itself is not needed afterwards."""
    if type(reply) is Encoder:
        out.move(reply)
    else:
        out.write(reply)


def _touches(client: Client, command: Command, flags: int) -> bool:
    """Whether *command*, or the transaction that it ends, has any of *flags*."""
    if command.name == "exec":
        return bool(client.queue.flags & flags)
    return bool(command.flags & flags)


def _would_queue(client: Client, command: Command) -> bool:
    """Whether a transaction would grow by *command*: then it takes memory whatever it does."""
    return bool(client.gate & IN_MULTI) and not command.flags & NOT_QUEUED
