"""Servers of a queue without sockets: a primary, its log, and a replica that it sends its changes.

    primary  -- units -->  log      what a start by an AOF has: the last rewrite, and all since then
             `- units -->  link     what the replica has not got yet

Each server has what cron does for queues. A server that is started again, or promoted, takes the
place of the primary.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from fuzz.command_replica import shown
from server.client.client import Client
from server.config.parameters import Config
from server.lifecycle.idle_consumers import IdleConsumers
from server.lifecycle.retention import Retention
from server.parts.persistence.log_commands import CommandPieces
from server.parts.propagation.propagation import Op
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.server.conftest import SocketlessServer

Unit = list[Op]


class Node:
    """A server with empty databases at the time *now_ms*, and what cron does with streams."""

    def __init__(self, now_ms: int) -> None:
        config = Config()
        config.save = []
        self.server = SocketlessServer(config)
        self.server.now_ms = now_ms
        self.server.turn()
        self.server.send_line("CONFIG SET stream-node-max-entries 3")
        self._idle_consumers = IdleConsumers(self.server.state, lambda: 0.0)
        self._retention = Retention(self.server.state, lambda: 0.0)
        self._link = Client(0, now_ms)  # stands for our primary

    @property
    def databases(self) -> list[Keyspace]:
        return self.server.state.databases

    def tick(self) -> None:
        """What cron does in a tick."""
        self.server.advance(0)
        self.server.turn(self._tick)

    def _tick(self) -> None:
        self._idle_consumers.begin()
        self._idle_consumers.run()
        self._retention.begin()
        while self._retention.may_go_on and not self._retention.is_done:
            self._retention.go_on()
        self.server.state.propagation.deliver_each()

    def load(self, snapshot: bytes) -> None:
        filler, reader = Filler(self.databases, 0), SnapshotReader(snapshot)
        while filler.fill(reader):
            pass

    def replay(self, units: Sequence[Unit]) -> None:
        """Run what an AOF has."""
        replay = self.server.dispatcher.replaying.begin()
        for words in in_transactions(units):
            assert replay(words) == "", words
        self.server.log.units.clear()

    def follow(self) -> None:
        """Become a replica."""
        self.server.state.replication.follow("127.0.0.1", 1)

    def apply(self, units: Sequence[Unit]) -> None:
        """Run what our primary sends."""
        self.server.turn(lambda: self._apply(units))
        self.server.log.units.clear()

    def _apply(self, units: Sequence[Unit]) -> None:
        failures = self.server.state.replay_failures
        for words in in_transactions(units):
            self.server.dispatcher.replaying.apply(self._link, words)
            assert failures.total == 0, words

    def snapshot(self) -> bytes:
        return b"".join(SnapshotWriter(self.databases, {}))

    def commands(self) -> list[Unit]:
        """A log without an RDB in front that makes the data."""
        return [[(0, list(words))] for words in CommandPieces(self.databases)._commands()]

    def contents(self) -> dict[bytes, list[object]]:
        """All that there is."""
        now_ms = self.server.now_ms
        return {key: list(shown(self.databases[0], key, now_ms)) for key in self.databases[0].table}


def in_transactions(units: Sequence[Unit]) -> list[list[bytes]]:
    words: list[list[bytes]] = []
    for unit in units:
        inside = [list(argv) for _, argv in unit]
        words += [[b"MULTI"], *inside, [b"EXEC"]] if len(unit) > 1 else inside
    return words


class Deployment:
    """A primary with its log, and a replica."""

    def __init__(self, now_ms: int) -> None:
        self.primary = Node(now_ms)
        self.base = self.primary.snapshot()  # the log: an RDB or commands, and what followed
        self.units: list[Unit] = []
        self.link: list[Unit] = []
        self.replica = self._new_replica()

    def _new_replica(self) -> Node:
        node = Node(self.primary.server.now_ms)
        node.load(self.primary.snapshot())
        node.follow()
        self.link = []
        return node

    def take_units(self) -> None:
        """The turn is over: what was changed is in the log, and on its way to the replica."""
        log = self.primary.server.log
        new = [[(db, list(argv)) for db, argv in unit] for unit in log.units]
        log.units.clear()
        self.units += new
        self.link += new

    def set_time(self, now_ms: int) -> None:
        for node in (self.primary, self.replica):
            node.server.now_ms = now_ms
        self.replica.tick()
        assert self.replica.server.log.units == []  # it does nothing by itself

    def catch_up(self) -> None:
        """The replica gets all, and is as its primary."""
        self.replica.apply(self.link)
        self.link = []
        self._compare()

    def _compare(self) -> None:
        here, there = self.primary.contents(), self.replica.contents()
        assert set(here) == set(there)
        for key, parts in here.items():
            assert parts == there[key], [
                pair for pair in zip_longest(parts, there[key]) if pair[0] != pair[1]
            ]

    def full_resync(self) -> None:
        """The replica was away for too long: it gets a copy."""
        self.replica = self._new_replica()
        self._compare()

    def promote(self, units: int = 0) -> None:
        """The replica gets so many of the changes on their way, and is the primary of another."""
        self.replica.apply(self.link[:units])
        self.primary = self.replica
        assert self.primary.server.send_line("REPLICAOF NO ONE") == b"OK"
        self.rewrite(by_commands=False)
        self.replica = self._new_replica()

    def rewrite(self, by_commands: bool) -> None:
        """The log is rewritten."""
        self.take_units()
        if by_commands:
            self.base, self.units = b"", self.primary.commands()
        else:
            self.base, self.units = self.primary.snapshot(), []

    def restart_from_log(self) -> None:
        """A kill -9, and a start; the replica goes on: nothing is lost that it has."""
        self._restart(self.base, self.units)

    def restart_from_rdb(self) -> None:
        """SHUTDOWN SAVE, and a start."""
        self._restart(self.primary.snapshot(), [])

    def _restart(self, snapshot: bytes, units: list[Unit]) -> None:
        self.take_units()
        self.primary = Node(self.primary.server.now_ms)
        if snapshot:
            self.primary.load(snapshot)
        self.primary.replay(units)
