"""Markers: a key beside the stream that says what a partition of a batch has written to it.

    {orders}:spark:<query>:<partition>  ->  <batch> <rows> <crc> <state>

A marker is set in the same transaction as the rows that it counts. So after any crash it says what
was written. *state* is ``done`` if the partition is complete; ``part`` if more transactions follow;
``failed`` if the server refused single rows inside of EXEC.

The braces put the marker into the stream's slot of a cluster.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from pyspark_penstock.connect.connection import Connection, command
from pyspark_penstock.connect.hash_tags import tagged
from pyspark_penstock.connect.line import Line
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.replicas import Confirmation
from pyspark_penstock.write.transaction import Transaction
from pyspark_penstock.write.xadd_commands import Commands

logger = logging.getLogger(__name__)
TIME_TO_LIVE_S = 7 * 24 * 3600
DONE, PART, FAILED = STATES = ("done", "part", "failed")


class Marker(NamedTuple):
    """How far a partition is written. *crc* is the checksum of the commands of its *rows*."""

    batch: int = -1
    rows: int = 0
    crc: int = 0
    state: str = DONE

    def covers(self, batch: int) -> bool:
        """Whether all of *batch* is written."""
        return self.batch > batch or (self.batch == batch and self.state == DONE)

    def after(self, written: Iterable[Commands]) -> Marker:
        """The marker after these rows."""
        rows, crc = self.rows, self.crc
        for commands in written:
            rows, crc = rows + commands.rows, zlib.crc32(commands.data, crc)
        return self._replace(rows=rows, crc=crc)

    def encode(self) -> bytes:
        """The form on the server."""
        return f"{self.batch} {self.rows} {self.crc:08x} {self.state}".encode()

    @classmethod
    def decode(cls, name: str, text: bytes | None) -> Marker:
        """Parse the marker on the server; without one, a marker before all batches.

        Raises SinkError.
        """
        if text is None:
            return cls()
        try:
            batch, rows, crc, state = text.decode().split(" ")
            marker = cls(int(batch), int(rows), int(crc, 16), state)
        except ValueError:
            raise SinkError(f"{name!r} holds {text!r}, not a marker of this sink") from None
        if state not in STATES:
            raise SinkError(f"{name!r} holds {text!r}, not a marker of this sink")
        return marker


class MarkerKey:
    """The key of the markers of one task.

    All methods raise SinkError if it holds something else.
    """

    time_to_live_s: int | None = TIME_TO_LIVE_S
    about_ids = (
        "rows with ids must come in order, a stream in one partition; without the id column the "
        "server gives new ids"
    )

    def __init__(self, name: str, task: Task) -> None:
        self.name = name
        self.task = task

    def read(self, connection: Connection) -> Marker:
        """The marker on the server. Raises SinkError if it says ``failed``, OSError."""
        return self.accepted(connection.call("GET", key(self.name)))

    def accepted(self, text: bytes | None) -> Marker:
        """The marker in the key's value. Raises SinkError if it says ``failed``."""
        marker = self.decode(text)
        if marker.batch == self.task.batch and marker.state == FAILED:
            raise SinkError(
                f"the server refused some rows of {self.task.title} after it had promised all. "
                f"{self.way_out()}"
            )
        return marker

    def decode(self, text: bytes | None) -> Marker:
        """The marker in the key's value."""
        return Marker.decode(self.name, text)

    def encode(self, marker: Marker) -> bytes:
        """The key's value for a marker."""
        return marker.encode()

    def entry(self, marker: Marker) -> bytes:
        """The SET command for the marker."""
        expiry = ("EX", self.time_to_live_s) if self.time_to_live_s else ()
        return command("SET", key(self.name), self.encode(marker), *expiry)

    def fail(self, line: Line, marker: Marker) -> None:
        """Set the marker to ``failed``, unless it has changed meanwhile.

        EXEC has set it to ``done``, together with the rows that were not refused.
        """

        def attempt(connection: Connection) -> None:
            connection.call("WATCH", key(self.name))
            if self.decode(connection.call("GET", key(self.name))) != marker:
                connection.call("UNWATCH")
                return
            transaction = Transaction(connection)
            transaction.add(self.entry(marker._replace(state=FAILED)))
            transaction.end()

        line.retry(attempt)

    def confirmed(self, connection: Connection, marker: Marker, confirmation: Confirmation) -> bool:
        """Wait for replicas to have what another connection wrote; False if it is not *marker*.

        Raises SinkError, OSError.
        """
        if not confirmation.replicas:
            return True
        connection.call("WATCH", key(self.name))
        text = connection.call("GET", key(self.name))
        if text is None or self.accepted(text) != marker:
            connection.call("UNWATCH")
            return marker == Marker()  # nothing was written
        transaction = Transaction(connection)
        transaction.add(command("SET", key(self.name), text, "KEEPTTL"))
        if not transaction.end():
            return False
        confirmation.wait(connection)
        return True

    def way_out(self) -> str:
        """What a user can do about a batch that cannot be finished, as text for errors."""
        return f"Delete the key {self.name!r} to write all of it, some rows again, or {self.rest()}"

    def rest(self) -> str:
        """How a user can skip the rest of the batch, as text for errors."""
        done = self.encode(Marker(self.task.batch)).decode()
        return f"set it to {done!r} to leave out the rest"

    def left_out(self, found: Marker, rows: Marker) -> None:
        """Warn if *rows* were skipped because of *found*, and are not the rows that it counts."""
        if rows.rows and found != rows:
            logger.warning(
                "%r: %d rows of %s were left out, for it says that batch %d was written, with "
                "other rows. Is this a new checkpoint with an old txnAppId?",
                self.name, rows.rows, self.task.title, found.batch,
            )  # fmt: skip


def marker_name(stream: str, query: str, part: int | str | None) -> str:
    """The name of a marker's key, in the slot of the stream."""
    return f"{tagged(stream)}:spark:{query}:{part}"
