"""Batch reads: the entries between two bounds, as of now, split into tasks."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read import bounds, data_loss, plan
from pyspark_penstock.read.bounds import Groups
from pyspark_penstock.read.discovery import Discovery
from pyspark_penstock.read.entry_count import count_up_to
from pyspark_penstock.read.entry_reader import read_bundle
from pyspark_penstock.read.fleet_look import FleetLook
from pyspark_penstock.read.plan import Bundle, Range, stream_ranges, time_cuts
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import BatchOptions
from pyspark_penstock.read.states import groups_by, states_of
from pyspark_penstock.schema import columns_of

logger = logging.getLogger(__name__)


class Span(NamedTuple):
    """What is read of a stream: the entries in (after, upto]."""

    stream: str
    state: StreamState
    after: EntryId
    upto: EntryId


class PenstockReader(DataSourceReader):
    """The reader of ``spark.read``."""

    def __init__(self, options: BatchOptions, schema: StructType) -> None:
        self._options = options
        self._columns = columns_of(schema, options.corrupt_column)
        self._id = secrets.token_hex(4)
        self._plan: list[Bundle] | None = None

    def partitions(self) -> Sequence[InputPartition]:
        """A task for each large range; small ones share tasks. Asked twice, they are the same."""
        if self._plan is None:
            self._plan = self._planned()
        return [InputPartition(task) for task in self._plan]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The batches of a task; none, if the partition has no range.

        Entries that were removed meanwhile cause a warning only. Otherwise a stream that is trimmed
        all the time could never be read.
        """
        if isinstance(partition.value, Bundle):
            missing = yield from read_bundle(partition.value, self._columns, self._options)
            for problem in missing:
                data_loss.tell(problem, fail=False)

    # ------------------------------------------------------------------ the plan

    def _planned(self) -> list[Bundle]:
        """The tasks of all servers."""
        fleet = self._options.fleet
        look = FleetLook(fails=fleet.fail_on_unreachable)
        try:
            spans = look.ask({name: partial(self._spans, name) for name in fleet.names})
        finally:
            look.close()
        total = sum(span.state.length for found in spans.values() for span in found)
        parts, most = self._options.min_partitions, self._options.max_records_per_partition
        fill = plan.fill(total, parts, most)
        return [
            bundle
            for name, found in spans.items()
            for bundle in plan.bundles(name, self._ranges(name, found, total), fill, self._id)
        ]

    def _spans(self, server: str) -> list[Span]:
        """What is read of the streams of a server."""
        options = self._options.at(server)
        links = Links(options.server, Preference.ANY, "planning a read")
        discovery = Discovery(links, options)
        try:
            names, _ = discovery.find()
            states = states_of(links, names)
            warn_of_missing(states)
            groups = partial(groups_by, links)
            return [Span(s, state, *self._span(groups, s, state)) for s, state in states.items()]
        finally:
            discovery.close()
            links.close()

    def _span(self, groups: Groups, stream: str, state: StreamState) -> tuple[EntryId, EntryId]:
        """The range to read of a stream: after the first id, up to the second."""
        return (
            bounds.resolve_start(groups, stream, state, self._options.starting),
            bounds.resolve_end(groups, stream, state, self._options.ending),
        )

    def _ranges(self, server: str, spans: Sequence[Span], total: int) -> Iterator[Range]:
        for span in spans:
            yield from self._tasks(server, span, total)

    def _tasks(self, server: str, span: Span, total: int) -> list[Range]:
        stream, state, after, upto = span
        if state.first_entry is None or state.last_entry is None:
            return []
        is_whole = after < state.first_entry and upto >= state.last_entry
        after = max(after, state.first_entry.previous())
        upto = min(upto, state.last_entry)
        if after >= upto:
            return []
        if self._options.max_records_per_partition is not None:
            return self._counted(server, stream, after, upto)
        parts = -(-self._options.min_partitions * state.length // total)
        cuts = time_cuts(after, upto, state.length, parts)
        count = state.length if is_whole and not cuts else None
        end = Position(upto, count or 0, Cut(after, None if count is None else 0), cuts)
        return [replace(task, removed=state.removed) for task in stream_ranges(stream, end)]

    def _counted(self, server: str, stream: str, after: EntryId, upto: EntryId) -> list[Range]:
        """Tasks of the most entries that a task may have."""
        options = self._options.at(server)
        scan = Scan(
            options.server, stream, after, upto, options.fetch_size, wait=options.fail_on_data_loss
        )
        counted = count_up_to(scan, step=options.max_records_per_partition)
        end = Position(upto, counted.entries, Cut(after, 0), counted.marks)
        return stream_ranges(stream, end)


def warn_of_missing(states: Mapping[str, StreamState]) -> None:
    """Warn of streams that do not exist: the name may be misspelled.

    They are read as empty ones.
    """
    for stream, state in states.items():
        if not state.exists:
            logger.warning("there is no stream %r: it is read as an empty one", stream)
