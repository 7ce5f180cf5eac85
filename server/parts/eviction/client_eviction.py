"""maxmemory-clients: clients are disconnected while all of them hold more memory than it allows.

Those that hold the most go first. One that has asked for it (CLIENT NO-EVICT) is spared, but what
it holds counts. It is looked after before each command, at the end of each turn, and by cron.
"""

from __future__ import annotations

import logging

from server.client import client_line
from server.client.client import CLIENT_BYTES, Client
from server.observe.memory import Memory
from server.observe.part import Part
from storage.keyspace.settings import Clock

_log = logging.getLogger("penstock")


class ClientEviction(Part):
    """Disconnects the greatest of *clients*. *clock* tells the server log how old they are."""

    __slots__ = ("_clients", "_clock", "_found_none", "_memory", "evicted")

    def __init__(self, clients: dict[int, Client], memory: Memory, clock: Clock) -> None:
        self._clients = clients
        self._memory = memory
        self._clock = clock
        self._found_none = False  # since cron has ticked: to look again would find none either
        self.evicted = 0

    def make_room(self) -> bool:
        """Disconnect clients until those that remain hold no more than they may.

        Whether it had to be tried; then O(clients).
        """
        if self._memory.clients <= self._memory.clients_limit or self._found_none:
            return False
        self._evict()
        return True

    def _evict(self) -> None:
        clients = [client for client in self._clients.values() if not client.no_evict]
        clients.sort(key=bytes_of, reverse=True)
        for client in clients:
            if self._memory.clients <= self._memory.clients_limit:
                return
            line = client_line.line(client, self._clock.now_ms).decode("utf-8", "replace")
            _log.info("Evicting client: %s", line)
            self.evicted += 1
            client.endpoint.disconnect()
        self._found_none = True

    def tick(self, now_ms: int) -> None:
        self._found_none = False
        self.make_room()

    def statistics_reset(self) -> None:
        self.evicted = 0


def bytes_of(client: Client) -> int:
    """The bytes that *client* holds: itself, its requests and replies, and what it watches."""
    return CLIENT_BYTES + client.memory + client.held + len(client.out)
