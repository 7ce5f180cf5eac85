"""A small engine that runs a streaming query as Spark does, and can be killed at every step.

The checkpoint survives a kill. It has the end offset of each batch, written before the batch runs,
and the number of committed batches. Like Spark, the engine pickles readers and writers for the
tasks, asks for the initial offset again if the first batch was not committed, and calls the
source's commit() when it plans the next batch.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from pyspark_penstock.read.source_options import StreamOptions
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from pyspark_penstock.shared.group_reader import SharedStreamReader
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import SinkOptions
from pyspark_penstock.write.writer import EntriesWritten, publish, write_rows


class Killed(BaseException):
    """Simulates ``kill -9``; it is a BaseException so that no handler catches it."""


class Crash:
    """Kills the query at step number *at*, and records all steps."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.steps: list[str] = []

    def __call__(self, name: str) -> None:
        self.steps.append(name)
        if len(self.steps) == self.at:
            raise Killed(name)


@dataclass
class Checkpoint:
    """What survives a kill."""

    ends: list[str] = field(default_factory=list)
    committed: int = 0
    plans: dict[int, list[Any]] = field(default_factory=dict)  # each batch's tasks, to compare


Step = Callable[[str], None]


def no_step(_: str) -> None:
    """Do nothing at a step."""


class Engine:
    """One run of a query. *step* is called with the name of each step, and can raise Killed."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        source: StreamOptions,
        schema: StructType,
        sink: SinkOptions,
        step: Step = no_step,
    ) -> None:
        self.checkpoint = checkpoint
        self.reader = (
            SharedStreamReader(source, source.sharing, schema)
            if source.sharing
            else PenstockStreamReader(source, schema)
        )
        self.sink = sink
        self.encoder = RowEncoder(schema, sink)
        self.step = step

    def run(self) -> None:
        """Run until there is nothing to read."""
        try:
            while self.batch():
                pass
        finally:
            self.reader.stop()

    def batch(self) -> bool:
        """Replay the batch that was not committed, or plan and run the next one.

        False if there is none.
        """
        number = self.checkpoint.committed
        if number == len(self.checkpoint.ends):
            start = self.start(number)
            if number:
                self.step("commit source")
                self.reader.commit(start)
            self.step("plan")
            end = self.reader.latestOffset(start, self.reader.getDefaultReadLimit())
            if end == start:
                return False
            self.step("write-ahead log")
            self.checkpoint.ends.append(json.dumps(end))
        self.run_batch(number)
        self.step("commit")
        self.checkpoint.committed += 1
        return True

    def start(self, number: int) -> dict[str, Any]:
        """The start offset of batch *number*."""
        text = (
            self.checkpoint.ends[number - 1] if number else json.dumps(self.reader.initialOffset())
        )
        value: dict[str, Any] = json.loads(text)
        return value

    def run_batch(self, number: int) -> None:
        """Plan and run the tasks of a batch that is in the checkpoint."""
        partitions = self.reader.partitions(
            self.start(number), json.loads(self.checkpoint.ends[number])
        )
        plan = [partition.value for partition in partitions]
        assert self.checkpoint.plans.setdefault(number, plan) == plan
        messages = [
            self.run_task(number, task, partition) for task, partition in enumerate(partitions)
        ]
        publish(pickle.loads(pickle.dumps(messages)), self.sink)

    def run_task(self, number: int, task: int, partition: InputPartition) -> EntriesWritten:
        """Read and write one partition."""
        reader = pickle.loads(pickle.dumps(self.reader))
        encoder = pickle.loads(pickle.dumps(self.encoder))
        rows = self.stepwise(reader.read(partition))
        message = write_rows(rows, encoder, self.sink, Task("query", number, task))
        self.step("task done")
        return message

    def stepwise(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the same batches, with a step before each and one after the last."""
        for batch in batches:
            self.step("read")
            yield batch
        self.step("write")
