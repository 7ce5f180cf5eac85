"""A server on a fake disk, for tests of what survives a crash.

Each write pushes the next number to the list ``count``. So what was loaded is consistent if the
list is 0 1 2 .. without a gap and without a repetition, and it is complete if it has all the
numbers that were promised to a client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import server.commands  # noqa: F401  (fills the table)
from server.client.client import Client
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.parts import state as state_module
from server.parts.persistence import persistence as persistence_module
from server.parts.persistence.append_only import Mode
from server.parts.persistence.persistence import Persistence
from server.parts.state import ServerState
from server.process.server_clock import NS_A_MS, ServerClock
from storage.keyspace.key_lookups import ANY
from tests.server.parts.persistence.fake_files import FakeChildren, FakeFiles, LateThread

START_MS = 1_700_000_000_000
COUNT = b"count"


class Machine:
    """A server on *files*, from its start to its shutdown or crash."""

    def __init__(self, files: FakeFiles, **parameters: object) -> None:
        self.files = files
        self.now_s = 1000.0
        self.config = Config()
        self.config.save = []
        self.config.appendonly = True
        for name, value in parameters.items():
            setattr(self.config, name, value)
        self.thread = LateThread()
        own = {"files": files, "threads": self.thread, "monotonic_s": lambda: self.now_s}

        def make(*args: Any, **given: Any) -> Persistence:
            return Persistence(*args, **(given | own))

        with (
            patch.object(persistence_module, "ChildSlot", FakeChildren),
            patch.object(state_module, "Persistence", make),
        ):
            clock = ServerClock(
                lambda: START_MS * NS_A_MS, lambda: int(self.now_s * 1000) * NS_A_MS
            )
            self.state = ServerState(self.config, clock)
        self.persistence: Persistence = self.state.persistence
        self.dispatcher = Dispatcher(self.state)
        self.issued = 0
        self.promised = 0  # how many numbers some client was told to be safe
        self.answered = 0  # how many were acknowledged while the disk took all that was written
        self._client = Client(1, START_MS)

    @property
    def log(self) -> Any:
        return self.persistence.append_only.log

    @property
    def mode(self) -> Mode:
        return self.persistence.append_only.mode

    # ------------------------------------------------------------------ what happens to it

    def start(self, amid: Callable[[], object] = lambda: None) -> None:
        """Load the data; *amid* is what clients do meanwhile. Raises LoadFailed."""
        self.dispatcher.turn.enter()
        for _ in self.persistence.load(self.dispatcher.replaying.begin):
            amid()
        self.persistence.begin()
        self.issued = self.promised = self.answered = len(self.numbers())

    def run(self, *commands: list[bytes]) -> bytes:
        """Run commands in one turn. Returns the replies, or b"" if they cannot be promised."""
        self.dispatcher.turn.enter()
        for argv in commands:
            self.dispatcher.execute(self._client, argv)
        reply = self._client.out.take()
        log = self.state.propagation.durability
        if log is not None and not log.write() and self._client.written_offset > log.synced_offset:
            return b""
        return reply

    def serve_waitaof(self) -> bytes:
        """Serve the clients that are blocked in WAITAOF. Returns the replies."""
        self.dispatcher.waits.serve_keyless()
        return self._client.out.take()

    def count(self, how_many: int = 1) -> None:
        """Push the next numbers, and note what was promised."""
        for _ in range(how_many):
            if self.persistence.refusal is not None:
                return
            self._note_acknowledged(self.run(self._next()))
        self._note_synced()

    def rewrite(self) -> None:
        """Push a number, BGREWRITEAOF, and push another one: all in one turn."""
        if self.persistence.refusal is None:
            self._note_acknowledged(self.run(self._next(), [b"BGREWRITEAOF"], self._next()))

    def _next(self) -> list[bytes]:
        self.issued += 1
        return [b"RPUSH", COUNT, b"%d" % (self.issued - 1)]

    def _note_acknowledged(self, reply: bytes) -> None:
        if self.mode is not Mode.ON or not reply:
            return
        if self.config.appendfsync == "always":
            self.promised = self.issued
        if not self.log.error:
            self.answered = self.issued

    def _note_synced(self) -> None:
        """Note what WAITAOF has promised, or would promise."""
        log = self.state.propagation.durability
        if log is None or log.tentative or self._client.written_offset == 0:
            return
        if log.synced_offset >= self._client.written_offset:
            self.promised = self.issued

    def tick(self, seconds: float = 0.1) -> None:
        """Time passes, the thread works, the child ends, and cron ticks."""
        self.now_s += seconds
        self.thread.run()
        self.persistence.tick()
        self._note_synced()

    def end(self) -> None:
        """Shut down, as SHUTDOWN does: if it succeeds, everything is safe."""
        was_on = self.mode is Mode.ON
        if self.persistence.close() and was_on:
            self.promised = self.issued

    def switch(self, on: bool) -> bytes:
        return self.run([b"CONFIG", b"SET", b"appendonly", b"yes" if on else b"no"])

    # ------------------------------------------------------------------ its data

    def numbers(self) -> list[int]:
        value = self.state.databases[0].find(COUNT, ANY)
        return [] if value is None else [int(item) for item in value]


def log_files(files: FakeFiles) -> Iterator[Path]:
    """The files in the folder of the append-only file."""
    return (path for path in files.names if path.parent == Path("appendonlydir"))
