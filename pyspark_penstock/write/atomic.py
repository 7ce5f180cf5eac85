"""Atomic delivery: the tasks stage commands, and the driver sends them on in one transaction.

    a task      {orders}:spark:<query>:<batch>:<attempt>:<n>  ->  XADD ... XADD ...

    the driver  WATCH, GET marker      to skip a batch that was published before
                MULTI
                XADD ...               read from the staged keys, and sent on unchanged
                DEL staged keys, SET marker
                EXEC

Keys that the driver never uses, since the attempt was given up, expire after a day.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import NamedTuple

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection, command
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.fleet import Fleet
from pyspark_penstock.connect.hash_tags import tagged
from pyspark_penstock.connect.line import Line
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.nodes import WHOLE
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import ServerError, SinkError
from pyspark_penstock.names import key
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.marker import Marker, MarkerKey, marker_name
from pyspark_penstock.write.replicas import Confirmation
from pyspark_penstock.write.transaction import (
    MOST_TRIES,
    PartialSinkError,
    StreamCheck,
    Transaction,
    conflict,
    refuse_errors,
)
from pyspark_penstock.write.xadd_commands import Commands

TIME_TO_LIVE_S = 24 * 3600
PIECE_ROWS, PIECE_BYTES = 10_000, 16 << 20
ALL = "all"  # the partitions


class Piece(NamedTuple):
    """Staged commands: their key on a server of the fleet, and the ids that their rows ask for."""

    name: str
    server: str
    stream: str
    rows: int
    first_id: EntryId | None
    last_id: EntryId | None


class Staging:
    """Stages the rows of a partition for one stream."""

    def __init__(
        self, line: Line, server: str, stream: str, task: Task, most_rows: int,
        confirmation: Confirmation,
    ) -> None:  # fmt: skip
        self.pieces: list[Piece] = []
        self._line = line
        self._server = server
        self._stream = stream
        self._task = task
        self._prefix = f"{tagged(stream)}:spark:{task.query}:{task.batch}:{uuid.uuid4().hex}"
        self._room = most_rows
        self._confirmation = confirmation

    def send(self, commands: Commands) -> None:
        """Stage the rows. Raises SinkError."""
        self._room -= commands.rows
        if self._room < 0:
            raise too_many_rows(self._task)
        while commands.rows:
            part = commands.within(PIECE_ROWS, PIECE_BYTES)
            commands = commands.slice(part.rows)
            self._stage(part)

    def _stage(self, commands: Commands) -> None:
        name = f"{self._prefix}:{len(self.pieces)}"
        request = command("SET", key(name), bytes(commands.data), "EX", TIME_TO_LIVE_S)

        def stage(connection: Connection) -> None:
            refuse_errors(connection.exchange([request]))
            self._confirmation.wait(connection)

        self._line.retry(stage)
        ids = commands.first_id, commands.last_id
        self.pieces.append(Piece(name, self._server, self._stream, commands.rows, *ids))

    def finish(self) -> None:
        """Nothing to do: the driver does the rest."""


def too_many_rows(task: Task) -> SinkError:
    """The error for a batch that is too large for one transaction."""
    return SinkError(
        f"{task.title} has more rows than maxTransactionRows, and delivery=atomic writes it in one "
        "transaction: read smaller batches (maxOffsetsPerTrigger), or raise the limit, which "
        "spares the server's other clients a long wait"
    )


# ---------------------------------------------------------------------- in the driver


class Publication:
    """One batch to publish: the staged *pieces*, in order, with at most *most_rows* rows."""

    def __init__(
        self, fleet: Fleet, stream: str, task: Task, pieces: Sequence[Piece], most_rows: int,
        confirmation: Confirmation,
    ) -> None:  # fmt: skip
        self._pieces = pieces
        self._confirmation = confirmation
        self._wanted = Marker(task.batch, sum(piece.rows for piece in pieces))
        if self._wanted.rows > most_rows:
            raise too_many_rows(task)
        server = self._only_server(fleet)
        self._links = Links(server, Preference.PRIMARY, f"publishing {task.title}")
        self._reading = Links(server, Preference.PRIMARY, f"reading what {task.title} has staged")
        try:
            at = stream or self._only_slot()
        except BaseException:
            self._links.close()
            raise
        name = marker_name(at, task.query, ALL) if at else f"spark:{task.query}:{ALL}"
        self._marker_key = MarkerKey(name, task)
        self._line = Line(self._links, name)

    def _only_server(self, fleet: Fleet) -> Server:
        """The server of all rows. Raises SinkError."""
        names = sorted({piece.server for piece in self._pieces})
        if len(names) > 1:
            raise SinkError(
                f"delivery=atomic writes a batch in one transaction, and its rows are for "
                f"{len(names)} servers, such as {names[0]} and {names[1]}: use exactly-once"
            )
        return fleet.server(names[0])

    def _only_slot(self) -> str:
        """In a cluster, a stream in the slot of all; elsewhere none is needed. Raises SinkError."""
        streams = sorted({piece.stream for piece in self._pieces})
        slots = {self._links.group(stream): stream for stream in streams}
        if len(slots) > 1:
            one, other, *_ = slots.values()
            raise SinkError(
                f"delivery=atomic writes a batch in one transaction, and in a cluster the streams "
                f"{one!r} and {other!r} are in different slots: give all of them a hash tag, "
                "such as {orders}:new, or use exactly-once"
            )
        return "" if slots.keys() == {WHOLE} else streams[0]

    def publish(self) -> None:
        """Publish the batch, unless that was done. Raises SinkError, ServerError."""
        try:
            if not any(self._line.retry(self._attempt) for _ in range(MOST_TRIES)):
                raise SinkError(conflict(", ".join(sorted({p.stream for p in self._pieces}))))
        finally:
            self._links.close()
            self._reading.close()

    def _attempt(self, connection: Connection) -> bool:
        """One attempt; False if a watched key has changed."""
        connection.call("WATCH", key(self._marker_key.name))
        found = self._marker_key.read(connection)
        if found.covers(self._wanted.batch):
            connection.call("UNWATCH")
            if not self._marker_key.confirmed(connection, found, self._confirmation):
                return False
            discard(connection, self._pieces)
            self._marker_key.left_out(found, self._wanted)
            return True
        checks = self._checks(connection)
        transaction = Transaction(connection)
        for piece in self._pieces:
            checks[piece.stream].add(piece)
            transaction.add(self._commands(piece), piece.rows)
        transaction.add(deletion(self._pieces))
        transaction.add(self._marker_key.entry(self._wanted))
        try:
            done = transaction.end()
        except PartialSinkError:
            self._marker_key.fail(self._line, self._wanted)
            raise
        if done:
            self._confirmation.wait(connection)
        return done

    def _checks(self, connection: Connection) -> dict[str, StreamCheck]:
        """A check for each stream, begun with its first piece."""
        firsts = {piece.stream: piece for piece in reversed(self._pieces)}
        return {
            stream: StreamCheck(connection, stream, piece, self._marker_key.about_ids)
            for stream, piece in firsts.items()
        }

    def _commands(self, piece: Piece) -> bytes:
        """The commands of a piece. Raises SinkError if its key is gone."""
        name = key(piece.name)
        data = self._reading.one(piece.name, "GET", name)
        if data is None:
            raise SinkError(
                f"{piece.name!r} is gone, which {self._marker_key.task.title} had put there for "
                "all of it to be written at once: expired, deleted or evicted. Nothing was written"
            )
        return bytes(data)


def discard(connection: Connection, pieces: Iterable[Piece]) -> None:
    """Delete staged commands that are not needed any more. Raises OSError."""
    connection.exchange([deletion(pieces)])


def give_up(fleet: Fleet, pieces: Sequence[Piece]) -> None:
    """Delete what a failed attempt has staged. If the server is away, the keys expire."""
    for name in {piece.server for piece in pieces}:
        server = replace(fleet.server(name), retry_s=0)
        here = [piece for piece in pieces if piece.server == name]
        with (
            suppress(OSError, ServerError),
            closing(Links(server, Preference.PRIMARY, "discarding what was staged")) as links,
        ):
            links.ask([(piece.name, ("DEL", key(piece.name))) for piece in here])


def deletion(pieces: Iterable[Piece]) -> bytes:
    """The command that deletes staged keys."""
    return command("DEL", *(key(piece.name) for piece in pieces))
