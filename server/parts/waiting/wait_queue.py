"""The queue of clients that wait for one key: first come, first served.

    Queue   first ---> Spot <--> Spot <--> Spot <--- last
                        |         |         |
                       waiter    waiter    waiter       a waiter has a spot for each of its keys

A waiter can be taken out wherever it stands. All operations are O(1).
"""

from __future__ import annotations

from collections.abc import Iterator

from server.client.client import Standing, Waiter
from storage.keyspace.keyspace import Keyspace


class Spot(Standing):
    """Where *waiter* stands in *queue*."""

    __slots__ = ("before", "behind", "queue", "waiter")

    queue: Queue
    waiter: Waiter
    before: Spot | None
    behind: Spot | None

    def leave(self) -> None:
        self.queue.remove(self)

    def go_to_tail(self) -> None:
        self.queue.move_to_tail(self)


class Queue:
    """The clients that wait for *key* of *database*. new_queue() makes one."""

    __slots__ = (
        "_registry",
        "database",
        "first",
        "is_ready",
        "key",
        "last",
        "next_ready",
        "on_no_key",
    )

    database: Keyspace
    key: bytes
    first: Spot | None
    last: Spot | None
    on_no_key: int  # how many of them a deletion of the key wakes
    is_ready: bool  # its waiters are served when the command ends
    next_ready: Queue | None  # which is served after this one
    _registry: dict[bytes, Queue]

    def __iter__(self) -> Iterator[Waiter]:
        """All waiters, oldest first."""
        spot = self.first
        while spot is not None:
            yield spot.waiter
            spot = spot.behind

    def add(self, waiter: Waiter) -> None:
        """Put *waiter*, which has just blocked, at the tail; once, if it names the key twice."""
        if self.last is not None and self.last.waiter is waiter:
            return
        spot = _new_spot(self, waiter)
        self._append(spot)
        waiter.standing = spot
        if waiter.block.on_no_key:
            self.on_no_key += 1

    def remove(self, spot: Spot) -> None:
        """Take the waiter at *spot* out of the queue."""
        self._take_out(spot)
        if spot.waiter.block.on_no_key:
            self.on_no_key -= 1
        if self.first is None:
            del self._registry[self.key]

    def move_to_tail(self, spot: Spot) -> None:
        """Put the waiter at *spot* behind all others."""
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


def new_queue(database: Keyspace, key: bytes, registry: dict[bytes, Queue]) -> Queue:
    """A queue for *key* of *database*. *registry* has it until its last waiter leaves."""
    made = Queue.__new__(Queue)
    made.database = database
    made.key = key
    made.first = made.last = made.next_ready = None
    made.on_no_key = 0
    made.is_ready = False
    made._registry = registry  # noqa: SLF001
    registry[key] = made
    return made


def _new_spot(queue: Queue, waiter: Waiter) -> Spot:
    """A spot of *waiter*, which has others for the keys before."""
    made = Spot.__new__(Spot)
    made.at_next_key = waiter.standing
    made.queue = queue
    made.waiter = waiter
    made.before = made.behind = None
    return made
