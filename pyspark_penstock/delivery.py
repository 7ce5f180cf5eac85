"""Delivery: the commands of one partition for one stream, sent so often and no more.

At least once: commands are sent; after a lost connection those without an answer again.

Exactly once, for each transaction of at most so many rows:

1. WATCH the marker and read it. Rows that it counts are skipped, if they are the same rows.
2. MULTI, the rows, SET of the marker, EXEC.
3. Where the answer is lost, or another attempt was faster, begin again at 1.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from pyspark_penstock.commands import Commands
from pyspark_penstock.connection import Server
from pyspark_penstock.errors import SinkError
from pyspark_penstock.ids import EntryId
from pyspark_penstock.marker import DONE, FAILED, PART, TIME_TO_LIVE_S, Marker, marker_name
from pyspark_penstock.scan import Patience
from pyspark_penstock.stream_info import key, pairs
from pyspark_penstock.wire import Wire, command

OK, QUEUED, CONFLICT = b"+OK\r\n", b"+QUEUED\r\n", b"*-1\r\n"
ERROR_LINE = re.compile(rb"(?:\A|\r\n)-([^\r\n]*)")  # an id has no line that begins like this


class Task(NamedTuple):
    """Which part of which query's output is being written."""

    query: str
    batch: int
    partition: int


class Link:
    """The connection to the server, made when it is needed, and again after it was lost."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._wire: Wire | None = None

    def wire(self) -> Wire:
        """The connection. Raises OSError."""
        if self._wire is None:
            self._wire = Wire(self._server)
        return self._wire

    def drop(self) -> None:
        """Close it; the next call of ``wire`` makes another."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None


class Delivery(Protocol):
    """Takes the commands of a partition for one stream, in order."""

    def send(self, commands: Commands) -> None: ...

    def finish(self) -> None: ...


