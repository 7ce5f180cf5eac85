"""What commands have changed, on its way to the append-only file and the replicas.

    a command                        a key that expired on the way
        `--> add(db, [XADD s 5-1 ..])    `--> add(db, [DEL k])
                       `--------------------------'
    the command is done:  deliver() -> each sink.add_all([op, op, ..])      one transaction
    the turn is over:     durability.write(), and then the answers leave

A message that was published is an operation, too: replicas publish it in its place among the
changes. It changes no data, so the durability does not get it.

EXEC is one command here, whatever it runs; a woken client's command is one of its own, after the
write that woke it. What is logged never depends on clocks or estimates.

The stream of operations is apart from what is promised: any number of sinks take the stream (the
append-only file, replicas, tests), and one of them may be the durability that answers wait for.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

Op: TypeAlias = tuple[int, list[bytes]]  # database index, command


class Sink(Protocol):
    """Takes the stream of operations. Only the durability may raise: the others have no say."""

    def add_all(self, ops: list[Op]) -> None:
        """Take *ops*, a transaction if it is more than one."""


class Durability:
    """A sink that keeps what it takes. All offsets are bytes since it began."""

    __slots__ = ("error", "offset", "synced_offset", "tentative")

    def __init__(self) -> None:
        self.offset = 0  # of the end of what was added
        self.synced_offset = 0  # of the end of what is known to be kept
        self.tentative = False  # what was written before it began is not kept yet: so nothing is
        self.error = ""  # why the last write failed; "" if it did not

    def add_all(self, ops: list[Op]) -> None:
        """Take *ops*, a transaction if it is more than one."""
        raise NotImplementedError

    def write(self) -> bool:
        """Write what was added. False if answers were to wait for it and it cannot be kept."""
        raise NotImplementedError


class Propagation:
    """Collects operations until their command is done.

    *durability* is None while nothing is kept beyond snapshots. It is served before all other
    sinks: if it cannot take a transaction, nobody else has seen it either.
    """

    __slots__ = (
        "_messages", "_sinks", "durability", "has_unwritten", "is_on", "ops", "stream_offset",
    )  # fmt: skip

    def __init__(self) -> None:
        self.durability: Durability | None = None
        self._sinks: list[Sink] = []
        self.has_unwritten = False  # the durability has something new: the turn has it write
        self.is_on = False  # whether anybody takes the stream
        self.ops: list[Op] = []
        self._messages: set[int] = set()  # the ids of those ops that are messages
        self.stream_offset = 0  # of the end of what replicas are sent; see server/parts/replication

    def set_durability(self, durability: Durability | None) -> None:
        """From the next transaction on, *durability* keeps what is done."""
        self.durability = durability
        self._follow_sinks()

    def attach(self, sink: Sink) -> None:
        """From the next transaction on, *sink* takes the stream too."""
        self._sinks.append(sink)
        self._follow_sinks()

    def detach(self, sink: Sink) -> None:
        """*sink* takes nothing more."""
        self._sinks.remove(sink)
        self._follow_sinks()

    def _follow_sinks(self) -> None:
        self.is_on = self.durability is not None or bool(self._sinks)

    def add(self, db: int, argv: list[bytes]) -> None:
        """Say that *argv*, run in the database *db*, does what has just been done."""
        if self.is_on:
            self.ops.append((db, argv))

    def publish(self, db: int, argv: list[bytes]) -> None:
        """Have the sinks, but not the durability, see that *argv* has published a message."""
        op = (db, argv)
        self.ops.append(op)
        self._messages.add(id(op))

    def deliver(self) -> int:
        """The command is done: its ops are one transaction. The durability's offset after it.

        If the durability raises, the ops stay, and go into the next transaction.
        """
        ops = self.ops
        kept = self._without_messages(ops) if self._messages else ops
        durability = self.durability
        if durability is not None and kept:
            durability.add_all(kept)
            self.has_unwritten = True
        self.ops = []
        if self._messages:
            self._messages.difference_update(map(id, ops))
        for sink in self._sinks:
            sink.add_all(ops)
        return 0 if durability is None else durability.offset

    def _without_messages(self, ops: list[Op]) -> list[Op]:
        return [op for op in ops if id(op) not in self._messages]

    def deliver_each(self) -> None:
        """No command did it (keys expired): each op stands for itself."""
        ops, self.ops = self.ops, []
        kept = self._without_messages(ops)
        self._messages.difference_update(map(id, ops))
        if self.durability is not None:
            for op in kept:
                self.durability.add_all([op])
        for op in ops:
            for sink in self._sinks:
                sink.add_all([op])
