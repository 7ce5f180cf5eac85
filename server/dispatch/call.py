"""One execution of a command, as its handler sees it.

There is one Call for each depth of commands inside commands. It is reused for each command, so
that nothing is allocated for one; a handler keeps no reference to it.
"""

from __future__ import annotations

from typing import Protocol

from protocol.replies import Reply
from server.client.client import RESTRICTED, Client, Waiter
from server.client.command_queue import CommandQueue
from server.client.origin import INSIDE, REPLAYED
from server.parts.persistence.log_loader import Replay
from server.parts.state import ServerState
from server.table.args import INT64_MAX
from server.table.command import Command
from storage.keyspace.keyspace import Keyspace

_INSIDE, _REPLAYED, _INT64_MAX = INSIDE, REPLAYED, INT64_MAX  # as C numbers


class QueueRunner(Protocol):
    """Runs the commands that a transaction has queued."""

    def run_queued(self, client: Client, queue: CommandQueue) -> Reply:
        """Run what *client* has queued (EXEC): none waits, and errors are values."""


class Waits(Protocol):
    """The clients that wait or are held back."""

    def serve_replicated(self, offset: int) -> None:
        """Look at WAIT again: a replica has what the primary had sent by *offset*."""

    def end(self, waiter: Waiter, reply: Reply) -> None:
        """Answer a client that waits, before its time (CLIENT UNBLOCK)."""

    def begin_pause(self, timeout_ms: int, writes_only: bool) -> None:
        """Hold commands back for *timeout_ms*, all or those that write (CLIENT PAUSE)."""

    def end_pause(self) -> None:
        """Run the commands that CLIENT PAUSE held back."""


class Replayer(Protocol):
    """Runs commands that were logged."""

    def begin(self) -> Replay:
        """What runs the commands of one file (DEBUG LOADAOF)."""


class Executor(Protocol):
    """What few handlers need of the dispatcher that runs them."""

    @property
    def execution(self) -> QueueRunner:
        """Runs the commands of transactions."""

    @property
    def waits(self) -> Waits:
        """Ends waits and pauses."""

    @property
    def replaying(self) -> Replayer:
        """Runs what was logged."""

    @property
    def is_behind(self) -> bool:
        """Whether not all is done yet that has become due since the clock was moved."""

    def clock_moved(self) -> None:
        """The clock was moved: do what has become due by that (DEBUG CLOCK)."""


class Call:
    """What a handler works with: argv, the client and its database, the rest of the server.

    *origin* says where the command comes from; see server/client/origin.py.
    """

    __slots__ = (
        "argv",
        "client",
        "command",
        "db",
        "executor",
        "is_logged",
        "now_ms",
        "origin",
        "server",
    )

    def __init__(self, server: ServerState, executor: Executor) -> None:
        self.server = server
        self.executor = executor
        self.argv: list[bytes] = []
        self.client: Client = None  # type: ignore[assignment]  # always set while a handler runs
        self.command: Command = None  # type: ignore[assignment]  # the row of what runs, too
        self.db: Keyspace = server.databases[0]
        self.now_ms = 0  # unix time; the same for all commands of one batch
        self.origin = 0
        self.is_logged = False  # whether anybody takes what is logged

    def is_inside(self) -> bool:
        """Whether it runs inside another command, EXEC or a script."""
        return self.origin & _INSIDE != 0

    def is_replayed(self) -> bool:
        """Whether it has run before: it does now what it did then, whatever time it is."""
        return self.origin & _REPLAYED != 0

    def may_use(self, key: bytes, rights: int) -> bool:
        """Whether the user may run this very call, and has *rights* (READ, WRITE) on *key*.

        For keys that no word of the command names.
        """
        client = self.client
        if not client.flags & RESTRICTED:
            return True
        return client.user.may_use(self.command, self.argv, key, rights)

    def longest_string(self) -> int:
        """Bytes that a string may have: proto-max-bulk-len. What has run before was within it."""
        if self.origin & _REPLAYED:
            return _INT64_MAX
        longest: int = self.server.config.proto_max_bulk_len
        return longest

    def count_changes(self, changes: int) -> None:
        """Count *changes* of data that are of no single key: FLUSHALL, SWAPDB."""
        self.server.events.changes += changes