class AtLeastOnce:
    """Sends what it gets."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def send(self, commands: Commands) -> None:
        """Send them, again if the connection is lost. Raises SinkError."""
        patience = Patience()
        while True:
            try:
                answers = self._link.wire().exchange([commands.data])
            except OSError as problem:
                self._link.drop()
                patience.wait_after(problem)
            else:
                refuse_errors(answers)
                return

    def finish(self) -> None:
        """Nothing is held back."""


class ExactlyOnce:
    """Gathers commands into transactions that count their rows in a marker."""

    def __init__(self, link: Link, stream: str, task: Task, most_rows: int) -> None:
        self._link = link
        self._stream = stream
        self._task = task
        self._most_rows = most_rows
        self._name = marker_name(stream, task.query, task.partition)
        self._held: list[Commands] = []
        self._held_rows = 0
        self._seen = self._read_marker()
        resumes = self._seen.batch == task.batch and self._seen.state == PART
        self._ended = self._seen.covers(task.batch)
        self._to_skip = self._seen.rows if resumes else 0
        self._passed = Marker(task.batch, state=PART)  # rows of this task that are written

    def send(self, commands: Commands) -> None:
        """Take the rows; write as soon as there are enough for a transaction."""
        if self._ended:
            return
        if self._to_skip:
            commands = self._skip(commands)
        while commands.rows:
            room = self._most_rows - self._held_rows
            self._held.append(commands.slice(0, room))
            self._held_rows += self._held[-1].rows
            commands = commands.slice(room)
            if self._held_rows == self._most_rows:
                self._write(PART)

    def finish(self) -> None:
        """Write the rest and mark the partition as done."""
        if self._to_skip:
            raise self._other_rows()
        if not self._ended:
            self._write(DONE)

    def _skip(self, commands: Commands) -> Commands:
        """Leave out what an earlier attempt has written, if it is that."""
        old = commands.slice(0, self._to_skip)
        self._to_skip -= old.rows
        self._passed = self._passed.after([old])
        if not self._to_skip and self._passed != self._seen:
            raise self._other_rows()
        return commands.slice(old.rows)

    def _other_rows(self) -> SinkError:
        return SinkError(
            f"stream {self._stream!r}: batch {self._task.batch}, partition {self._task.partition} "
            f"was written up to row {self._seen.rows} before the query was stopped, and now its "
            f"rows or their order are other ones. {self._way_out()}. With a maxTransactionRows "
            "that a partition does not exceed this cannot happen"
        )

    def _way_out(self) -> str:
        done = Marker(self._task.batch).encode().decode()
        return (
            f"Delete the key {self._name!r} to write all of the partition, some rows again, or set "
            f"it to {done!r} to leave out the rest"
        )

    def _write(self, state: str) -> None:
        wanted = self._passed.after(self._held)._replace(state=state)
        patience = Patience()
        while not (self._ended or self._seen == wanted):
            try:
                self._transact(wanted)
            except OSError as problem:
                self._link.drop()
                patience.wait_after(problem)
        self._passed = wanted
        self._held, self._held_rows = [], 0

    def _transact(self, wanted: Marker) -> None:
        """One try; what came of it is in ``_seen``."""
        wire = self._link.wire()
        wire.call("WATCH", key(self._name))
        found = self._read_marker()
        if found != self._seen:
            self._accept(found, wanted)
            wire.call("UNWATCH")
            return
        self._check_ids(wire)
        rows = [commands.data for commands in self._held]
        settled = self._set_marker(wanted)
        answers = wire.exchange((command("MULTI"), *rows, settled, command("EXEC")))
        promised = OK + QUEUED * (self._held_rows + 1)
        if not answers.startswith(promised):
            refuse_errors(answers)
        outcome = answers[len(promised) :]
        if outcome == CONFLICT:
            return
        try:
            refuse_errors(outcome)
        except SinkError:
            wire.exchange([self._set_marker(wanted._replace(state=FAILED))])
            raise
        self._seen = wanted

    def _accept(self, found: Marker, wanted: Marker) -> None:
        """Another attempt, or a try whose answer was lost, has written."""
        self._ended = found.covers(self._task.batch)
        if not self._ended and found != wanted:
            raise SinkError(
                f"stream {self._stream!r}: another attempt of batch {self._task.batch}, "
                f"partition {self._task.partition} writes at the same time"
            )
        self._seen = found

    def _read_marker(self) -> Marker:
        patience = Patience()
        while True:
            try:
                text = self._link.wire().call("GET", key(self._name))
            except OSError as problem:
                self._link.drop()
                patience.wait_after(problem)
            else:
                break
        marker = Marker.decode(self._name, text)
        if marker.batch == self._task.batch and marker.state == FAILED:
            raise SinkError(
                f"stream {self._stream!r}: the server refused some rows of batch {marker.batch}, "
                f"partition {self._task.partition} after it had promised all. {self._way_out()}"
            )
        return marker

    def _set_marker(self, marker: Marker) -> bytes:
        return command("SET", key(self._name), marker.encode(), "EX", TIME_TO_LIVE_S)

    def _check_ids(self, wire: Wire) -> None:
        """Refuse ids of rows that the stream would refuse one by one, inside of EXEC."""
        firsts = [commands.first_id for commands in self._held if commands.first_id]
        if not firsts:
            return
        wire.call("WATCH", key(self._stream))
        last = last_id(wire, self._stream)
        for commands in self._held:
            if commands.first_id is not None and commands.first_id <= last:
                raise SinkError(
                    f"stream {self._stream!r}: a row's id {commands.first_id} is not after {last}; "
                    "rows with ids must come in order, a stream in one partition; "
                    "without the id column the server gives new ids"
                )
            last = commands.last_id or last


def last_id(wire: Wire, stream: str) -> EntryId:
    """The largest id that *stream* ever gave."""
    if wire.call("EXISTS", key(stream)) == 0:
        return EntryId(0, 0)
    return EntryId.parse(pairs(wire.call("XINFO", "STREAM", key(stream)))["last-generated-id"])


def refuse_errors(answers: bytes) -> None:
    """Raises SinkError with the first error in *answers*, which are ids and simple strings."""
    found = ERROR_LINE.search(answers)
    if found:
        raise SinkError(f"the server refused rows: {found[1].decode(errors='replace')}")
