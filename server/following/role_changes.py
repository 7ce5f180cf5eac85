"""What follows when the server becomes a replica or a primary, or hands its role over."""

from __future__ import annotations

from collections.abc import Callable

from server.client.client import Client
from server.dispatch.dispatcher import Dispatcher
from server.table import errors


class RoleChanges:
    """Hears of them from replication; *on_change* is told of each, when clients have been."""

    def __init__(self, dispatcher: Dispatcher, on_change: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._state = dispatcher.state
        self._on_change = on_change
        self._state.replication.listener = self
        self._was_replica = self._state.replication.is_replica

    def role_changed(self) -> None:
        """The server has become a primary or a replica, or follows another primary.

        Clients blocked on a server that becomes a replica would never be woken: they get -UNBLOCKED
        and are disconnected. With another primary, what WAITOFFSET waits for may come yet.
        """
        was_replica, self._was_replica = self._was_replica, self._state.replication.is_replica
        self._state.restrictions.follow_replication()
        if self._state.restrictions.is_replica:
            for client in list(self._state.clients.values()):
                if client.waiter is not None and not (was_replica and _awaits_offset(client)):
                    self._dispatcher.waits.end(client.waiter, errors.BECAME_REPLICA)
                    client.close_after_reply = True
        else:
            self._state.events.replica_expiry.clear()
            self._dispatcher.waits.serve_keyless()  # what WAITOFFSET waits for may never come
        self._on_change()

    def hold_writes(self, holds: bool) -> None:
        """Pause writes while a replica catches up; resume them if not *holds*."""
        if holds:
            self._dispatcher.waits.hold_writes()
        else:
            self._dispatcher.waits.end_hold()


def _awaits_offset(client: Client) -> bool:
    return client.last_command is not None and client.last_command.name == "waitoffset"
