"""The queue of clients that wait for one key: first come, first served.

    Queue   first ---> Spot <--> Spot <--> Spot <--- last
                        |         |         |
                       waiter    waiter    waiter       a waiter has a spot for each of its keys

A waiter can be taken out wherever it stands. All operations are O(1).

Who waits for a key often does so again in a moment. So a queue without waiters may be noted as
*left*, and is forgotten a while later: see forget_left().
"""

from __future__ import annotations

from collections.abc import Iterator

from server.client.client import Standing, Waiter
from server.table.command import NO_CLAIM, Block
from storage.keyspace.keyspace import Keyspace

_NO_CLAIM = NO_CLAIM  # as a C number


class Spot(Standing):
    """Where *waiter* stands in *queue*."""

    __slots__ = ("after", "before", "queue", "waiter")

    queue: Queue
    waiter: Waiter
    before: Spot | None
    after: Spot | None

    def leave(self) -> None:
        queue = self.queue
        queue.take_out(self)
        queue.count(self.waiter.block, -1)
        if queue.left is not None:
            queue.spare, self.waiter = self, None  # type: ignore[assignment]
        if queue.first is None:
            queue.emptied()

    def go_to_tail(self) -> None:
        if self.after is not None:
            queue = self.queue
            queue.take_out(self)
            queue.append(self)


class Queue:
    """The clients that wait for *key* of *database*. new_queue() makes one."""

    __slots__ = (
        "claims",
        "claims_for_others",
        "database",
        "first",
        "is_left",
        "is_ready",
        "key",
        "last",
        "left",
        "next_ready",
        "on_no_key",
        "passed",
        "registry",
        "spare",
        "speaker",
        "strangers",
    )

    database: Keyspace
    key: bytes
    first: Spot | None
    last: Spot | None
    on_no_key: int  # how many of them a deletion of the key wakes
    passed: Spot | None  # up to here nobody wants this kind of value: see Blocking.next_woken
    claims: int  # how many would claim what others are given, each for itself
    claims_for_others: bool  # whether any did that spoke for others, which have not looked since
    is_ready: bool  # its waiters are served when the command ends
    speaker: bytes | None  # for which name its first waiter ever speaks (Block.speaks_for)
    strangers: int  # how many do not speak for it
    next_ready: Queue | None  # which is served after this one
    registry: dict[bytes, Queue]  # has the queue by its key until its last waiter leaves
    left: list[Queue] | None  # where it is noted then, to be forgotten later; None: at once
    is_left: bool  # it is noted there
    spare: Spot | None  # of a waiter that has left, for the next one

    def __iter__(self) -> Iterator[Waiter]:
        """All waiters, oldest first."""
        spot = self.first
        while spot is not None:
            yield spot.waiter
            spot = spot.after

    def append_waiter(self, waiter: Waiter) -> None:
        """Put *waiter*, which has just blocked, at the tail; once, if it names the key twice."""
        if self.last is not None and self.last.waiter is waiter:
            return
        spot = self.spare
        if spot is None:
            spot = Spot.__new__(Spot)
        else:
            self.spare = None
        spot.at_next_key = waiter.standing  # it may wait for keys before this one
        spot.queue = self
        spot.waiter = waiter
        spot.before = spot.after = None
        if self.first is None:
            self.speaker = waiter.block.speaks_for
        self.append(spot)
        waiter.standing = spot
        self.count(waiter.block, 1)

    def count(self, block: Block, change: int) -> None:
        """A waiter with *block* has come (1) or gone (-1)."""
        if block.on_no_key:
            self.on_no_key += change
        if block.wake_ms != _NO_CLAIM and block.speaks_for is None:
            self.claims += change
        elif block.wake_ms != _NO_CLAIM:
            self.claims_for_others = True
        if block.speaks_for is None or block.speaks_for != self.speaker:
            self.strangers += change

    def emptied(self) -> None:
        """Its last waiter has left."""
        self.claims_for_others = False
        if self.left is None:
            del self.registry[self.key]
        elif not self.is_left:
            self.is_left = True
            self.left.append(self)

    def may_claim(self) -> bool:
        """Whether any waiter may want what others are given."""
        return self.claims > 0 or self.claims_for_others

    def append(self, spot: Spot) -> None:
        """Put *spot* at the tail."""
        spot.before = self.last
        if self.last is None:
            self.first = spot
        else:
            self.last.after = spot
        self.last = spot

    def take_out(self, spot: Spot) -> None:
        """Take *spot* out of the chain."""
        before, after = spot.before, spot.after
        if spot is self.passed:
            self.passed = before
        if before is None:
            self.first = after
        else:
            before.after = after
        if after is None:
            self.last = before
        else:
            after.before = before
        spot.before = spot.after = None


def forget_left(left: list[Queue]) -> None:
    """Let the registries forget those of *left* for which nobody waits again. O(left)."""
    for queue in left:
        queue.is_left = False
        queue.spare = None
        if queue.first is None:
            del queue.registry[queue.key]
    left.clear()


def new_queue(
    database: Keyspace, key: bytes, registry: dict[bytes, Queue], left: list[Queue] | None = None
) -> Queue:
    """A queue for *key* of *database*. *registry* has it until its last waiter leaves.

    Or until forget_left(), if *left* is given: then it is noted there.
    """
    made = Queue.__new__(Queue)
    made.database = database
    made.key = key
    made.first = made.last = made.passed = made.next_ready = None
    made.on_no_key = made.claims = made.strangers = 0
    made.claims_for_others = False
    made.speaker = None
    made.is_ready = False
    made.registry = registry
    made.left = left
    made.is_left = False
    made.spare = None
    registry[key] = made
    return made
