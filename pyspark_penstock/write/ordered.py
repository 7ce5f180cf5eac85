"""Ordered delivery: the ids of a stream's entries follow from its rows.

    batch 0     1-0  1-1  1-2 ...          the first row of batch n is (n + 1)-0
    batch 1     2-0  2-1 ...

A replay, or a whole run into an empty stream, gives the same entries the same ids, so whatever
reads them can tell what it has seen. The price: one task writes a stream, and nobody else does. Who
that is stands beside the stream, for as long as that key is there:

    {orders}:spark:writer  ->  <batch> <rows> <crc> <state> <partition> <query>
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.errors import SinkError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.marker import Marker, MarkerKey, tagged


class RowIds:
    """Counts the rows of a task for each stream, and numbers them."""

    def __init__(self, batch: int) -> None:
        self._ms = f"{batch + 1}-"
        self._next: dict[str, int] = {}

    def take(self, stream: str, rows: int) -> Any:
        """The ids of the next *rows* for *stream*, as text."""
        first = self._next.get(stream, 0)
        self._next[stream] = first + rows
        numbers = pa.array(np.arange(first, first + rows)).cast(pa.string())
        return pc.binary_join_element_wise(self._ms, numbers, "")


class WriterMarkerKey(MarkerKey):
    """The marker of a stream, with who writes it. Raises SinkError for another writer."""

    time_to_live_s = None
    about_ids = "a stream that is written in order begins empty and has no other writer"

    def __init__(self, stream: str, task: Task) -> None:
        super().__init__(f"{tagged(stream)}:spark:writer", task)
        self._partition = task.partition  # that the marker is of

    def decode(self, text: bytes | None) -> Marker:
        """The marker, if it is this query's."""
        if text is None:
            return Marker()
        marker, self._partition, query = self._parts(text)
        if query != self.task.query:
            raise SinkError(
                f"{self.name!r} says that the query {query!r} writes this stream; one that is "
                "written in order has one writer. If that is this query with a new checkpoint, "
                "write to a new stream"
            )
        of_another = marker.batch == self.task.batch and self._partition != self.task.partition
        if of_another and not marker.covers(self.task.batch):
            raise self.two_tasks()
        return marker

    def left_out(self, found: Marker, rows: Marker) -> None:
        """Refuse rows other than those that another task has written."""
        of_another = found.batch == rows.batch and self._partition != self.task.partition
        if of_another and rows.rows and found != rows:
            raise self.two_tasks()
        super().left_out(found, rows)

    def two_tasks(self) -> SinkError:
        """The error for a stream that more than one task writes."""
        return SinkError(
            f"{self.name!r}: two partitions of batch {self.task.batch} have rows for this stream, "
            f"of which one is {self.task.partition}; in order, one task writes a stream: "
            "repartition by the column of its name, or coalesce(1)"
        )

    def way_out(self) -> str:
        """What a user can do; entries that have their ids cannot be written again."""
        return f"To go on, {self.rest()}: {self.name!r}"

    def _parts(self, text: bytes) -> tuple[Marker, int, str]:
        try:
            *words, partition, query = text.split(b" ", 5)
            return super().decode(b" ".join(words)), int(partition), query.decode()
        except ValueError:
            raise SinkError(f"{self.name!r} holds {text!r}, not a marker of this sink") from None

    def encode(self, marker: Marker) -> bytes:
        """The key's value that is *marker* and this writer."""
        return marker.encode() + f" {self.task.partition} {self.task.query}".encode()
