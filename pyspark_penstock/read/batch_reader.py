"""Batch reads: the entries between two bounds, as of now, split into tasks."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import redis
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pyspark_penstock.connect import stream_info
from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read import bounds, data_loss
from pyspark_penstock.read.entry_count import count_up_to
from pyspark_penstock.read.entry_reader import read_range
from pyspark_penstock.read.plan import Range, stream_ranges, time_cuts
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.source_options import BatchOptions
from pyspark_penstock.schema import columns_of

logger = logging.getLogger(__name__)


class PenstockReader(DataSourceReader):
    """The reader of ``spark.read``."""

    def __init__(self, options: BatchOptions, schema: StructType) -> None:
        self._options = options
        self._columns = columns_of(schema, options.corrupt_column)

    def partitions(self) -> Sequence[InputPartition]:
        """One range for each task. The tasks of a stream cover equal spans of time."""
        with self._options.client() as client:
            names = self._options.subscription.names(client)
            states = {name: stream_info.stream_state(client, name) for name in names}
            warn_of_missing(states)
            total = sum(state.length for state in states.values())
            return [
                InputPartition(task)
                for name, state in states.items()
                for task in self._tasks(client, name, state, total)
            ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The batches of a task; none, if the partition has no range.

        Entries that were removed meanwhile cause a warning only. Otherwise a stream that is trimmed
        all the time could never be read.
        """
        if isinstance(partition.value, Range):
            missing = yield from read_range(partition.value, self._columns, self._options)
            if missing:
                data_loss.tell(missing, fail=False)

    def _span(
        self, client: redis.Redis, stream: str, state: StreamState
    ) -> tuple[EntryId, EntryId]:
        """The range to read of a stream: after the first id, up to the second."""
        return (
            bounds.resolve_start(client, stream, state, self._options.starting),
            bounds.resolve_end(client, stream, state, self._options.ending),
        )

    def _tasks(
        self, client: redis.Redis, stream: str, state: StreamState, total: int
    ) -> list[Range]:
        after, upto = self._span(client, stream, state)
        if state.first_entry is None or state.last_entry is None:
            return []
        after = max(after, state.first_entry.previous())
        upto = min(upto, state.last_entry)
        parts = -(-self._options.min_partitions * state.length // total)
        if self._options.max_records_per_partition is not None:
            return self._counted(stream, after, upto, self._options.max_records_per_partition)
        cuts = time_cuts(after, upto, state.length, parts)
        tasks = stream_ranges(stream, Position(upto, begin=Cut(after, None), cuts=cuts))
        return [replace(task, removed=state.removed) for task in tasks]

    def _counted(self, stream: str, after: EntryId, upto: EntryId, most: int) -> list[Range]:
        """Tasks of *most* entries each."""
        options = self._options
        counted = count_up_to(
            options.server, stream, after, upto, step=most, page_size=options.fetch_size,
            wait=options.fail_on_data_loss,
        )  # fmt: skip
        end = Position(upto, counted.entries, Cut(after, 0), counted.marks)
        return stream_ranges(stream, end)


def warn_of_missing(states: Mapping[str, StreamState]) -> None:
    """Warn of streams that do not exist: the name may be misspelled.

    They are read as empty ones.
    """
    for stream, state in states.items():
        if not state.exists:
            logger.warning("there is no stream %r: it is read as an empty one", stream)
