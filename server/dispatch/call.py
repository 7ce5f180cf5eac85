"""One execution of a command, as its handler sees it.

There is one Call for the whole server, filled anew for each command: commands run one at a time to
their end, so nothing is allocated for them. A handler keeps no reference to it.
"""

from __future__ import annotations

from typing import Protocol

from protocol.replies import Reply
from server.client.client import Client, Waiter
from server.client.command_queue import CommandQueue
from server.dispatch.state import ServerState
from storage.keyspace.keyspace import Keyspace


class Executor(Protocol):
    """What few handlers need of the dispatcher that runs them."""

    def run_inside(self, queue: CommandQueue) -> Reply:
        """Run what was queued inside this command (EXEC): none waits, and errors are values."""

    def end_wait(self, waiter: Waiter, reply: Reply) -> None:
        """Answer a client that waits, before its time (CLIENT UNBLOCK)."""

    def end_pause(self) -> None:
        """Let the commands run that CLIENT PAUSE held back."""


class Call:
    """What a handler works with: argv, the client and its database, the rest of the server."""

    __slots__ = ("argv", "client", "db", "executor", "is_inside", "is_logged", "logged", "now_ms",
                 "server")  # fmt: skip

    def __init__(self, server: ServerState, executor: Executor) -> None:
        self.server = server
        self.executor = executor
        self.argv: list[bytes] = []
        self.client: Client = None  # type: ignore[assignment]  # always set while a handler runs
        self.db: Keyspace = server.databases[0]
        self.now_ms = 0  # unix time; the same for all commands of one batch
        self.logged: list[list[bytes]] | None = None
        self.is_inside = False  # whether it is run by EXEC
        self.is_logged = False  # whether anybody keeps what is logged

    def log_as(self, *argv: bytes) -> None:
        """Write this to the AOF and the replicas in place of what the client sent.

        Several calls make several commands, which are logged as one transaction. What is logged
        must never depend on clocks or estimates.
        """
        if self.is_logged:
            if self.logged is None:
                self.logged = []
            self.logged.append(list(argv))

    def log_nothing(self) -> None:
        """Keep this command out of the AOF, though it counted as a change."""
        self.logged = []
