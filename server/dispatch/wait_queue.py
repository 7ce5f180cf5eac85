"""The waiters of one key, oldest first, each of whom may leave from wherever it stands.

    Queue   first ---> Spot <--> Spot <--> Spot <--- last
                        |         |         |
                       waiter    waiter    waiter       a waiter has a spot in each of its queues

All operations are O(1).
"""

from __future__ import annotations

from collections.abc import Iterator

from server.client.client import Standing, Waiter
from storage.keyspace.keyspace import Keyspace


class Spot(Standing):
    """Where *waiter* stands in *queue*."""

    __slots__ = ("before", "behind", "queue", "waiter")

    def __init__(self, queue: Queue, waiter: Waiter) -> None:
        self.queue = queue
        self.waiter = waiter
        self.before: Spot | None = None
        self.behind: Spot | None = None

    def leave(self) -> None:
        self.queue.remove(self)

    def go_to_tail(self) -> None:
        self.queue.move_to_tail(self)


class Queue:
    """Who waits for *key* of *database*. It is in *registry* as long as there is anybody."""

    __slots__ = ("_registry", "database", "first", "is_ready", "key", "last", "on_no_key")

    def __init__(self, database: Keyspace, key: bytes, registry: dict[bytes, Queue]) -> None:
        self.database = database
        self.key = key
        self.first: Spot | None = None
        self.last: Spot | None = None
        self.on_no_key = 0  # how many of them wake when the key is gone
        self.is_ready = False  # the key is about to be served
        self._registry = registry
        registry[key] = self

    def __iter__(self) -> Iterator[Waiter]:
        """All waiters, oldest first."""
        spot = self.first
        while spot is not None:
            yield spot.waiter
            spot = spot.behind

    def add(self, waiter: Waiter) -> None:
        """Let *waiter*, which has just come, stand at the tail, if it does not stand there yet."""
        if self.last is not None and self.last.waiter is waiter:
            return  # it names the key twice
        spot = Spot(self, waiter)
        self._append(spot)
        waiter.standings.append(spot)
        if waiter.block.on_no_key:
            self.on_no_key += 1

    def remove(self, spot: Spot) -> None:
        """Let who stands at *spot* leave."""
        self._take_out(spot)
        if spot.waiter.block.on_no_key:
            self.on_no_key -= 1
        if self.first is None:
            del self._registry[self.key]

    def move_to_tail(self, spot: Spot) -> None:
        """Let who stands at *spot* stand behind all others."""
        if spot.behind is not None:
            self._take_out(spot)
            self._append(spot)

    def _append(self, spot: Spot) -> None:
        spot.before = self.last
        if self.last is None:
            self.first = spot
        else:
            self.last.behind = spot
        self.last = spot

    def _take_out(self, spot: Spot) -> None:
        before, behind = spot.before, spot.behind
        if before is None:
            self.first = behind
        else:
            before.behind = behind
        if behind is None:
            self.last = before
        else:
            behind.before = before
        spot.before = spot.behind = None
