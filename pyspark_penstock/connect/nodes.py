"""The nodes of a server, the connections to them, and which node has which key.

A server that is no cluster counts as one node that has all slots.
"""

from __future__ import annotations

import logging
import random
import time
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Any

from pyspark_penstock.connect.address import REPLICA, Address, Server, written
from pyspark_penstock.connect.connection import Connection, Redirected, pairs
from pyspark_penstock.connect.dial import Preference, dial, greeted
from pyspark_penstock.connect.slots import Owner, SlotMap, key_slot, place
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import key

ENABLED = b"cluster_enabled:1"
AVOID_S = 10.0  # a replica that could not be used
WHOLE = -1  # the group of all keys of a server that is no cluster
MOST_ASKING = 10_000  # keys whose next node is remembered, against a cluster that never settles

logger = logging.getLogger(__name__)


class Use(Enum):
    """What a connection to a node is for."""

    SLOTS = "keys of the node's own slots"
    COPIES = "keys of which the node is a replica"
    ASKING = "keys of slots that the node is about to get"


class Nodes:
    """The connections of one process to one server, made on first use. Not thread-safe."""

    def __init__(self, server: Server, preference: Preference) -> None:
        self._server = server
        self._preference = preference
        self._copies = server.read_from == REPLICA and preference is not Preference.PRIMARY
        self._chosen = random.random()  # noqa: S311  (which replica)
        self._connections: dict[tuple[Address, Use], Connection] = {}
        self._map: SlotMap | None = None
        self._known: list[Address] = []
        self._asking: dict[bytes, Address] = {}
        self._avoided: dict[Address, float] = {}
        self.is_cluster = False

    def __getstate__(self) -> dict[str, Any]:
        fresh = Nodes(self._server, self._preference)
        return fresh.__dict__

    def close(self) -> None:
        """Close all connections; they are made again when they are needed."""
        self.rest()
        self.forget()

    def rest(self) -> None:
        """Close all connections, and remember who has which slot."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # ------------------------------------------------------------------ which node

    def where(self, name: str) -> tuple[Address, Use]:
        """The node to ask for the key *name*. Raises OSError, ServerError."""
        known, slot = self.map(), key_slot(key(name))
        if self._asking and (asked := self._asking.get(key(name))) is not None:
            return asked, Use.ASKING
        owner = known.owner(slot)
        if owner is None:
            self.forget()
            raise ConnectionError(f"CLUSTERDOWN nobody has the slot {slot}")
        for replica in self._usable(owner.replicas):
            return replica, Use.COPIES
        return owner.primary, Use.SLOTS

    def group(self, name: str) -> object:
        """Equal for keys that one transaction can write: the slot, of a cluster."""
        self.map()
        return key_slot(key(name)) if self.is_cluster else WHOLE

    def _usable(self, replicas: tuple[Address, ...]) -> list[Address]:
        """The replicas to read from, the chosen one first."""
        if not self._copies or not replicas:
            return []
        first = int(self._chosen * len(replicas))
        now = time.monotonic()
        return [
            at for at in replicas[first:] + replicas[:first] if self._avoided.get(at, now) <= now
        ]

    def connection(self, at: Address, use: Use = Use.SLOTS) -> Connection:
        """The connection to a node. Raises OSError, ServerError."""
        found = self._connections.get((at, use))
        if found is None:
            try:
                found = self._connected(at, use)
            except OSError:
                self.lose((at, use))
                raise
            self._connections[at, use] = found
        return found

    def _connected(self, at: Address, use: Use) -> Connection:
        connection = greeted(self._server, at, for_writes=False)
        connection.asking = use is Use.ASKING
        if use is Use.COPIES:
            with suppress(ServerError):
                connection.call("READONLY")
        return connection

    def lose(self, where: tuple[Address, Use] | None) -> None:
        """The node cannot be used now: what is known is not to lead there again at once."""
        if where is not None and where[1] is Use.COPIES:
            self._avoided[where[0]] = time.monotonic() + AVOID_S
        elif where is not None and where[1] is Use.ASKING:
            self._asking.clear()
        self.forget()

    def forget(self) -> None:
        """Ask again who has which slot, before the next request."""
        self._map = None

    # ------------------------------------------------------------------ the map

    def map(self) -> SlotMap:
        """Who has which slot, as last heard. Raises OSError, ServerError."""
        if self._map is None:
            self.learn()
        assert self._map is not None
        return self._map

    def learn(self) -> None:
        """Ask who has which slot. Raises OSError, ServerError."""
        server = self._server
        if self._known:  # another node each time: one that is cut off says what was
            self._known = [*self._known[1:], self._known[0]]
            server = replace(
                server, addresses=tuple(dict.fromkeys([*self._known, *server.addresses]))
            )
        connection = dial(server, self._preference)
        try:
            if self._is_of_cluster(connection):
                self._take(SlotMap(connection.call("CLUSTER", "SLOTS"), connection.address))
            else:
                self._map = SlotMap.of_one(connection.address)
        except BaseException:
            connection.close()
            raise
        old = self._connections.pop((connection.address, Use.SLOTS), None)
        if old is not None:
            old.close()
        self._connections[connection.address, Use.SLOTS] = connection

    def _is_of_cluster(self, connection: Connection) -> bool:
        self.is_cluster = self.is_cluster or is_node(connection)
        if self.is_cluster and self._server.db:
            raise ServerError(
                f"the server at {written(connection.address)} is a node of a cluster, which has "
                f"no database {self._server.db}: leave out 'db'"
            )
        return self.is_cluster

    def _take(self, heard: SlotMap) -> None:
        self._map = heard
        self._known = list(heard.nodes())
        for at, use in list(self._connections):
            if at not in self._known:
                self._connections.pop((at, use)).close()

    # ------------------------------------------------------------------ what went wrong

    def drop(self, connection: Connection) -> None:
        """Close a connection that broke, and ask again who has which slot."""
        connection.close()
        for where, known in list(self._connections.items()):
            if known is connection:
                del self._connections[where]
                self.lose(where)
        self.forget()

    def redirect(self, name: str, connection: Connection, problem: Redirected) -> None:
        """Follow MOVED or ASK of *connection*. Raises ConnectionError if it names no address."""
        asked = connection.address
        copies = self._connections.get((asked, Use.COPIES)) is connection
        self.follow(name, (asked, Use.COPIES if copies else Use.SLOTS), problem)

    def follow(self, name: str, where: tuple[Address, Use], problem: Redirected) -> None:
        """Follow MOVED or ASK of the node *where*. Raises ConnectionError, as ``redirect``."""
        kind, _, rest = str(problem).partition(" ")
        host, _, port = rest.partition(" ")[2].rpartition(":")
        number = int(port) if port.isdecimal() and len(port) < 6 else 0
        at = place(host.encode(), number, where[0])
        if at is None:
            self.forget()
            raise ConnectionError(f"no address in {problem}"[:200]) from None
        if kind == "ASK":
            if len(self._asking) >= MOST_ASKING:
                self._asking.clear()
            self._asking[key(name)] = at
            return
        self._asking.pop(key(name), None)
        if where[1] is Use.COPIES:
            self.lose(where)
        if self._map is None or self._map.owner(key_slot(key(name))) != Owner(at):
            self._hear(at)
        self.map().move(key_slot(key(name)), at)

    def _hear(self, at: Address) -> None:
        """Ask the node that is said to have a slot for its map; if it is away, any."""
        with suppress(OSError, ServerError):
            self._take(SlotMap(self.connection(at).call("CLUSTER", "SLOTS"), at))


def is_node(connection: Connection) -> bool:
    """Whether the server is a node of a cluster. INFO says so; HELLO, where INFO is not allowed.

    A server that allows neither, such as a proxy, counts as none. Raises OSError.
    """
    with suppress(ServerError):
        return ENABLED in connection.call("INFO", "cluster")
    with suppress(ServerError):
        return bool(pairs(connection.call("HELLO")).get("mode") == b"cluster")
    return False
