"""The wait before a stop, in which replicas get what they lack.

Writes are paused meanwhile, for shutdown-timeout seconds at most. The client that sent SHUTDOWN is
blocked; SHUTDOWN ABORT cancels the stop, and SHUTDOWN NOW skips the wait.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from protocol.replies import ErrorReply
from server.dispatch.dispatcher import Dispatcher
from server.following.role_changes import RoleChanges
from server.observe.part import Part
from server.process.server_clock import monotonic_ms

FAILED = ErrorReply("ERR", "Errors trying to SHUTDOWN. Check logs.")

_log = logging.getLogger("penstock")


class Farewell(Part):
    """Calls *stop* with the options of SHUTDOWN when no replica lacks anything, or time is up.

    *stop* returns False if the server keeps running. Times are monotonic ms.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        roles: RoleChanges,
        stop: Callable[[frozenset[bytes]], bool],
        now_ms: Callable[[], int] = monotonic_ms,
    ) -> None:
        self._dispatcher = dispatcher
        self._roles = roles
        self._state = dispatcher.state
        self._stop = stop
        self._now_ms = now_ms
        self._options: frozenset[bytes] | None = None
        self._due_ms = 0

    @property
    def is_on(self) -> bool:
        return self._options is not None

    @property
    def left_ms(self) -> int | None:
        """How long it still waits, at most; None if it does not."""
        return max(0, self._due_ms - self._now_ms()) if self.is_on else None

    def begin(self, options: frozenset[bytes]) -> bool:
        """Whether *stop* will be called later, since a replica lacks something."""
        timeout_ms = self._state.config.shutdown_timeout * 1000
        if self.is_on or b"NOW" in options or not timeout_ms:
            return False
        if self._state.replication.is_replica or not self._state.replication.are_behind():
            return False
        self._options = options
        self._due_ms = self._now_ms() + timeout_ms
        self._roles.hold_writes(True)
        self._state.replication.ask_offsets()
        _log.info("Waiting for replicas before shutting down.")
        return True

    def tick(self, now_ms: int) -> None:
        if self._options is None:
            return
        is_late = now_ms >= self._due_ms
        if is_late or not self._state.replication.are_behind():
            if is_late:
                _log.warning("Replicas lack something of what was done; the server stops")
            options = self._options
            if not self._stop(options):
                self._end()

    def abort(self) -> bool:
        """SHUTDOWN ABORT; False if there is nothing to abort."""
        if not self.is_on:
            return False
        _log.info("Shutdown manually aborted.")
        self._end()
        return True

    def _end(self) -> None:
        """The server keeps running: tell the clients that have sent SHUTDOWN."""
        self._options = None
        for client in list(self._state.clients.values()):
            command = client.last_command
            if client.waiter is not None and command is not None and command.name == "shutdown":
                self._dispatcher.waits.end(client.waiter, FAILED)
        self._roles.hold_writes(False)
