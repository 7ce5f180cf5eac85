"""Streaming reads: batches of limited size, planned so that a replay reads the same entries.

Spark keeps one reader in the driver, for all batches, and sends copies of it to the tasks. So a
task's range must hold everything that the task needs to know.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pyspark_penstock.connect import stream_info
from pyspark_penstock.connect.client import LazyClient
from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import FIRST
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.read import data_loss, plan
from pyspark_penstock.read.entry_count import Counted, count_up_to
from pyspark_penstock.read.entry_reader import read_range
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.plan import Share
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.source_options import StreamOptions
from pyspark_penstock.read.starting_position import head_of, start_of
from pyspark_penstock.read.worker_exit import exit_if_spark_hung_up
from pyspark_penstock.schema import columns_of

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class PenstockStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of ``spark.readStream``.

    With availableNow it ends where the streams ended at its start.
    """

    def __init__(self, options: StreamOptions, schema: StructType) -> None:
        self._options = options
        self._columns = columns_of(schema, options.corrupt_column)
        self._source = options.subscription.source()
        self._query = secrets.token_hex(4)  # the id of a new query
        self._client = LazyClient(options.client)
        self._targets: dict[str, Position] | None = None
        self._heads: dict[str, Position] = {}
        self._warned: dict[str, int] = {}
        self._last_batch_s = float("-inf")
        self._position_group = options.position_group
        self._with_position_group: set[str] = set()  # streams that were checked
        self._published: Offset | None = None

    # ------------------------------------------------------------------ what Spark asks

    def initialOffset(self) -> Json:  # noqa: N802  (Spark's name)
        """Where a new query starts."""
        states = self._states({})
        self._check_position_group((s for s, state in states.items() if state.exists), self._query)
        client, options = self._client.get(), self._options
        starts = {s: start_of(client, s, state, options) for s, state in states.items()}
        return Offset(self._source, starts, self._query).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The default size of a batch, in entries."""
        return ReadMaxRows(self._options.max_offsets)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Remember the ends of the streams. Nothing after them will be read."""
        self._targets = {s: head_of(state) for s, state in self._states({}).items()}

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # noqa: N802
        """Where the next batch ends; *start* itself if there is no batch yet."""
        offset = self._checked(start)
        states = self._states(offset.streams)
        self._publish(offset)
        self._check_position_group((s for s, state in states.items() if state.exists), offset.query)
        positions = {s: self._position(s, offset, state) for s, state in states.items()}
        self._heads = {s: self._head(s, positions[s], state) for s, state in states.items()}
        backlogs = {s: self._heads[s].n - position.n for s, position in positions.items()}
        if not self._due(sum(backlogs.values())):
            return start
        shares = self._shares(backlogs, limit)
        ends = {
            s: self._advance(s, position, shares[s], states[s])
            for s, position in positions.items()
            if self._heads[s].id > position.id
        }
        if not ends:
            return start
        self._last_batch_s = time.monotonic()
        return replace(offset, streams=offset.streams | ends).to_json()

    def reportLatestOffset(self) -> Json | None:  # noqa: N802
        """The ends of the streams, for Spark's progress reports."""
        return Offset(self._source, self._heads).to_json() if self._heads else None

    def partitions(self, start: Json, end: Json) -> Sequence[InputPartition]:
        """The tasks of the batch between two offsets. They are the same each time."""
        last = self._checked(end)
        self._check_position_group(last.streams, last.query)
        tasks = plan.ranges(self._checked(start), last)
        for stream in {task.stream for task in tasks}:
            begin = last.streams[stream].begin
            if begin is not None and begin.n is not None:
                position = Position(begin.id, begin.n)
                self._watch(stream, position, self._state(stream, position))
        return [InputPartition(task) for task in tasks]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The batches of a task. Raises DataLossError if planned entries were removed."""
        missing = yield from read_range(partition.value, self._columns, self._options)
        if missing:
            data_loss.tell(missing, fail=self._options.fail_on_data_loss)

    def commit(self, end: Json) -> None:
        """Move the position group to *end*, unless that is done."""
        self._publish(Offset.from_json(end))

    def stop(self) -> None:
        """Close the connections."""
        self._client.close()
        exit_if_spark_hung_up()

    # ------------------------------------------------------------------ the group

    def _check_position_group(self, streams: Iterable[str], query: str) -> None:
        """Raises OptionError if the group of a stream that is new here is not *query*'s to move."""
        new = set(streams) - self._with_position_group
        if self._position_group.group and new:
            self._position_group.check(self._client.get(), sorted(new), query)
            self._with_position_group |= new

    def _publish(self, done: Offset) -> None:
        """Move the position group to *done*, once.

        When Spark asks for the next offset, the previous batch is in its commit log. Its own
        ``commit`` comes only with the next batch, so on an idle stream never.
        """
        if self._position_group.group and not done.is_start and done != self._published:
            self._position_group.publish(self._client.get(), done)
            self._published = done

    # ------------------------------------------------------------------ the streams

    def _state(self, stream: str, position: Position | None = None) -> StreamState:
        """The state of the stream. A replica that lags behind *position* is waited for.

        Raises CheckpointError if *position* is of another stream.
        """
        client = self._client.get()

        def attempt() -> StreamState:
            state = stream_info.stream_state(client, stream)
            try:
                data_loss.check_same_stream(stream, position or Position(), state)
            except CheckpointError as problem:
                if client.is_of_replica():
                    raise ConnectionError(f"a replica lags behind: {problem}") from problem
                raise
            return state

        return client.retry(f"reading stream {stream!r}", attempt)

    def _states(self, known: dict[str, Position]) -> dict[str, StreamState]:
        """The states of all streams to read: those subscribed to, and those in the offset."""
        names = self._options.subscription.names(self._client.get())
        return {name: self._state(name, known.get(name)) for name in sorted({*names, *known})}

    # ------------------------------------------------------------------ positions

    def _checked(self, value: Json) -> Offset:
        offset = Offset.from_json(value)
        offset.check_source(self._source)
        return offset

    def _position(self, stream: str, offset: Offset, state: StreamState) -> Position:
        """Where the next batch starts in *stream*, after what was lost."""
        if stream not in offset.streams:  # it has appeared: read from its beginning
            return Position(FIRST, state.removed)
        position = offset.streams[stream]
        self._watch(stream, position, state)
        return replace(position, n=max(position.n, state.removed)) if state.exists else position

    def _watch(self, stream: str, position: Position, state: StreamState) -> None:
        """Raise DataLossError for entries that were lost, or warn of them once."""
        if self._options.fail_on_data_loss:
            data_loss.check_nothing_lost(stream, position, state)
        lost = data_loss.lost_entries(position, state)
        if lost and self._warned.get(stream) != lost:
            self._warned[stream] = lost
            logger.warning("stream %r: %d entries were lost unread", stream, lost)

    def _head(self, stream: str, position: Position, state: StreamState) -> Position:
        """How far *stream* can be read now."""
        if self._targets is None:
            return head_of(state)
        target = self._targets.get(stream, position)
        if target.id <= position.id:
            return position
        return replace(target, n=max(target.n, position.n))  # entries after it may be lost too

    # ------------------------------------------------------------------ limits

    def _due(self, backlog: int) -> bool:
        """Whether there are enough entries for a batch, or the wait for them is over."""
        if self._targets is not None or backlog >= self._options.min_offsets:
            return True
        waited_ms = (time.monotonic() - self._last_batch_s) * 1_000
        return waited_ms >= self._options.max_delay_ms

    def _shares(self, backlogs: dict[str, int], limit: ReadLimit) -> dict[str, Share]:
        """How much the next batch takes of each stream."""
        if isinstance(limit, ReadAllAvailable):
            return {stream: Share(backlog) for stream, backlog in backlogs.items()}
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._options.max_offsets
        sizes = plan.budgets(backlogs, self._options.max_bytes) if self._options.max_bytes else {}
        entries = plan.shares(backlogs, most)
        return {stream: Share(entries[stream], sizes.get(stream)) for stream in backlogs}

    def _advance(
        self, stream: str, position: Position, share: Share, state: StreamState
    ) -> Position:
        """The position after *share* more entries.

        If nothing was ever removed from the stream, no entry of a whole backlog can be missing.
        Then the batch is cut by time, without reading it first. Otherwise its entries are counted.
        """
        head = self._heads[stream]
        backlog = head.n - position.n
        takes_all = share.entries >= backlog and share.bytes is None
        if takes_all and self._may_cut_by_time(backlog, state):
            cuts = plan.time_cuts(position.id, head.id, backlog, self._options.min_partitions)
            return Position(head.id, head.n, Cut(position.id, position.n), cuts)
        counted = self._count_share(stream, position, head, share)
        lost = self._lost_within(stream, head, backlog, counted)
        begin = (
            position.n + lost
        )  # these entries count as lost before the batch, so that no task reports them again
        return Position(
            head.id if counted.all else counted.id,
            begin + counted.entries,
            Cut(position.id, begin),
            tuple(Cut(mark.id, begin + (mark.n or 0)) for mark in counted.marks),
        )

    def _may_cut_by_time(self, backlog: int, state: StreamState) -> bool:
        """Whether tasks need no counts: there is one task only, or nothing was ever removed."""
        if self._step(backlog) >= backlog:
            return True
        if self._options.max_records_per_partition is not None:
            return False
        return not (state.removed and self._options.fail_on_data_loss)

    def _count_share(
        self, stream: str, position: Position, head: Position, share: Share
    ) -> Counted:
        """Count the entries of *share*, from *position* towards *head*."""
        options, backlog = self._options, head.n - position.n
        return count_up_to(
            options.server, stream, position.id, head.id,
            most=share.entries if share.entries < backlog else None,
            most_bytes=share.bytes,
            step=self._step(min(share.entries, backlog)),
            page_size=options.fetch_size,
            wait=options.fail_on_data_loss,
        )  # fmt: skip

    def _lost_within(self, stream: str, head: Position, backlog: int, counted: Counted) -> int:
        """How many entries of *backlog* are missing, if all was counted.

        Raises DataLossError, or warns.
        """
        lost = max(0, backlog - counted.entries) if counted.all else 0
        if lost:
            problem = (
                f"stream {stream!r}: {lost} entries up to {head.id} were trimmed or deleted before "
                "they were read"
            )
            data_loss.tell(problem, fail=self._options.fail_on_data_loss)
        return lost

    def _step(self, entries: int) -> int:
        """How many entries a counted task gets."""
        options = self._options
        return plan.step(entries, options.min_partitions, options.max_records_per_partition)
