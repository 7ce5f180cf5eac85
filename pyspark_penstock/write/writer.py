"""The writers that Spark runs in each task, for batches and for streaming queries."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from pyspark_penstock.collector import BATCH_ID, QUERY_ID, Collector, tell
from pyspark_penstock.connect.fleet import ONLY
from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.figures import OTHERS, WRITE_MS, Place, Sums
from pyspark_penstock.write import atomic, batch_sums
from pyspark_penstock.write.atomic import Piece, Publication
from pyspark_penstock.write.deliveries import Deliveries
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.ordered import RowIds, WriterMarkerKey
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import ORDERED, SinkOptions

Messages = list[WriterCommitMessage | None]


@dataclass
class EntriesWritten(WriterCommitMessage):
    """The message of a task to the driver. *query* is the streaming query that the task is of."""

    task: Task
    rows: int
    places: list[Place]
    staged: list[Piece]
    sums: Sums = field(default_factory=Sums)
    query: str = ""


def write_rows(
    batches: Iterator[Any], encoder: RowEncoder, options: SinkOptions, task: Task
) -> EntriesWritten:
    """Write the rows of a task. Raises SinkError, ServerError."""
    deliveries = Deliveries(options, task)
    ids = RowIds(task.batch) if options.delivery == ORDERED else None
    rows = 0
    spent = 0.0  # without the time in which the rows are made
    try:
        for batch in batches:
            began = time.perf_counter()
            deliveries.send(list(encoder.encode(batch, ids)))
            rows += batch.num_rows
            spent += time.perf_counter() - began
        began = time.perf_counter()
        deliveries.finish()
        spent += time.perf_counter() - began
    except Exception:
        atomic.give_up(options.fleet, deliveries.staged)
        raise
    finally:
        deliveries.close()
    sums = deliveries.sums()
    sums.add((ONLY, OTHERS), WRITE_MS, spent * 1_000)
    return EntriesWritten(task, rows, deliveries.places, deliveries.staged, sums)


def entries_written(messages: Messages) -> list[EntriesWritten]:
    """The messages of the tasks that have finished; that of a lost task is None."""
    return [message for message in messages if isinstance(message, EntriesWritten)]


def publish(messages: Messages, options: SinkOptions) -> None:
    """Publish what the tasks of a batch have staged. Raises SinkError."""
    written = entries_written(messages)
    if options.delivery == ORDERED:
        check_one_task_each(written)
    pieces = [piece for message in written for piece in message.staged]
    if pieces:
        task = written[0].task._replace(partition=None)
        limit, confirmation = options.max_transaction_rows, options.confirmation
        Publication(options.fleet, options.stream, task, pieces, limit, confirmation).publish()


def check_one_task_each(written: list[EntriesWritten]) -> None:
    """Raises SinkError if two tasks have rows for a stream.

    If their rows are equal, markers do not show it.
    """
    tasks: dict[Place, Task] = {}
    for message in written:
        for place in message.places:
            if tasks.setdefault(place, message.task) != message.task:
                raise WriterMarkerKey(place[1], message.task).two_tasks()


def give_up(messages: Messages, options: SinkOptions) -> None:
    """Delete what the tasks of a failed batch have staged."""
    pieces = [piece for message in entries_written(messages) for piece in message.staged]
    atomic.give_up(options.fleet, pieces)


class PenstockWriter(DataSourceArrowWriter):
    """The writer of ``df.write``.

    A task that is tried again writes nothing twice. With ``txnAppId``, neither does a whole write.
    """

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        self._options = options
        self._encoder = RowEncoder(schema, options)
        self._query = options.txn_app_id or uuid.uuid4().hex
        if options.txn_app_id and options.txn_version is None:
            raise OptionError(
                "'txnAppId' of a batch write needs a 'txnVersion', one for each write: a version "
                "that was written is not written again, whatever the rows are"
            )

    def write(self, iterator: Iterator[Any]) -> EntriesWritten:
        """Write one partition."""
        version = self._options.txn_version or 0
        task = Task(self._query, version, task_context().partitionId())
        return write_rows(iterator, self._encoder, self._options, task)

    def commit(self, messages: Messages) -> None:
        """All tasks are done: publish what they have staged, and log what was written."""
        publish(messages, self._options)
        batch_sums.log_write(entries_written(messages))

    def abort(self, messages: Messages) -> None:
        """Delete what is staged. What is written stays: others may have read it."""
        give_up(messages, self._options)


class PenstockStreamWriter(DataSourceStreamArrowWriter):
    """The writer of ``df.writeStream``."""

    def __init__(
        self, options: SinkOptions, schema: StructType, collector: Collector | None = None
    ) -> None:
        self._options = options
        self._collector = collector
        self._encoder = RowEncoder(schema, options)
        if options.txn_version is not None:
            raise OptionError("'txnVersion' is for batch writes: batches of a query have a number")

    def write(self, iterator: Iterator[Any]) -> EntriesWritten:
        """Write one partition of a batch; if the batch is replayed, only what is missing."""
        context = task_context()
        batch, query = (context.getLocalProperty(name) for name in (BATCH_ID, QUERY_ID))
        if batch is None or query is None:
            raise SinkError("Spark does not tell the task its batch; exactly once needs that")
        task = Task(self._options.txn_app_id or query, int(batch), context.partitionId())
        message = write_rows(iterator, self._encoder, self._options, task)
        return replace(message, query=query)

    def commit(self, messages: Messages, batchId: int) -> None:  # noqa: N803
        """All tasks are done: publish what they have staged, and tell what they have written."""
        publish(messages, self._options)
        self.tell(entries_written(messages), batchId)

    def tell(self, written: list[EntriesWritten], batch: int) -> None:
        """Tell the driver's program and ``status`` what a batch has written."""
        if written:
            tell(self._collector, (written[0].query, batch), batch_sums.sums_of(written))
        batch_sums.keep(self._options.checkpoint, batch, written)

    def abort(self, messages: Messages, batchId: int) -> None:  # noqa: N803
        """Delete what is staged. What is written stays: a replay finds it by the markers."""
        give_up(messages, self._options)


def task_context() -> TaskContext:
    """The context of the running task. Raises SinkError outside of one."""
    context = TaskContext.get()
    if context is None:
        raise SinkError("writers run inside of Spark tasks")
    return context
