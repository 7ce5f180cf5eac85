"""Filter pushdown: filters on stream, id and time become ranges.

Spark applies every filter again. Pushing filters down only avoids reading entries that Spark would
drop. Spark compares ids as text, so only equality says where they are in the stream.

It is off by default because Spark (4.1 to 4.3) keeps one plan for a relation, that of the filters
pushed last. A data frame or view that is used twice, in one query or one after the other, may then
be read in the wrong range. It is safe for a frame that is loaded, filtered and used once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import datasource as f
from pyspark.sql.types import StructType

from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import FIRST, LARGEST_PART, LAST, EntryId
from pyspark_penstock.read.batch_reader import PenstockReader
from pyspark_penstock.read.bounds import Groups
from pyspark_penstock.read.source_options import BatchOptions
from pyspark_penstock.schema import Meaning

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ONE_MS = timedelta(milliseconds=1)
BY_MEANING = (Meaning.STREAM, Meaning.ID, Meaning.TIME, Meaning.MS)


@dataclass(frozen=True)
class Slice:
    """What filters leave: entries in (after, upto] of *streams*; None means all streams."""

    after: EntryId = FIRST
    upto: EntryId = LAST
    streams: frozenset[str] | None = None

    def within(self, other: Slice) -> Slice:
        """The intersection of both."""
        streams = self.streams
        if other.streams is not None:
            streams = other.streams if streams is None else streams & other.streams
        return Slice(max(self.after, other.after), min(self.upto, other.upto), streams)


@dataclass
class Narrowing:
    """Collects filters. *meanings* says what the columns hold."""

    meanings: dict[str, Meaning]
    slice: Slice = field(default_factory=Slice)

    def learn(self, given: f.Filter) -> None:
        """Narrow the slice by a filter, if it is one of a known kind."""
        column: tuple[str, ...] = getattr(given, "attribute", ())
        meaning = self.meanings.get(".".join(column))
        if meaning is not None:
            self.slice = self.slice.within(slice_of(meaning, given))


def slice_of(meaning: Meaning, given: f.Filter) -> Slice:
    """The slice outside of which the filter is never true."""
    match given:
        case f.EqualTo(_, value) | f.EqualNullSafe(_, value):
            return slice_of_values(meaning, [value])
        case f.In(_, values):
            return slice_of_values(meaning, list(values))
        case f.GreaterThan(_, value) | f.GreaterThanOrEqual(_, value):
            return Slice(after=slice_of_values(meaning, [value], ordered=True).after)
        case f.LessThan(_, value) | f.LessThanOrEqual(_, value):
            return Slice(upto=slice_of_values(meaning, [value], ordered=True).upto)
    return Slice()


def slice_of_values(meaning: Meaning, values: list[Any], ordered: bool = False) -> Slice:
    """The slice from the smallest to the largest of *values*; everything if they say nothing."""
    if meaning is Meaning.STREAM:
        return Slice() if ordered else Slice(streams=frozenset(values))
    if meaning is Meaning.ID:
        return Slice() if ordered else slice_of_ids(values)
    times = [ms_of(value) for value in values]
    if not times or any(ms is None or not 0 <= ms <= LARGEST_PART for ms in times):
        return Slice()
    known = [ms for ms in times if ms is not None]
    return Slice(EntryId.before_time(min(known)), EntryId(max(known), LARGEST_PART))


def slice_of_ids(values: list[Any]) -> Slice:
    """The slice from the smallest to the largest id; everything, if one of them is not an id."""
    try:
        ids = [EntryId.parse(str(value)) for value in values]
    except ValueError:
        return Slice()
    return Slice(min(ids).previous(), max(ids)) if ids else Slice()


def ms_of(value: Any) -> int | None:
    """A time as milliseconds, rounded down. A number is taken as milliseconds."""
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.astimezone()
        return (aware - EPOCH) // ONE_MS
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class PushdownReader(PenstockReader):
    """A reader that takes filters. It needs ``spark.sql.python.filterPushdown.enabled``, too."""

    def __init__(self, options: BatchOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        meanings = {c.name: c.meaning for c in self._columns if c.meaning in BY_MEANING}
        self._narrowing = Narrowing(meanings)

    def pushFilters(self, filters: list[f.Filter]) -> Iterable[f.Filter]:  # noqa: N802
        """Use the filters, and return all of them for Spark to apply."""
        self._plan = None
        for given in filters:
            self._narrowing.learn(given)
        return filters

    def _span(self, groups: Groups, stream: str, state: StreamState) -> tuple[EntryId, EntryId]:
        after, upto = super()._span(groups, stream, state)
        wanted = self._narrowing.slice
        if wanted.streams is not None and stream not in wanted.streams:
            return after, after
        return max(after, wanted.after), min(upto, wanted.upto)
