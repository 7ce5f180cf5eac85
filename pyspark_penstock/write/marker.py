"""Markers: what a partition of a batch has written to a stream, kept beside the stream.

    {orders}:spark:<query>:<partition>  ->  <batch> <rows> <crc> <state>

A marker is set in the same transaction as the rows it counts, so after any crash it says what
was written. *state* is ``done`` when no rows follow, ``part`` when the partition is written in
several transactions and stands behind *rows* of them, ``failed`` when the server refused single
rows after it had promised all.

The braces keep the marker in the stream's slot of a cluster.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from pyspark_penstock.connect.bulk_client import BulkClient
from pyspark_penstock.connect.connection import Connection, command
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.transaction import Transaction
from pyspark_penstock.write.xadd_commands import Commands

logger = logging.getLogger(__name__)
TIME_TO_LIVE_S = 7 * 24 * 3600
DONE, PART, FAILED = STATES = ("done", "part", "failed")


class Marker(NamedTuple):
    """How far a partition got; *crc* is of the commands of its *rows*."""

    batch: int = -1
    rows: int = 0
    crc: int = 0
    state: str = DONE

    def covers(self, batch: int) -> bool:
        """Whether nothing of *batch* is left to write."""
        return self.batch > batch or (self.batch == batch and self.state == DONE)

    def after(self, written: Iterable[Commands]) -> Marker:
        """The marker when these rows have followed."""
        rows, crc = self.rows, self.crc
        for commands in written:
            rows, crc = rows + commands.rows, zlib.crc32(commands.data, crc)
        return self._replace(rows=rows, crc=crc)

    def encode(self) -> bytes:
        """As it stands on the server."""
        return f"{self.batch} {self.rows} {self.crc:08x} {self.state}".encode()

    @classmethod
    def decode(cls, name: str, text: bytes | None) -> Marker:
        """The marker that the server has; one before all batches, if it has none."""
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
    """The key that holds the markers of what a task writes. Raises SinkError for what is none."""

    time_to_live_s: int | None = TIME_TO_LIVE_S
    about_ids = (
        "rows with ids must come in order, a stream in one partition; without the id column the "
        "server gives new ids"
    )

    def __init__(self, name: str, task: Task) -> None:
        self.name = name
        self.task = task

    def read(self, connection: Connection) -> Marker:
        """The marker as it is now. Raises OSError."""
        marker = self.decode(connection.call("GET", key(self.name)))
        if marker.batch == self.task.batch and marker.state == FAILED:
            raise SinkError(
                f"the server refused some rows of {self.task.title} after it had promised all. "
                f"{self.way_out()}"
            )
        return marker

    def decode(self, text: bytes | None) -> Marker:
        """The marker that the key's value is."""
        return Marker.decode(self.name, text)

    def encode(self, marker: Marker) -> bytes:
        """The key's value that is *marker*."""
        return marker.encode()

    def entry(self, marker: Marker) -> bytes:
        """The command that keeps *marker*."""
        expiry = ("EX", self.time_to_live_s) if self.time_to_live_s else ()
        return command("SET", key(self.name), self.encode(marker), *expiry)

    def fail(self, bulk: BulkClient, marker: Marker) -> None:
        """Keep that the server refused single rows of *marker*, unless others went on since.

        On a connection that may be lost meanwhile: the marker says ``done`` by now.
        """

        def attempt(connection: Connection) -> None:
            connection.call("WATCH", key(self.name))
            if self.decode(connection.call("GET", key(self.name))) != marker:
                connection.call("UNWATCH")
                return
            transaction = Transaction(connection)
            transaction.add(self.entry(marker._replace(state=FAILED)))
            transaction.end()

        bulk.retry(attempt)

    def way_out(self) -> str:
        """What a user can do about a batch that cannot be finished."""
        return f"Delete the key {self.name!r} to write all of it, some rows again, or {self.rest()}"

    def rest(self) -> str:
        """How a user can leave out what is not written yet."""
        done = self.encode(Marker(self.task.batch)).decode()
        return f"set it to {done!r} to leave out the rest"

    def left_out(self, found: Marker, rows: Marker) -> None:
        """*rows* were left out because of the marker *found*: say so if they are not the same."""
        if rows.rows and found != rows:
            logger.warning(
                "%r: %d rows of %s were left out, for it says that batch %d was written, with "
                "other rows. Is this a new checkpoint with an old txnAppId?",
                self.name, rows.rows, self.task.title, found.batch,
            )  # fmt: skip


def marker_name(stream: str, query: str, part: int | str | None) -> str:
    """The key of a marker, in the slot of its stream."""
    return f"{tagged(stream)}:spark:{query}:{part}"


def tagged(stream: str) -> str:
    """The stream's name with a hash tag: what begins like this lies in the stream's slot.

    No two streams have the same: ``x`` is {x}, and ``{x}`` is {x}. with a dot.
    """
    has_tag = "{" in stream and "}" in stream[stream.index("{") + 2 :]
    return f"{stream}." if has_tag else f"{{{stream}}}"
