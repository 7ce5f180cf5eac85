"""Streaming reads from a shared group: a batch is what one consumer of the group has pending.

    latestOffset(17)   acknowledge what is pending for spark-3f9a1c2b-17: that batch is done
                       claim entries for spark-3f9a1c2b-18
    write-ahead log    18
    partitions         cut what is pending for spark-3f9a1c2b-18 into tasks

Spark asks for the next offset when the previous batch is in its commit log, so its entries are
acknowledged then. Spark's own call of ``commit`` comes later, and never for the last batch.

A query that dies after the claim, and before the log, leaves entries with consumer 18. It continues
from offset 17, claims for consumer 18 again, and finds them.
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pyspark_penstock.collector import Collector, tell_of_task
from pyspark_penstock.connect.client import LazyClient
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.stream_info import group_states, stream_state
from pyspark_penstock.figures import ENTRIES_LOST, OTHERS, PLAN_MS, Sums
from pyspark_penstock.read import data_loss, plan
from pyspark_penstock.read.entry_reader import batches
from pyspark_penstock.read.offsets import ONLY
from pyspark_penstock.read.positions import Position
from pyspark_penstock.read.sharing_options import Sharing
from pyspark_penstock.read.source_options import ReadOptions, StreamOptions
from pyspark_penstock.read.starting_position import head_of, start_of
from pyspark_penstock.read.worker_exit import exit_if_spark_hung_up
from pyspark_penstock.schema import Column, columns_of
from pyspark_penstock.shared import claims, group_queue
from pyspark_penstock.shared.claims import Claimer
from pyspark_penstock.shared.group_offsets import Claim, ClaimedRange, Place, SharedOffset
from pyspark_penstock.shared.group_queue import GroupQueue
from pyspark_penstock.shared.pending_scan import PendingScan

logger = logging.getLogger(__name__)

Json = dict[str, Any]


class SharedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of ``spark.readStream`` with ``groupMode=shared``."""

    def __init__(
        self,
        options: StreamOptions,
        sharing: Sharing,
        schema: StructType,
        collector: Collector | None = None,
    ) -> None:
        self._options = options
        self._collector = collector
        self._sums = Sums()  # since the query was started
        self._sharing = sharing
        self._columns = columns_of(schema, options.corrupt_column)
        self._source = options.subscription.source() | {"group": options.group}
        self._links = Links(
            options.server, Preference.PRIMARY, f"claiming for group {options.group!r}"
        )
        self._claimer = Claimer(
            self._links, sharing.min_idle_ms, options.fetch_size, self._step, sums=self._sums
        )
        self._client = LazyClient(options.client)
        self._initial: SharedOffset | None = None
        self._targets: dict[str, Position] | None = None
        self._acknowledged = 0  # the number of the last acknowledged batch
        self._ran = 0  # the number of the last batch planned here
        self._lags: dict[str, int] | None = None
        self._warned: dict[str, int] = {}

    # ------------------------------------------------------------------ what Spark asks

    def initialOffset(self) -> Json:  # noqa: N802  (Spark's name)
        """A new member of the group that has claimed nothing.

        The group is created if it does not exist.
        """
        if self._initial is None:
            member = f"{self._sharing.prefix}-{secrets.token_hex(4)}"
            streams = [s for s in self._subscribed() if self._enter(s)]
            self._initial = SharedOffset(self._source, member, 0, {s: Claim() for s in streams})
        return self._initial.to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The default size of a batch, in entries."""
        return ReadMaxRows(self._options.max_offsets)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Remember the ends of the streams. Nothing after them will be claimed."""
        states = {s: stream_state(self._client.get(), s) for s in self._subscribed()}
        self._targets = {s: head_of(state) for s, state in states.items() if state.exists}

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # noqa: N802
        """Claim the next batch; *start* itself if there is nothing to claim."""
        began = time.perf_counter()
        try:
            return self._next(start, limit)
        finally:
            self._sums.add((ONLY, OTHERS), PLAN_MS, (time.perf_counter() - began) * 1_000)

    def _next(self, start: Json, limit: ReadLimit) -> Json:
        offset = self._checked(start)
        self._acknowledge(offset)
        found = {s: queue for s in self._subscribed() if (queue := self._queue(s, offset))}
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else sys.maxsize
        batch = self._claim(offset, found, most)
        if not any(claim.entries for claim in batch.values()):
            return start
        known = dict.fromkeys([*offset.claims, *found], Claim())
        return SharedOffset(self._source, offset.member, offset.batch + 1, known | batch).to_json()

    def reportLatestOffset(self) -> Json | None:  # noqa: N802
        """How many entries of each stream the group has not delivered yet; and what was counted."""
        if self._lags is None:
            return None
        return self._source | {"lag": self._lags, "figures": self._sums.to_json()}

    def partitions(self, start: Json, end: Json) -> Sequence[InputPartition]:
        """The tasks of the batch *end*. They are the same each time.

        Raises DataLossError if other consumers have taken entries of the batch.
        """
        batch = self._checked(end)
        if batch.batch == self._checked(start).batch:
            return []
        for stream, claim in batch.claims.items():
            if claim.entries:
                place = batch.place(stream)
                found = self._pending(place)
                check_all_there(place, claim.entries, found, self._options.fail_on_data_loss)
        self._ran = batch.batch
        return [InputPartition(task) for task in batch.tasks()]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The batches of a task."""
        sums = Sums()
        yield from read_claimed(partition.value, self._columns, self._options, sums)
        tell_of_task(self._collector, sums)

    def commit(self, end: Json) -> None:
        """Acknowledge the batch *end*, unless that is done."""
        self._acknowledge(self._checked(end))

    def stop(self) -> None:
        """Close the connections."""
        self._links.close()
        self._client.close()
        exit_if_spark_hung_up()

    # ------------------------------------------------------------------ streams and groups

    def _checked(self, value: Json) -> SharedOffset:
        offset = SharedOffset.from_json(value)
        offset.check_source(self._source)
        return offset

    def _subscribed(self) -> list[str]:
        return self._options.subscription.names(self._client.get())

    def _enter(self, stream: str) -> bool:
        """Create the group where a new query starts. Returns whether the stream exists."""
        client, options = self._client.get(), self._options
        state = stream_state(client, stream)
        if state.exists and group_queue.group_of(client, stream, options.group) is None:
            position = start_of(partial(group_states, client), stream, state, options)
            group_queue.create_group(client, stream, options.group, position)
        return state.exists

    def _queue(self, stream: str, offset: SharedOffset) -> GroupQueue | None:
        """What the group has to deliver of *stream*; None if it does not exist."""
        target = None
        if self._targets is not None:
            target = self._targets.get(stream, Position())
        group, known = self._options.group, stream in offset.claims
        queue = group_queue.queue_of(self._client.get(), stream, group, known, target)
        if queue and queue.lost and (known_lost := self._warned.get(stream)) != queue.lost:
            self._sums.add((ONLY, stream), ENTRIES_LOST, max(0, queue.lost - (known_lost or 0)))
            self._warned[stream] = queue.lost
            logger.warning(
                "stream %r: %d entries were trimmed or deleted before group %r gave them to "
                "anybody", stream, queue.lost, group,
            )  # fmt: skip
        return queue

    # ------------------------------------------------------------------ batches

    def _step(self, entries: int) -> int:
        options = self._options
        return plan.step(entries, options.min_partitions, options.max_records_per_partition)

    def _pending(self, place: Place) -> int:
        return self._links.retry(place.stream, partial(claims.pending, place=place))

    def _claim(
        self, offset: SharedOffset, found: dict[str, GroupQueue], most: int
    ) -> dict[str, Claim]:
        """Claim the batch after *offset*. Returns what it holds of each stream."""
        places = {stream: offset.place(stream, ahead=1) for stream in found}
        batch = self._claimer.claim(places, found, most)
        claimed = {s: claim.entries for s, claim in batch.items()}
        self._lags = {s: max(0, q.backlog - claimed.get(s, 0)) for s, q in found.items()}
        return batch

    def _acknowledge(self, offset: SharedOffset) -> None:
        """Acknowledge the batch that ends at *offset*, once."""
        if self._acknowledged == offset.batch:
            return
        for stream, claim in offset.claims.items():
            if claim.entries:
                place = offset.place(stream)
                if self._ran == offset.batch:
                    self._warn_if_taken(place, claim.entries)
                self._links.retry(stream, partial(claims.acknowledge, place=place, claim=claim))
        self._acknowledged = offset.batch

    def _warn_if_taken(self, place: Place, entries: int) -> None:
        found = self._pending(place)
        if found < entries:
            logger.warning(
                "stream %r: %d of %d entries had been taken over by others when they were to be "
                "acknowledged; they may be read twice", place.stream, entries - found, entries,
            )  # fmt: skip


def read_claimed(
    task: ClaimedRange, columns: list[Column], options: ReadOptions, sums: Sums
) -> Iterator[Any]:
    """Yield the batches of *task*. Raises DataLossError if others have taken entries of it."""
    scan = PendingScan(options.server, task, options.fetch_size)
    yield from batches(scan, task.place.stream, columns, options, sums)
    sums.add((ONLY, task.place.stream), ENTRIES_LOST, max(0, scan.listed - scan.found))
    if scan.listed > scan.found:
        logger.warning(
            "stream %r: %d of %d entries that were claimed had been deleted; they are no rows",
            task.place.stream, scan.listed - scan.found, scan.listed,
        )  # fmt: skip
    check_all_there(task.place, task.entries, scan.listed, options.fail_on_data_loss)


def check_all_there(place: Place, entries: int, found: int, fail: bool) -> None:
    """Raise DataLossError, or warn, if fewer than *entries* are still pending."""
    if found < entries:
        problem = (
            f"stream {place.stream!r}: {entries - found} of {entries} entries that "
            f"{place.consumer!r} had claimed are not pending for it any more: others of group "
            f"{place.group!r} have taken them over or acknowledged them"
        )
        data_loss.tell(problem, fail=fail)
