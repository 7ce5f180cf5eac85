"""Execution: a command's handler is run, what it changed is logged, its time is counted.

    run(client, command, argv, origin) -> what is to be answered, or a Block
    finish()    it is counted, and what it has changed is logged
    answer()    the client is given the reply

It is re-entrant: EXEC and scripts run commands inside a command. Each depth has a Call of
its own. What run() gives can be written to the client, put into EXEC's array, or handed to a
script.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply
from server.client.client import ACKS, MUTED, REPLICA, RESTRICTED, TRACKING, Client
from server.client.command_queue import CommandQueue
from server.client.origin import EXEC, LOG, PRIMARY, REPLAYED, SCRIPT, WOKEN
from server.dispatch.call import Call, Executor
from server.observe.command_stats import CommandStats
from server.observe.command_times import CommandTimes
from server.observe.monitors import Monitors
from server.parts.propagation.propagation import Propagation
from server.parts.state import ServerState
from server.process import faults, memory_reserve
from server.process.faults import ServerFault
from server.process.timekeeper import Timekeeper
from server.table import errors
from server.table.command import Block, Command, Flags
from server.table.errors import CountedError
from storage.errors import StorageError

WRITE = int(Flags.WRITE)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
TOUCHES_DATA = int(Flags.WRITE | Flags.READONLY | Flags.RUNS_SCRIPTS | Flags.READS_OTHERS)
HIDDEN_FROM_MONITORS = int(Flags.ADMIN | Flags.SKIP_MONITOR)  # an operator's are too delicate
NOT_SHOWN = WOKEN | LOG  # it was shown when it came, or ran long ago
ANSWERED_APART = MUTED | ACKS
NO_WORDS: list[bytes] = []


class Execution:
    """Runs commands to their end, one at a time. *executor* is what handlers may ask for."""

    __slots__ = (
        "_access",
        "_calls",
        "_clock",
        "_confirmations",
        "_depth",
        "_events",
        "_executor",
        "_failures",
        "_inner_ns",
        "_lookup",
        "_monitors",
        "_propagation",
        "_pushes",
        "_replay_failures",
        "_restrictions",
        "_state",
        "_stats",
        "_timekeeper",
        "_times",
    )

    def __init__(self, state: ServerState, timekeeper: Timekeeper, executor: Executor) -> None:
        self._state = state
        self._timekeeper = timekeeper
        self._executor = executor
        self._access = state.access
        self._events = state.events
        self._clock = state.events.clock
        self._lookup = state.events.lookup
        self._replay_failures = state.replay_failures
        self._confirmations = state.replication.confirmations
        self._restrictions = state.restrictions
        self._propagation: Propagation = state.propagation
        self._monitors: Monitors = state.monitors
        self._pushes = state.pushes
        self._stats: CommandStats = state.command_stats
        self._times: CommandTimes = state.command_times
        self._calls = [Call(state, executor)]  # by depth: each is used again and again
        self._depth = 0
        self._inner_ns = 0  # that the commands of a script have taken, which counts as its time too
        self._failures = 0  # of allocations, that have been answered for

    # ------------------------------------------------------------------ one command

    def run(
        self, client: Client, command: Command, argv: list[bytes], origin: int
    ) -> Reply | Block:
        """Run the handler and log what it changed. A refusal is a reply.

        Raises ServerFault when it is not known whether that was all, and nothing else.
        """
        state = self._state
        if self._depth == len(self._calls):
            self._calls.append(Call(state, self._executor))
        call = self._calls[self._depth]
        call.client = client
        call.argv = argv
        call.command = command
        call.db = state.databases[client.db_index]
        call.now_ms = self._clock.now_ms
        call.origin = origin
        call.is_logged = self._propagation.is_on and not origin & LOG
        self._lookup.no_touch = client.no_touch or self._lookup.by_writes
        self._lookup.hides_expired = self._restrictions.must_check and self._hides_expired(
            command, origin
        )
        if self._monitors.are_there and command.flags & RUNS_SCRIPTS:
            self._show(client, command, argv, origin)  # before what it runs
        outer, self._events.logged = self._events.logged, None
        self._depth += 1
        try:
            reply = self._handle(command, call, self._events.changes)
        finally:
            self._depth -= 1
            self._lookup.hides_expired = self._restrictions.hides_expired
            call.argv = NO_WORDS  # the parser may use the list again
            if self._depth and call.is_logged and outer is None:
                outer = []  # the script or EXEC around it is not logged: its commands are
            self._events.logged = outer
        if origin & REPLAYED and not origin & SCRIPT and isinstance(reply, ErrorReply):
            self._replay_failures.failed(command.name, reply, origin)
        if self._monitors.are_there and not command.flags & HIDDEN_FROM_MONITORS:
            self._show(client, command, argv, origin)
        if client.flags & TRACKING:
            self._state.tracking.command_ran(client, command, argv)
        return reply

    def _hides_expired(self, command: Command, origin: int) -> bool:
        """Whether *command* must leave a key that has expired: writes are paused, and it reads.

        A write that runs nevertheless, in the very EXEC that has begun the pause, removes it. On a
        replica only what its primary sends removes keys.
        """
        if self._restrictions.is_replica:
            return not origin & PRIMARY
        return bool(self._state.pausing.active) and not command.flags & WRITE

    def _handle(self, command: Command, call: Call, changes: int) -> Reply | Block:
        try:
            reply = command.handler(call)  # type: ignore[misc]  # a row without one has subcommands
            if call.is_logged and changes != self._events.changes:
                self._propagate(call, command)
        except ErrorReply as error:
            reply = error.with_traceback(None)  # else a constant's grows for ever
        except StorageError as refusal:
            reply = errors.on_the_wire(refusal)
        except Exception as error:
            self._check_unchanged(command, error, changes)
            faults.report(command.name, error)
            reply = errors.NO_MEMORY if isinstance(error, MemoryError) else errors.INTERNAL
        else:
            if command.flags & RUNS_SCRIPTS and self._state.scripting.run.has_failed:
                count = self._stats.of(command)
                count.failed += 1
            return reply
        if call.is_logged and changes != self._events.changes:
            self._propagate(call, command)  # it has refused halfway
        return self.failed(command, reply)

    def _check_unchanged(self, command: Command, error: Exception, changes: int) -> None:
        """See that a handler that has raised *error* had changed nothing by then.

        It has if more *changes* are counted than before it; and it may have if an allocation of any
        size has failed since the last one that was looked at here. Raises ServerFault.
        """
        broke_off = isinstance(error, MemoryError) and self._failures != memory_reserve.failures()
        self.note_failures()
        if changes != self._events.changes or (broke_off and command.flags & WRITE):
            raise ServerFault(f"{command.name} stopped halfway through its changes") from error

    def note_failures(self) -> None:
        """The allocations that have failed so far have been answered for."""
        self._failures = memory_reserve.failures()

    def _show(self, client: Client, command: Command, argv: list[bytes], origin: int) -> None:
        """Show the command to the clients in MONITOR."""
        if origin & NOT_SHOWN:
            return
        source = "lua" if origin & SCRIPT else client.address
        if client.address.endswith(":0"):
            source = "unix:" + client.address.removesuffix(":0")
        words = command.without_secrets(argv)
        self._monitors.feed(self._timekeeper.unix_us(), client.db_index, source, words)

    def _propagate(self, call: Call, command: Command) -> None:
        """Have logged what the handler said, or else what the client sent."""
        if self._events.logged is not None:
            for words in self._events.logged:
                self._propagation.add(call.db.index, list(words))
        elif command.flags & WRITE:
            self._propagation.add(call.db.index, call.argv)

    # ------------------------------------------------------------------ commands inside a command

    def run_queued(self, client: Client, queue: CommandQueue) -> Encoder:
        """Run what *client* has queued, for EXEC; the array of the replies.

        None of them waits, and errors are values. Each reply is written when it is there, in the
        protocol that the client speaks by then.
        """
        replies = client.out.another()
        replies.array(len(queue))
        origin = EXEC | self._calls[self._depth - 1].origin & REPLAYED
        if client.acks is not None:
            client.acks.reads = bool(queue.flags & TOUCHES_DATA)
        whole_ns = 0
        for command in queue.commands:
            argv = queue.next_words()
            reply: Reply | Block = self._denied(client, command, argv)
            if reply is None:
                reply = self.run(client, command, argv, origin)
                whole_ns += self.count(client, command, argv, False)
            replies.resp = client.out.resp
            write(replies, reply.when_denied if isinstance(reply, Block) else reply)
        if whole_ns >= self._times.slow_ns:
            self._state.latency_events.add_if_long(b"command", whole_ns, self._now_s())
        return replies

    def run_called(self, client: Client, command: Command, argv: list[bytes], origin: int) -> Reply:
        """Run a command that a script has called. It does not wait, and an error is a value."""
        self._inner_ns += self._timekeeper.lap()  # of Lua, which is not the command's
        reply = self.run(client, command, argv, origin)
        took_ns = self.count(client, command, argv, False)
        self._inner_ns += took_ns
        self._state.stats.nested_ns += took_ns
        return reply.when_denied if isinstance(reply, Block) else reply

    def origin_in_script(self) -> int:
        """Where the commands come from that the script calls which runs now."""
        call = self._calls[self._depth - 1]
        return SCRIPT | call.origin & REPLAYED

    def _denied(self, client: Client, command: Command, argv: list[bytes]) -> ErrorReply | None:
        """Why a queued command must not run any more.

        The user has lost the right to, since it was queued; or the transaction itself has made the
        server a replica, which would have what no other server has.
        """
        now = self._restrictions
        if now.is_replica and now.role_refusal is not None and command.flags & WRITE:
            outer = self._calls[self._depth - 1]
            if not outer.origin & REPLAYED:
                return self.rejected(command, now.role_refusal)
        if not client.flags & RESTRICTED:
            return None
        denial = client.user.denial(command, argv)
        if denial is None:
            return None
        return self.rejected(command, self._access.refused(client, denial, EXEC))

    def replay(self, client: Client, command: Command, argv: list[bytes]) -> None:
        """Run a command that was logged. Raises ServerFault if it could not be run."""
        self.run(client, command, argv, LOG)
        if self._replay_failures.unrun:
            raise ServerFault(f"a logged {command.name} was not run")

    def apply(self, client: Client, command: Command, argv: list[bytes]) -> Reply | Block:
        """Run a command that the primary has sent; what has expired is there until it says DEL."""
        self._lookup.keeps_expired = True
        try:
            return self.run(client, command, argv, PRIMARY)
        finally:
            self._lookup.keeps_expired = False

    # ------------------------------------------------------------------ the end of a command

    def finish(self, client: Client, command: Command, argv: list[bytes], waits: bool) -> None:
        """Count the command that has run, and log what it has changed; *waits*: it is to wait."""
        self.count(client, command, argv, waits)
        if self._propagation.ops:
            client.written_offset = self._propagation.deliver()
            client.replicated_offset = self._propagation.stream_offset
        if client.flags & ACKS and not waits:
            self._confirmations.ran(client, command, argv)

    def ended(self, client: Client, command: Command, argv: list[bytes]) -> None:
        """Count a command that has waited, and was ended from outside. It may have changed data."""
        self.count(client, command, argv, False)
        if client.flags & ACKS:
            self._confirmations.ran(client, command, argv)

    def answer(self, client: Client, reply: Reply) -> None:
        """Give *client* the reply to its command."""
        if client.flags & ANSWERED_APART or self._pushes.running is not None:
            self._answer_rare(client, reply)
        else:
            write(client.out, reply)

    def _answer_rare(self, client: Client, reply: Reply) -> None:
        """Answer a client that has replies switched off or held, or gets messages after them."""
        if not client.flags & MUTED:
            start = client.out.size()
            write(client.out, reply)
            if client.acks is not None and client.acks.needs:
                client.acks.mark(start, client.out.size())
        else:
            drop(reply)
            if client.acks is not None:
                client.acks.needs = 0
            if client.skip:
                client.skip -= 1
                if not client.skip:
                    client.clear_flag(MUTED)
        self._pushes.end_command(client)
        if client.flags & TRACKING:
            self._state.tracking.command_done(client)
        if client.replica is not None and client.flags & REPLICA:
            self._executor.waits.serve_replicated(client.replica.acked)  # it may have told that

    # ------------------------------------------------------------------ counting

    def count(self, client: Client, command: Command, argv: list[bytes], waits: bool) -> int:
        """Count a command that is answered; the ns that it took, by one look at the clock.

        A command that *waits* takes time whenever it runs, and is counted when it is answered.
        """
        count = self._stats.of(command)
        ns = self._timekeeper.lap()
        if command.flags & RUNS_SCRIPTS:
            ns += self._inner_ns
            self._inner_ns = 0
        count.nanoseconds += ns
        if waits:
            return ns
        count.calls += 1
        client.commands += 1
        self._state.stats.commands += 1
        if self._times.fills_histograms:
            count.latencies.record(ns)
        if ns >= self._times.slow_ns:
            self._times.was_slow(client, command, argv, ns, self._now_s(), count)
        return ns

    def _now_s(self) -> int:
        return self._timekeeper.unix_us() // 1_000_000

    def rejected(self, command: Command, error: ErrorReply) -> ErrorReply:
        """Count *error*, for which *command* was refused before it ran."""
        count = self._stats.of(command)
        count.rejected += 1
        return self.counted(error)

    def failed(self, command: Command, error: ErrorReply) -> ErrorReply:
        """Count *error*, which *command* has answered."""
        count = self._stats.of(command)
        count.failed += 1
        return self.counted(error)

    def counted(self, error: ErrorReply) -> ErrorReply:
        """Count *error*. Most errors are shared: none may gather the tracebacks of its uses."""
        error.__traceback__ = None
        error.__context__ = None
        if not isinstance(error, CountedError):
            self._state.stats.count_error(error.code if error.text else "ERR")
        return error


def write(out: Encoder, reply: Reply) -> None:
    """Append *reply* to *out*. What a handler has written by itself is not needed afterwards."""
    if type(reply) is Encoder:
        out.move(reply)
    else:
        out.write(reply)


def drop(reply: Reply) -> None:
    """Nobody is given *reply*: let go of what it holds, for its encoder may be used again."""
    if type(reply) is Encoder:
        reply.clear()
