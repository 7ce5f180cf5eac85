"""The turn of the event loop: the one entry for events from outside, and one exit for replies.

    begin() ... end()     around all sockets that were found ready together
    run(call)             around a timer, or another call of the event loop
    enter()               in each of them: something has come, and what time is it?

Commands run in a turn. What they bring with them waits for its end:

    1. The clients are served whose keys have become ready, if no command has done that.
    2. Clients that were answered after a wait resume, with what they have pipelined.
    3. The AOF is written, once; then all replies leave, with one write a client and turn. It is
       written also if nobody wants a reply.
    4. Clients over maxmemory-clients are evicted; what was closed is freed.

One connection's fault never leaves the others unanswered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from protocol.replies import ErrorReply
from server.client import closed
from server.client.client import Client
from server.client.end_of_turn import EndOfTurn
from server.client.endpoint import Endpoint
from server.dispatch.admission import Admission
from server.dispatch.execution import Execution
from server.dispatch.waits import Waits
from server.parts.propagation.propagation import Propagation
from server.parts.state import ServerState
from server.process import faults, memory_reserve
from server.process.faults import ServerFault
from server.process.timekeeper import Timekeeper
from server.table import errors


class Loop(Protocol):
    """The event loop that the turns are of."""

    def call_soon(self, call: Callable[[], None]) -> object:
        """Make *call* after the present turn."""


class WithoutLoop:
    """Stands in for the loop before the server has started: there is nothing to wait for."""

    def call_soon(self, call: Callable[[], None]) -> None:
        call()


class Turn(EndOfTurn):
    """Collects the clients that have replies, or resume after a wait; *waits* serves ready keys.

    A backend calls begin() and end() around the sockets it serves. Where it cannot know when all
    are served, as with the event loop's own transports, *loop* ends the turn.
    """

    __slots__ = (
        "_blocking",
        "_client_eviction",
        "_clients",
        "_execution",
        "_finish",
        "_first_to_resume",
        "_first_to_send",
        "_is_on",
        "_last_to_resume",
        "_last_to_send",
        "_loop_times",
        "_propagation",
        "_restrictions",
        "_timekeeper",
        "_value_packing",
        "loop",
        "waits",
    )

    def __init__(
        self,
        state: ServerState,
        admission: Admission,
        execution: Execution,
        timekeeper: Timekeeper,
    ) -> None:
        self.waits = Waits(state, admission, execution, timekeeper, self)
        self._execution = execution
        self._timekeeper = timekeeper
        self._blocking = state.blocking
        self._propagation: Propagation = state.propagation
        self._clients = state.clients
        self._restrictions = state.restrictions
        self._client_eviction = state.client_eviction
        self._value_packing = state.value_packing
        self._loop_times = state.loop_times
        self._first_to_send: Endpoint | None = None  # chains, as lists would be made each turn
        self._last_to_send: Endpoint | None = None
        self._first_to_resume: Client | None = None
        self._last_to_resume: Client | None = None
        self.loop: Loop = WithoutLoop()
        self._finish = self.finish  # bound once, not each turn
        self._is_on = False

    def begin(self) -> None:
        """Sockets are about to be served; end() will follow."""
        self._is_on = True
        self._timekeeper.begin()
        self._loop_times.begin()

    def end(self) -> None:
        """They have been served."""
        self.finish()
        self._loop_times.end()

    def run(self, call: Callable[[], object]) -> None:
        """Make *call*, of a timer or another call of the loop, as a turn of its own."""
        self.begin()
        self.enter()
        call()
        self.end()

    def run_later(self, call: Callable[[], object]) -> None:
        """Run *call* when this turn has ended, and the sockets have had theirs."""
        self.loop.call_soon(partial(self.run, call))

    def enter(self) -> None:
        """Something has come from outside: look at the clock, and see that the turn will end."""
        if self._is_on:
            self._timekeeper.catch_up()
        else:
            self._timekeeper.begin()
            self._await_end()

    def send_later(self, connection: Endpoint) -> None:
        """Have the answers of *connection* sent when this turn ends."""
        if connection.is_to_send:
            return
        connection.is_to_send = True
        if self._last_to_send is None:
            self._first_to_send = connection
        else:
            self._last_to_send.next_to_send = connection
        self._last_to_send = connection
        if not self._is_on:
            self._await_end()

    def resume_later(self, client: Client) -> None:
        """*client* was answered after a wait: resume it when this turn ends."""
        if client.is_to_resume:
            return
        client.is_to_resume = True
        if self._last_to_resume is None:
            self._first_to_resume = client
        else:
            self._last_to_resume.next_to_resume = client
        self._last_to_resume = client
        if not self._is_on:
            self._await_end()

    def _await_end(self) -> None:
        self._is_on = True
        try:
            self.loop.call_soon(self._finish)
        except Exception as error:
            raise ServerFault("answers would never be sent") from error

    def finish(self) -> None:
        """Do what has waited for the end of the turn."""
        if self._blocking.first_ready is not None:
            self.waits.serve_ready()
        while self._first_to_resume is not None:
            self._resume_all()
        self._is_on = False
        self._blocking.looks = 0
        if self._first_to_send is not None:
            self._send_all()
        elif self._propagation.has_unwritten:  # of those who want no replies
            self._write_log(None)
        self._client_eviction.make_room()
        self._value_packing.pack_some()
        closed.let_go()

    def _resume_all(self) -> None:
        """Resume answered clients; what they run may have others resume."""
        rest = self._first_to_resume
        self._first_to_resume = self._last_to_resume = None
        while rest is not None:
            client, rest = rest, rest.next_to_resume
            client.next_to_resume = None
            client.is_to_resume = False
            endpoint = client.endpoint  # held: it may be disconnected, and freed, during this
            try:
                endpoint.resume()
            except Exception as error:
                faults.report("going on after a wait", error)
                endpoint.disconnect()

    def _send_all(self) -> None:
        """Write the AOF, then send what has been answered."""
        if memory_reserve.is_gone():
            self._refuse_what_needs_memory()
        self._write_log(None)
        rest = self._first_to_send
        self._first_to_send = self._last_to_send = None
        while rest is not None:
            try:
                while rest is not None:
                    connection, rest = rest, rest.next_to_send
                    connection.next_to_send = None
                    connection.is_to_send = False
                    connection.send()
            except Exception as error:
                faults.report("sending answers", error)
                connection.disconnect()

    def _refuse_what_needs_memory(self) -> None:
        """Until cron has the reserve again. What this turn has begun has been ended with it."""
        faults.report("what was begun has needed the reserve", MemoryError())
        self._execution.note_failures()
        self._restrictions.set_short_of_memory(True)

    def send_now(self, connection: Endpoint) -> None:
        """Send the replies of *connection* during a turn: there are many, or no more will come."""
        self._write_log(connection)
        connection.send()

    # ------------------------------------------------------------------ the AOF comes first

    def _write_log(self, connection: Endpoint | None) -> None:
        """Write the AOF before answers leave: those of *connection*, or all that wait.

        While reads are refused, what is answered tells nothing of the data, and may leave.
        """
        self._propagation.has_unwritten = False
        durability = self._propagation.durability
        if durability is None:
            return
        if self._propagation.ops:
            raise ServerFault(f"a change was not logged: {self._propagation.ops[0][1][0]!r}")
        try:
            is_kept = durability.write()
        except Exception as error:
            raise ServerFault("the append only file was not written") from error
        if is_kept or durability.synced_offset >= durability.offset:
            return
        if self._restrictions.refuses_reads:
            return
        error_reply = errors.aof_write_failed_afterwards(durability.error)
        self._refuse_answers(error_reply, connection, durability.synced_offset)

    def _refuse_answers(
        self, error: ErrorReply, connection: Endpoint | None, synced_offset: int
    ) -> None:
        """What this turn has written is not safe: nothing that may derive from it must leave.

        Each client that has an answer, be it to a read, gets *error* instead and is disconnected.
        From now on data is not even read, until all is safe.
        """
        if connection is not None:
            connection.refuse(error)
        waiting = self._first_to_send
        while waiting is not None:
            waiting.refuse(error)
            waiting = waiting.next_to_send
        for client in list(self._clients.values()):
            if client.out.size():  # it was woken, and is sent its answer later
                client.refuse(error)
            elif client.written_offset > synced_offset:  # it wants no answers
                client.endpoint.disconnect()
        self._restrictions.follow_persistence()
