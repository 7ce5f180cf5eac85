"""A part of the server, and what all parts are told.

    client_left(client)       a connection is closed: nothing of the client stays with the part
    client_reset(client)      RESET: its connection is as if it were new
    tick(now_ms)              cron's tick, hz times a second
    statistics_reset()        CONFIG RESETSTAT
    configured(config)        the start, and CONFIG SET: parameters may have other values
    emptying(databases)       FLUSHALL and its like: all keys of these are about to go
    emptied(databases)        they have gone
    clock_moved(now_ms)       DEBUG CLOCK has moved the server's clock

ServerState.parts lists them all. A new part enters itself there, and nobody else has to know it.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.client.client import Client
from server.config.parameters import Config
from storage.keyspace.keyspace import Keyspace


class Part:
    """Hears of nothing: a part overrides what concerns it."""

    __slots__ = ()

    def client_left(self, client: Client) -> None:
        """The connection of *client* is closed, or about to be. Told once."""

    def client_reset(self, client: Client) -> None:
        """*client* has reset its connection."""

    def tick(self, now_ms: int) -> None:
        """Cron ticks; *now_ms* is the system's monotonic clock, which nothing moves."""

    def statistics_reset(self) -> None:
        """Reset the counters."""

    def configured(self, config: Config) -> None:
        """Parameters may have changed: take from *config* what concerns the part."""

    def emptying(self, databases: Sequence[Keyspace]) -> None:
        """All keys of *databases* are about to go, or to be exchanged between them."""

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        """All keys of *databases* have gone, or have been exchanged between them."""

    def clock_moved(self, now_ms: int) -> None:
        """Commands see the unix time *now_ms* all at once, which may be earlier than before."""
