"""Atomic delivery, the driver's part: all that a batch's tasks have staged, in one transaction.

WATCH, GET marker      has the batch been published?
MULTI
XADD ...               the pieces, read from where they wait and sent on as they are
DEL pieces, SET marker
EXEC
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from pyspark_penstock.connection import Server
from pyspark_penstock.delivery import Task
from pyspark_penstock.errors import ServerError, SinkError
from pyspark_penstock.link import Link
from pyspark_penstock.marker import Ledger, Marker, marker_name
from pyspark_penstock.staging import Piece, too_many_rows
from pyspark_penstock.stream_info import key
from pyspark_penstock.transaction import (
    MOST_TRIES,
    PartialSinkError,
    StreamCheck,
    Transaction,
    conflict,
)
from pyspark_penstock.wire import Wire, command

ALL = "all"  # the partitions


class Publication:
    """What is to become visible at once: *pieces*, in their order, at most *most_rows* rows."""

    def __init__(
        self, server: Server, stream: str, task: Task, pieces: Sequence[Piece], most_rows: int
    ) -> None:
        name = marker_name(stream, task.query, ALL) if stream else f"spark:{task.query}:{ALL}"
        self._link = Link(server, f"publishing {task.title}")
        self._pieces_link = Link(server, f"reading what {task.title} has staged")
        self._ledger = Ledger(name, task)
        self._pieces = pieces
        self._wanted = Marker(task.batch, sum(piece.rows for piece in pieces))
        if self._wanted.rows > most_rows:
            raise too_many_rows(task)

    def publish(self) -> None:
        """Make it visible, unless it has been. Raises SinkError, ServerError."""
        try:
            if not any(self._link.persist(self._attempt) for _ in range(MOST_TRIES)):
                raise SinkError(conflict(", ".join(sorted({p.stream for p in self._pieces}))))
        finally:
            self._link.drop()
            self._pieces_link.drop()

    def _attempt(self, wire: Wire) -> bool:
        """One try; False if another attempt came between."""
        wire.call("WATCH", key(self._ledger.name))
        found = self._ledger.read(wire)
        if found.covers(self._wanted.batch):
            wire.call("UNWATCH")
            discard(wire, self._pieces)
            self._ledger.left_out(found, self._wanted)
            return True
        checks = self._checks(wire)
        transaction = Transaction(wire)
        for piece in self._pieces:
            checks[piece.stream].add(piece)
            transaction.add(self._commands(piece), piece.rows)
        transaction.add(deletion(self._pieces))
        transaction.add(self._ledger.entry(self._wanted))
        try:
            return transaction.end()
        except PartialSinkError:
            self._ledger.fail(self._link, self._wanted)
            raise

    def _checks(self, wire: Wire) -> dict[str, StreamCheck]:
        """A check for each stream, begun by what comes first for it."""
        firsts = {piece.stream: piece for piece in reversed(self._pieces)}
        return {
            stream: StreamCheck(wire, stream, piece, self._ledger.about_ids)
            for stream, piece in firsts.items()
        }

    def _commands(self, piece: Piece) -> bytes:
        """The commands of a piece. Raises SinkError if it is gone."""
        name = key(piece.name)
        data = self._pieces_link.persist(lambda wire: wire.call("GET", name))
        if data is None:
            raise SinkError(
                f"{piece.name!r} is gone, which {self._ledger.task.title} had put there for all "
                "of it to be written at once: expired, deleted or evicted. Nothing was written"
            )
        return bytes(data)


def discard(wire: Wire, pieces: Iterable[Piece]) -> None:
    """Delete what is staged and not wanted any more. Raises OSError."""
    wire.exchange([deletion(pieces)])


def give_up(server: Server, pieces: Sequence[Piece]) -> None:
    """Delete what an attempt has staged that failed, if the server is there; else time does."""
    link = Link(server, "discarding what was staged")
    with suppress(OSError, ServerError):
        if pieces:
            discard(link.wire(), pieces)
    link.drop()


def deletion(pieces: Iterable[Piece]) -> bytes:
    """The command that deletes what is staged."""
    return command("DEL", *(key(piece.name) for piece in pieces))
