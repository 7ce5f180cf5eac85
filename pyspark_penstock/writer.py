"""Writers: what Spark runs in each task that writes, for batches and for streams."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from pyspark_penstock.delivery import AtLeastOnce, Delivery, ExactlyOnce, Link, Task
from pyspark_penstock.errors import SinkError
from pyspark_penstock.rows import RowEncoder
from pyspark_penstock.sink_options import AT_LEAST_ONCE, SinkOptions

BATCH_ID = "streaming.sql.batchId"
QUERY_ID = "sql.streaming.queryId"

logger = logging.getLogger(__name__)


@dataclass
class EntriesWritten(WriterCommitMessage):
    """What a task tells the driver."""

    rows: int


def write_rows(
    batches: Iterator[Any], encoder: RowEncoder, options: SinkOptions, task: Task
) -> EntriesWritten:
    """Write the rows of a task. Raises SinkError, OSError after long patience."""
    link = Link(options.server)
    deliveries: dict[str, Delivery] = {}
    rows = 0
    try:
        for batch in batches:
            for stream, commands in encoder.encode(batch):
                if stream not in deliveries:
                    deliveries[stream] = delivery(link, stream, options, task)
                deliveries[stream].send(commands)
                rows += commands.rows
        for each in deliveries.values():
            each.finish()
    finally:
        link.drop()
    return EntriesWritten(rows)


def delivery(link: Link, stream: str, options: SinkOptions, task: Task) -> Delivery:
    """How one stream's rows are delivered."""
    if options.delivery == AT_LEAST_ONCE:
        return AtLeastOnce(link)
    return ExactlyOnce(link, stream, task, options.max_transaction_rows)


class PenstockWriter(DataSourceArrowWriter):
    """Appends the rows of a data frame.

    A task that is tried again writes nothing twice. With ``txnAppId`` a whole write that is
    repeated doesn't either.
    """

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        self._options = options
        self._encoder = RowEncoder(schema, options)
        self._query = options.txn_app_id or uuid.uuid4().hex

    def write(self, iterator: Iterator[Any]) -> EntriesWritten:
        """Write one partition."""
        task = Task(self._query, self._options.txn_version, task_context().partitionId())
        return write_rows(iterator, self._encoder, self._options, task)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Nothing is left to do."""

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """What was written stays: other readers have seen it."""


class PenstockStreamWriter(DataSourceStreamArrowWriter):
    """Appends the batches of a streaming query."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        self._options = options
        self._encoder = RowEncoder(schema, options)

    def write(self, iterator: Iterator[Any]) -> EntriesWritten:
        """Write one partition of one batch; when the batch is replayed, only what is missing."""
        context = task_context()
        batch, query = (context.getLocalProperty(name) for name in (BATCH_ID, QUERY_ID))
        if batch is None or query is None:
            raise SinkError("Spark does not tell the task its batch; exactly once needs that")
        query = self._options.txn_app_id or query
        task = Task(query, int(batch), context.partitionId())
        return write_rows(iterator, self._encoder, self._options, task)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Nothing is left to do."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """What was written stays: the batch will be replayed, and the markers know."""


def task_context() -> TaskContext:
    """The task that runs this."""
    context = TaskContext.get()
    if context is None:
        raise SinkError("writers run inside of Spark tasks")
    return context
