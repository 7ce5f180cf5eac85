"""The turn of the event loop: all its answers leave together, when it ends.

    begin(), end()           sockets are about to be served, and have been
    send_later(connection)   it has answers; outside of a turn, its end is asked for
    send_all()               the turn is over: the AOF is written, then all answers leave
    send_now(connection)     there are many answers already: the same for one connection

A client that is awake is not woken once more, and the AOF is written once for all. One connection's
fault never leaves the others unanswered.
"""

from __future__ import annotations

from collections.abc import Callable

from protocol.replies import ErrorReply
from server.client import closed
from server.client.client import Client
from server.client.endpoint import Endpoint
from server.dispatch.client_eviction import ClientEviction
from server.dispatch.execution import Execution
from server.dispatch.restrictions import Restrictions
from server.dispatch.value_packing import ValuePacking
from server.observe.loop_times import LoopTimes
from server.process import faults, memory_reserve
from server.process.faults import ServerFault
from server.propagation.propagation import Propagation
from server.table import errors


class Turn:
    """Collects the connections that have answers.

    Who serves the sockets calls begin() and end(). If nobody does so now, *at_end_of_turn* has a
    call made when the turn of the loop is over; without a loop, at once.
    """

    __slots__ = (
        "_client_eviction",
        "_clients",
        "_execution",
        "_is_on",
        "_loop_times",
        "_propagation",
        "_restrictions",
        "_send_all",
        "_to_send",
        "_value_packing",
        "at_end_of_turn",
    )

    def __init__(
        self,
        execution: Execution,
        propagation: Propagation,
        clients: dict[int, Client],
        restrictions: Restrictions,
        client_eviction: ClientEviction,
        value_packing: ValuePacking,
        loop_times: LoopTimes,
    ) -> None:
        self._execution = execution
        self._propagation = propagation
        self._clients = clients
        self._restrictions = restrictions
        self._client_eviction = client_eviction
        self._value_packing = value_packing
        self._loop_times = loop_times
        self._to_send: list[Endpoint] = []
        self.at_end_of_turn: Callable[[Callable[[], None]], object] = _at_once
        self._send_all = self.send_all  # bound once, not each turn
        self._is_on = False

    def begin(self) -> None:
        """Sockets are about to be served; end() will follow."""
        self._is_on = True
        self._loop_times.begin()

    def end(self) -> None:
        """They have been served."""
        self._is_on = False
        if self._to_send:
            self.send_all()
        self._client_eviction.make_room()
        self._value_packing.pack_some()
        closed.let_go()
        self._loop_times.end()

    def send_later(self, connection: Endpoint) -> None:
        """Have the answers of *connection* sent when this turn of the loop ends."""
        self._to_send.append(connection)
        if not self._is_on and len(self._to_send) == 1:
            self._await_end()

    def _await_end(self) -> None:
        try:
            self.at_end_of_turn(self._send_all)
        except Exception as error:
            raise ServerFault("answers would never be sent") from error

    def send_all(self) -> None:
        """The turn of the loop ends: send what has been answered in it."""
        to_send, self._to_send = self._to_send, []
        if memory_reserve.is_gone():
            self._refuse_what_needs_memory()
        self._write_log(to_send)
        at = 0
        while at < len(to_send):
            try:
                while at < len(to_send):
                    connection = to_send[at]
                    at += 1
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
        """Send the answers of *connection* in the midst of a turn: there are many, or no more."""
        self._write_log([connection])
        connection.send()

    # ------------------------------------------------------------------ the log comes first

    def _write_log(self, connections: list[Endpoint]) -> None:
        """Write the AOF before answers leave.

        While reads are refused, what is answered tells nothing of the data, and may leave.
        """
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
        self._refuse_answers(error_reply, connections, durability.synced_offset)

    def _refuse_answers(
        self, error: ErrorReply, connections: list[Endpoint], synced_offset: int
    ) -> None:
        """What this turn has written is not safe: nothing that may derive from it must leave.

        Each client that has an answer, be it to a read, gets *error* instead and is disconnected.
        From now on data is not even read, until all is safe.
        """
        for connection in connections + self._to_send:
            connection.refuse(error)
        for client in list(self._clients.values()):
            if client.out.size():  # it was woken, and is sent its answer later
                client.refuse(error)
            elif client.written_offset > synced_offset:  # it wants no answers
                client.endpoint.disconnect()
        self._restrictions.follow_persistence()


def _at_once(call: Callable[[], None]) -> None:
    """Stand in for the end of a turn where there is no loop."""
    call()
