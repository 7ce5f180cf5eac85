"""Ordered delivery: the ids of entries follow from the number of the batch and of the row.

    batch 0     1-0  1-1  1-2 ...          the first row of batch n gets the id (n + 1)-0
    batch 1     2-0  2-1 ...

A replay, or the same run into an empty stream, gives the same entries the same ids. So a reader can
recognize entries that it has seen before. In return, only one task may write the stream, and nobody
else. A key beside the stream names its query:

    {orders}:spark:writer  ->  <batch> <rows> <crc> <state> <partition> <query>
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.connect.hash_tags import tagged
from pyspark_penstock.errors import SinkError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.marker import Marker, MarkerKey


class RowIds:
    """Numbers the rows of a task, for each stream of each server."""

    def __init__(self, batch: int) -> None:
        self._ms = f"{batch + 1}-"
        self._next: dict[tuple[str, str], int] = {}

    def take(self, server: str, stream: str, rows: int) -> Any:
        """The ids of the next *rows* for *stream*, as text."""
        first = self._next.get((server, stream), 0)
        self._next[server, stream] = first + rows
        numbers = pa.array(np.arange(first, first + rows)).cast(pa.string())
        return pc.binary_join_element_wise(self._ms, numbers, "")


class WriterMarkerKey(MarkerKey):
    """The key of a stream's marker, with its writer. Raises SinkError for another writer."""

    time_to_live_s = None
    about_ids = "a stream that is written in order begins empty and has no other writer"

    def __init__(self, stream: str, task: Task) -> None:
        super().__init__(f"{tagged(stream)}:spark:writer", task)
        self._partition = task.partition  # the partition of the marker

    def decode(self, text: bytes | None) -> Marker:
        """The marker in the key's value. Raises SinkError if it is another query's."""
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
        """Raises SinkError if *rows* were skipped and are not those that another task wrote."""
        of_another = found.batch == rows.batch and self._partition != self.task.partition
        if of_another and rows.rows and found != rows:
            raise self.two_tasks()
        super().left_out(found, rows)

    def two_tasks(self) -> SinkError:
        """The error for a stream that two tasks write."""
        return SinkError(
            f"{self.name!r}: two partitions of batch {self.task.batch} have rows for this stream, "
            f"of which one is {self.task.partition}; in order, one task writes a stream: "
            "repartition by the column of its name, or coalesce(1)"
        )

    def way_out(self) -> str:
        """What a user can do, as text for errors.

        The entries have used their ids, so only to skip the rest.
        """
        return f"To go on, {self.rest()}: {self.name!r}"

    def _parts(self, text: bytes) -> tuple[Marker, int, str]:
        try:
            *words, partition, query = text.split(b" ", 5)
            return super().decode(b" ".join(words)), int(partition), query.decode()
        except ValueError:
            raise SinkError(f"{self.name!r} holds {text!r}, not a marker of this sink") from None

    def encode(self, marker: Marker) -> bytes:
        """The key's value for a marker of this writer."""
        return marker.encode() + f" {self.task.partition} {self.task.query}".encode()
