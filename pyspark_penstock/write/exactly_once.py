"""Exactly-once delivery: rows are written in transactions that also count them in a marker.

For each transaction:

1. WATCH the marker and read it. Skip the rows that it counts, after checking that they are the
   same.
2. MULTI, the rows, SET of the marker, EXEC.
3. Wait until replicas have it, if that is wanted.
4. If the reply is lost, replicas do not confirm, or another attempt was faster, start again at 1.
"""

from __future__ import annotations

from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.line import Line
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key
from pyspark_penstock.write.marker import DONE, PART, Marker, MarkerKey
from pyspark_penstock.write.replicas import Confirmation
from pyspark_penstock.write.transaction import (
    MOST_TRIES,
    PartialSinkError,
    StreamCheck,
    Transaction,
    conflict,
)
from pyspark_penstock.write.xadd_commands import Commands

MOST_BYTES = 64 << 20  # of a transaction: server and task have them in memory
NOBODY = Confirmation()


class ExactlyOnce:
    """Writes a partition's rows for one stream, none of them twice.

    With *early*, rows are sent into an open transaction as they come, so that the server works
    while the next ones are made. Then no other delivery may use the client. Without *early*, rows
    are held until there are *most_rows* of them. *seen* is the marker, if it was just read.
    """

    def __init__(
        self,
        line: Line,
        stream: str,
        marker_key: MarkerKey,
        most_rows: int,
        early: bool,
        seen: Marker | None = None,
        confirmation: Confirmation = NOBODY,
    ) -> None:
        self._line = line
        self._stream = stream
        self._marker_key = marker_key
        self._task = task = marker_key.task
        self._most_rows = most_rows
        self._early = early
        self._confirmation = confirmation
        self._held: list[Commands] = []  # rows of the next transaction
        self._held_rows = 0
        self.held_bytes = 0
        self._sent = 0  # how many of _held are in the open transaction
        self._open: Transaction | None = None
        self._seen = line.retry(marker_key.read) if seen is None else seen
        resumes = self._seen.batch == task.batch and self._seen.state == PART
        self._ended = self._seen.covers(task.batch)
        self._to_skip = self._seen.rows if resumes else 0
        self.repeated = 0  # rows that another attempt has written
        self._passed = Marker(task.batch, state=PART)  # rows of this task that were written

    def send(self, commands: Commands) -> None:
        """Take rows; write them when there are enough for a transaction."""
        if self._ended:
            self._passed = self._passed.after([commands])
            self.repeated += commands.rows
            return
        if self._to_skip:
            commands = self._skip(commands)
        while commands.rows:
            part = commands.within(self._most_rows - self._held_rows, MOST_BYTES - self.held_bytes)
            commands = commands.slice(part.rows)
            self._hold(part)
            if self._held_rows == self._most_rows or self.held_bytes >= MOST_BYTES:
                self.write_held()

    def write_held(self) -> None:
        """Write the rows that are held, in a transaction that is not the last of the partition."""
        self._write(PART)

    def finish(self) -> None:
        """Write the rest, and mark the partition as done."""
        if self._to_skip:
            raise self._other_rows()
        if not self._ended:
            self._write(DONE)
        if self._ended:
            self._confirm_others()
            self._marker_key.left_out(self._seen, self._passed._replace(state=DONE))

    # ------------------------------------------------------------------ what was written before

    def _confirm_others(self) -> None:
        """Wait for replicas that confirm what another attempt has written. Raises SinkError."""

        def again(connection: Connection) -> bool:
            return self._marker_key.confirmed(connection, self._seen, self._confirmation)

        if not any(self._line.retry(again) for _ in range(MOST_TRIES)):
            raise SinkError(
                f"stream {self._stream!r}: {self._task.title} was written, and then a failover has "
                "lost it, before replicas confirmed it: the batch must run again"
            )

    def _skip(self, commands: Commands) -> Commands:
        """Skip rows that an earlier attempt has written.

        Raises SinkError if they are not the same.
        """
        old = commands.slice(0, self._to_skip)
        self._to_skip -= old.rows
        self.repeated += old.rows
        self._passed = self._passed.after([old])
        if not self._to_skip and self._passed != self._seen:
            raise self._other_rows()
        return commands.slice(old.rows)

    def _other_rows(self) -> SinkError:
        return SinkError(
            f"stream {self._stream!r}: {self._task.title} was written up to row {self._seen.rows} "
            "before the query was stopped, and now its rows, their order or the sink's options "
            "are other ones. "
            f"{self._marker_key.way_out()}. With a maxTransactionRows that a partition does not "
            "exceed this cannot happen"
        )

    # ------------------------------------------------------------------ transactions

    def _hold(self, commands: Commands) -> None:
        self._held.append(commands)
        self._held_rows += commands.rows
        self.held_bytes += len(commands.data)
        if not self._early:
            return
        try:
            self._send_held(self._line.connection())
        except OSError as problem:  # nothing is lost: all held rows are sent again
            self._line.fail(problem)

    def _write(self, state: str) -> None:
        wanted = self._passed.after(self._held)._replace(state=state)
        tries = 0
        while not (self._ended or self._seen == wanted):
            if tries == MOST_TRIES:
                raise SinkError(conflict(self._stream))
            tries += 1
            self._line.retry(lambda connection: self._transact(connection, wanted))
        if self._ended and self._seen != wanted:  # another attempt was faster
            self.repeated += self._held_rows
        self._passed = wanted
        self._held = []
        self._held_rows = self.held_bytes = 0

    def _transact(self, connection: Connection, wanted: Marker) -> None:
        """One attempt. Its outcome is in ``_seen``."""
        found = self._send_held(connection)
        transaction, self._open = self._open, None
        if transaction is None:
            if self._marker_key.confirmed(connection, found, self._confirmation):
                self._accept(found, wanted)
            return
        transaction.add(self._marker_key.entry(wanted))
        try:
            done = transaction.end()
        except PartialSinkError:
            self._marker_key.fail(self._line, wanted)
            raise
        if done:
            self._confirmation.wait(connection)
            self._seen = wanted

    def _send_held(self, connection: Connection) -> Marker:
        """Send the held rows that were not sent; nothing, if the marker has changed.

        Returns the marker.
        """
        if self._open is None or not self._open.is_on(connection):
            connection.call("WATCH", key(self._marker_key.name))
            found = self._marker_key.read(connection)
            if found != self._seen:
                connection.call("UNWATCH")
                self._open = None
                return found
            first = self._held[0] if self._held else None
            self._check = StreamCheck(connection, self._stream, first, self._marker_key.about_ids)
            self._open, self._sent = Transaction(connection), 0
        for commands in self._held[self._sent :]:
            self._check.add(commands)
            self._open.add(commands.data, commands.rows)
            self._sent += 1
        return self._seen

    def _accept(self, found: Marker, wanted: Marker) -> None:
        """Accept a marker that another attempt has set, or ours whose reply was lost.

        Raises SinkError.
        """
        self._ended = found.covers(self._task.batch)
        expired = found == Marker() and self._seen.batch < self._task.batch
        if not (self._ended or expired or found == wanted):
            raise SinkError(
                f"stream {self._stream!r}: another attempt of {self._task.title} writes at the "
                "same time"
            )
        self._seen = found
