"""What commands have changed, on its way to the append-only file and the replicas.

    a command                        a key that expired on the way
        `--> add(db, [XADD s 5-1 ..])    `--> add(db, [DEL k])
                       `--------------------------'
    the command is done:  deliver() -> log.add_all([op, op, ..])      one transaction
    the turn is over:     log.write(), and then the answers leave

EXEC is one command here, whatever it runs; a woken client's command is one of its own, behind the
write that woke it. What is logged never depends on clocks or estimates.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

Op: TypeAlias = tuple[int, list[bytes]]  # database index, command


class Log(Protocol):
    """Who keeps ops; all offsets are bytes since it began."""

    @property
    def offset(self) -> int:
        """Of the end of what was added."""

    @property
    def synced_offset(self) -> int:
        """Of the end of what is known to be kept."""

    @property
    def tentative(self) -> bool:
        """Whether what was written before it began is not kept yet: then nothing is."""

    @property
    def error(self) -> str:
        """Why the last write failed."""

    def add_all(self, ops: list[Op]) -> None:
        """Take *ops*, a transaction if it is more than one."""

    def write(self) -> bool:
        """Write what was added. False if answers were to wait for it and it cannot be kept."""


class Propagation:
    """Collects ops until their command is done. *log* is None while nobody keeps them."""

    __slots__ = ("log", "ops")

    def __init__(self) -> None:
        self.log: Log | None = None
        self.ops: list[Op] = []

    def add(self, db: int, argv: list[bytes]) -> None:
        """Say that *argv*, run in the database *db*, does what has just been done."""
        if self.log is not None:
            self.ops.append((db, argv))

    def deliver(self) -> int:
        """The command is done: its ops are one transaction. Returns the log's offset behind it.

        If the log raises, the ops stay, and go into the next transaction.
        """
        if self.log is None:
            self.ops = []
            return 0
        self.log.add_all(self.ops)
        self.ops = []
        return self.log.offset

    def deliver_each(self) -> None:
        """No command did it (keys expired): each op stands for itself."""
        ops, self.ops = self.ops, []
        if self.log is not None:
            for op in ops:
                self.log.add_all([op])
