"""Atomic delivery in the driver: one transaction with everything that the tasks have staged.

WATCH, GET marker      to skip a batch that was published before
MULTI
XADD ...               the staged commands, read from their keys and sent on unchanged
DEL staged keys, SET marker
EXEC
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.bulk_client import BulkClient
from pyspark_penstock.connect.connection import Connection, command
from pyspark_penstock.errors import ServerError, SinkError
from pyspark_penstock.names import key
from pyspark_penstock.write.atomic_staging import Piece, too_many_rows
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.marker import Marker, MarkerKey, marker_name
from pyspark_penstock.write.transaction import (
    MOST_TRIES,
    PartialSinkError,
    StreamCheck,
    Transaction,
    conflict,
)

ALL = "all"  # the partitions


class Publication:
    """One batch to publish: the staged *pieces*, in order, with at most *most_rows* rows."""

    def __init__(
        self, server: Server, stream: str, task: Task, pieces: Sequence[Piece], most_rows: int
    ) -> None:
        name = marker_name(stream, task.query, ALL) if stream else f"spark:{task.query}:{ALL}"
        self._bulk = BulkClient(server, f"publishing {task.title}")
        self._reading = BulkClient(server, f"reading what {task.title} has staged")
        self._marker_key = MarkerKey(name, task)
        self._pieces = pieces
        self._wanted = Marker(task.batch, sum(piece.rows for piece in pieces))
        if self._wanted.rows > most_rows:
            raise too_many_rows(task)

    def publish(self) -> None:
        """Publish the batch, unless that was done. Raises SinkError, ServerError."""
        try:
            if not any(self._bulk.retry(self._attempt) for _ in range(MOST_TRIES)):
                raise SinkError(conflict(", ".join(sorted({p.stream for p in self._pieces}))))
        finally:
            self._bulk.drop()
            self._reading.drop()

    def _attempt(self, connection: Connection) -> bool:
        """One attempt; False if a watched key has changed."""
        connection.call("WATCH", key(self._marker_key.name))
        found = self._marker_key.read(connection)
        if found.covers(self._wanted.batch):
            connection.call("UNWATCH")
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
            return transaction.end()
        except PartialSinkError:
            self._marker_key.fail(self._bulk, self._wanted)
            raise

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
        data = self._reading.retry(lambda connection: connection.call("GET", name))
        if data is None:
            raise SinkError(
                f"{piece.name!r} is gone, which {self._marker_key.task.title} had put there for "
                "all of it to be written at once: expired, deleted or evicted. Nothing was written"
            )
        return bytes(data)


def discard(connection: Connection, pieces: Iterable[Piece]) -> None:
    """Delete staged commands that are not needed any more. Raises OSError."""
    connection.exchange([deletion(pieces)])


def give_up(server: Server, pieces: Sequence[Piece]) -> None:
    """Delete what a failed attempt has staged. If the server is away, the keys expire."""
    bulk = BulkClient(server, "discarding what was staged")
    with suppress(OSError, ServerError):
        if pieces:
            discard(bulk.connection(), pieces)
    bulk.drop()


def deletion(pieces: Iterable[Piece]) -> bytes:
    """The command that deletes staged keys."""
    return command("DEL", *(key(piece.name) for piece in pieces))
