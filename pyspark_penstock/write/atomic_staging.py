"""Atomic delivery in the tasks: commands are staged as keys on the server, for the driver.

    {orders}:spark:<query>:<batch>:<attempt>:<n>  ->  XADD ... XADD ...   to be sent as they are

Keys that the driver never uses, since the attempt was given up, expire after a day.
"""

from __future__ import annotations

import uuid
from typing import NamedTuple

from pyspark_penstock.connect.connection import command
from pyspark_penstock.connect.line import Line
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key, tagged
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.transaction import refuse_errors
from pyspark_penstock.write.xadd_commands import Commands

TIME_TO_LIVE_S = 24 * 3600
PIECE_ROWS, PIECE_BYTES = 10_000, 16 << 20


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

    def __init__(self, line: Line, server: str, stream: str, task: Task, most_rows: int) -> None:
        self.pieces: list[Piece] = []
        self._line = line
        self._server = server
        self._stream = stream
        self._task = task
        self._prefix = f"{tagged(stream)}:spark:{task.query}:{task.batch}:{uuid.uuid4().hex}"
        self._room = most_rows

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
        self._line.retry(lambda connection: refuse_errors(connection.exchange([request])))
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
