"""What follows when the server becomes a replica or a primary, or hands its role over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from protocol.replies import Reply
from server.client.client import Waiter
from server.dispatch.pausing import LATEST_MS
from server.dispatch.state import ServerState
from server.table import errors


class Waits(Protocol):
    """Who ends the waits of clients: the dispatcher."""

    state: ServerState

    def end_wait(self, waiter: Waiter, reply: Reply) -> None: ...

    def end_pause(self) -> None: ...


class RoleChanges:
    """Hears of them from replication. *on_change* is told of each; see server/app.py."""

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._state = waits.state
        self.on_change: Callable[[], None] = _nobody_minds
        self._state.replication.on_role = self.role_changed
        self._state.replication.failover.on_pause = self.pause

    def role_changed(self) -> None:
        """The server has become a primary or a replica, or follows another primary.

        Who waits on a server that is a replica now would wait in vain: it is told so, and closed.
        """
        self._state.restrictions.follow_replication()
        if self._state.restrictions.is_replica:
            for client in list(self._state.clients.values()):
                if client.waiter is not None:
                    self._waits.end_wait(client.waiter, errors.BECAME_REPLICA)
                    client.close_after_reply = True
        else:
            self._state.events.replica_expiry.clear()
        self.on_change()

    def pause(self, holds: bool) -> None:
        """Hold writes back while a replica catches up; let them go on if not *holds*."""
        if holds:
            self._state.pausing.begin(LATEST_MS, True)
            self._state.restrictions.update()
        else:
            self._waits.end_pause()


def _nobody_minds() -> None:
    """Do nothing: the server does not listen."""
