"""Clients that wait, and how their waits end.

    park()            a handler has returned a Block: its client waits, with its command
    serve_ready()     keys have become ready: the commands of their waiters run again
    serve_keyless()   what WAIT, WAITAOF and DEBUG CLOCK wait for may have come
    read_on()         a read has stopped before its end (XREAD WHERE): its command runs again
    end_over()        the time of some is up
    end()             somebody ends a wait: CLIENT UNBLOCK, a change of the role
    begin_pause(), end_pause()     CLIENT PAUSE holds commands back
    hold_writes(), end_hold()      the server does so with writes

Who waits for what is in server/parts/waiting. Answered clients resume when the turn ends.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply
from server.client.client import HEARS, RESTRICTED, TRACKING, Client, Waiter
from server.client.end_of_turn import EndOfTurn
from server.client.origin import WOKEN
from server.dispatch.admission import Admission
from server.dispatch.execution import Execution
from server.parts.state import ServerState
from server.parts.waiting.pausing import LATEST_MS
from server.parts.waiting.shared_reply import SharedReply
from server.process import faults
from server.process.faults import ServerFault
from server.process.timekeeper import Timekeeper
from server.table.command import Block, Command, Flags

READONLY = int(Flags.READONLY)


class Waits:
    """Runs the commands of clients that were woken, with *execution*."""

    __slots__ = (
        "_admission",
        "_blocking",
        "_execution",
        "_pausing",
        "_propagation",
        "_pushes",
        "_restrictions",
        "_shared",
        "_timekeeper",
        "_turn",
    )

    def __init__(
        self,
        state: ServerState,
        admission: Admission,
        execution: Execution,
        timekeeper: Timekeeper,
        turn: EndOfTurn,
    ) -> None:
        self._admission = admission
        self._execution = execution
        self._timekeeper = timekeeper
        self._turn = turn
        self._blocking = state.blocking
        self._pausing = state.pausing
        self._propagation = state.propagation
        self._pushes = state.pushes
        self._restrictions = state.restrictions
        self._shared = SharedReply(state.events)

    def park(self, client: Client, argv: list[bytes], block: Block) -> None:
        """Let *client* wait, with the command *argv*."""
        now_ms = self._timekeeper.begun_ms() if block.timeout_ms or block.wake_ms > 0 else 0
        self._blocking.park(client, argv, block, now_ms)
        self._pushes.end_command(client)

    # ------------------------------------------------------------------ woken clients

    def serve_ready(self) -> None:
        """Serve the clients whose keys have become ready, unless something holds them.

        What was pushed for them may have expired while the command ran that pushed it. To look
        whether a key wakes them removes it then, and no command of theirs logs that.
        """
        if self._are_held():
            return
        self._timekeeper.catch_up()
        try:
            while (waiter := self._blocking.next_woken()) is not None:
                self._run_again(waiter)
            if self._propagation.ops:
                self._propagation.deliver_each()
        except Exception as error:
            raise ServerFault("waiting clients were not served") from error
        finally:
            self._shared.forget()

    def _are_held(self) -> bool:
        """Whether something keeps all waiters from being served."""
        now = self._restrictions
        return now.must_check and bool(
            self._pausing.active or now.busy is not None or now.stopping or now.refuses_reads
        )

    def read_on(self) -> None:
        """Run one command again that has stopped before it had looked at everything (XREAD WHERE).

        It goes on where it has stopped; if it stops again, it is run again in the next turn.
        """
        if self._are_held():
            self._blocking.hold_unfinished()
            return
        waiter = self._blocking.take_unfinished()
        if waiter is not None and waiter.client.waiter is waiter:
            self._run_again(waiter)
        self.serve_ready()

    def serve_keyless(self) -> None:
        """Run the commands again that wait for no key but for what is kept (WAITAOF)."""
        for waiter in self._blocking.keyless():
            self._run_again(waiter)

    def serve_replicated(self, offset: int) -> None:
        """Run again the keyless commands whose client's writes a replica at *offset* has."""
        for waiter in self._blocking.keyless():
            if waiter.client.replicated_offset <= offset:
                self._run_again(waiter)

    def _run_again(self, waiter: Waiter) -> None:
        """Run a woken client's command again: it is answered, or waits on."""
        client, argv = waiter.client, waiter.argv
        command = client.last_command
        assert command is not None  # it is what the client waits in
        refusal = None
        if client.flags & RESTRICTED or self._restrictions.must_check:
            refusal = self._admission.refusal(client, command, argv, command.flags, WOKEN)
        if refusal is not None:
            reply: Reply | Block = self._execution.rejected(command, refusal)
        else:
            if client.flags & HEARS:
                self._pushes.begin_command(client)
            by_pattern = waiter.block.readers is not None
            reply = self._run_woken(client, command, argv, by_pattern)
            self._execution.finish(client, command, argv, isinstance(reply, Block))
        if isinstance(reply, Block):
            self._pushes.end_command(client)
            block = reply
            if client.waiter is waiter:
                now_ms = self._timekeeper.begun_ms() if block.wake_ms > 0 else 0
                self._blocking.wait_on(waiter, block, now_ms)
            return
        try:
            self._execution.answer(client, reply)
            self._turn.resume_later(client)
        except Exception as error:  # the client that woke it is not to blame
            faults.report("answering after a wait", error)
            client.endpoint.disconnect()
        if client.waiter is waiter:
            self._blocking.forget(waiter)

    def _run_woken(
        self, client: Client, command: Command, argv: list[bytes], by_pattern: bool
    ) -> Reply | Block:
        """Run it. Readers with equal commands share the first one's reply.

        But not if they read *by_pattern*: what each has seen is not in its words.
        """
        shared = self._shared
        if not command.flags & READONLY or by_pattern:
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

    # ------------------------------------------------------------------ ends from outside

    def end_over(self, now_ms: int) -> None:
        """End every wait whose time is up by *now_ms*, in the order of their deadlines.

        Who may claim something by then is served in that order, too. Before all of them are served
        those whose keys are ready already.
        """
        if self._blocking.first_ready is not None:
            self.serve_ready()
        while (waiter := self._blocking.next_over(now_ms)) is not None:
            if waiter.client.waiter is waiter:
                self.serve_ready()
            else:
                self.end(waiter, waiter.block.when_over)

    def end(self, waiter: Waiter, reply: Reply) -> None:
        """End a wait from outside: its time is up, or somebody unblocks the client."""
        client = waiter.client
        command = client.last_command
        assert command is not None  # it is what the client waits in
        if client.waiter is waiter:
            self._blocking.forget(waiter)
        if isinstance(reply, ErrorReply):
            self._execution.failed(command, reply)
        self._execution.ended(client, command, waiter.argv)
        self._execution.answer(client, reply)
        self._turn.resume_later(client)

    # ------------------------------------------------------------------ pauses

    def begin_pause(self, timeout_ms: int, writes_only: bool) -> None:
        """CLIENT PAUSE: hold commands back for *timeout_ms*, or only those that write."""
        self._pausing.begin(self._timekeeper.begun_ms() + timeout_ms, writes_only)
        if self._pausing.until_ms < LATEST_MS:
            self._blocking.timers.wait_until(self._pausing.until_ms)
        self._restrictions.update()

    def end_pause(self) -> None:
        """CLIENT PAUSE is over: serve what became ready meanwhile, and run what was held back."""
        self._resume(self._pausing.end())

    def hold_writes(self) -> None:
        """Hold writes back, whatever CLIENT PAUSE says, until end_hold()."""
        self._pausing.hold_writes()
        self._restrictions.update()

    def end_hold(self) -> None:
        """Writes run again, unless CLIENT PAUSE holds them back."""
        self._resume(self._pausing.end_hold())

    def _resume(self, held: list[Client]) -> None:
        for client in held:
            self._turn.resume_later(client)
        self._restrictions.update()
        self.serve_ready()
