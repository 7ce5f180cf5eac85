"""Markers: what a partition of a batch has written to a stream, kept beside the stream.

    {orders}:spark:<query>:<partition>  ->  <batch> <rows> <crc> <state>

A marker is set in the same transaction as the rows it counts, so after any crash it says what
was written. *state* is ``done`` when no rows follow, ``part`` when the partition is written in
several transactions and stands behind *rows* of them, ``failed`` when the server refused single
rows after it had promised all.

The braces keep the marker in the stream's slot of a cluster.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import NamedTuple

from pyspark_penstock.commands import Commands
from pyspark_penstock.errors import SinkError

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


def marker_name(stream: str, query: str, partition: int) -> str:
    """The key of a marker, in the slot of its stream."""
    has_tag = "{" in stream and "}" in stream[stream.index("{") + 2 :]
    return f"{stream if has_tag else f'{{{stream}}}'}:spark:{query}:{partition}"
