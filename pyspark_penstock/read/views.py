"""Views: the state of streams, groups, consumers and pending entries as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import redis
from pyspark.sql import types as t
from pyspark.sql.datasource import DataSourceReader, InputPartition

from pyspark_penstock import schema as schemas
from pyspark_penstock.connect import stream_info
from pyspark_penstock.entry_id import FIRST, LAST, EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.names import key, text, utf8
from pyspark_penstock.read.source_options import BatchOptions

PENDING_PAGE = 1_000
Row = tuple[Any, ...]


def table(*columns: tuple[str, t.DataType]) -> t.StructType:
    """A schema of nullable columns."""
    return t.StructType([t.StructField(name, kind) for name, kind in columns])


TEXT, COUNT, TIME = t.StringType(), t.LongType(), t.TimestampType()
SCHEMAS = {
    "streams": table(
        ("stream", TEXT), ("length", COUNT), ("entries_added", COUNT), ("groups", COUNT),
        ("first_id", TEXT), ("last_id", TEXT), ("last_generated_id", TEXT),
        ("first_time", TIME), ("last_time", TIME),
    ),
    "groups": table(
        ("stream", TEXT), ("group", TEXT), ("consumers", COUNT), ("pending", COUNT),
        ("last_delivered_id", TEXT), ("entries_read", COUNT), ("lag", COUNT),
    ),
    "consumers": table(
        ("stream", TEXT), ("group", TEXT), ("consumer", TEXT), ("pending", COUNT),
        ("idle_ms", COUNT), ("inactive_ms", COUNT),
    ),
    "pending": table(
        ("stream", TEXT), ("group", TEXT), ("consumer", TEXT), ("id", TEXT), ("timestamp", TIME),
        ("idle_ms", COUNT), ("deliveries", COUNT),
    ),
}  # fmt: skip


class ViewReader(DataSourceReader):
    """The reader of a view, with one task for each stream."""

    def __init__(self, options: BatchOptions, schema: t.StructType) -> None:
        unknown = [field.name for field in schema if field not in SCHEMAS[options.view].fields]
        if unknown:
            raise OptionError(f"view={options.view}: it has no column {unknown[0]!r} of that type")
        self._options = options
        self._names = schema.names

    def partitions(self) -> Sequence[InputPartition]:
        """The streams."""
        with self._options.client() as client:
            names = self._options.subscription.names(client)
        return [InputPartition(name) for name in names]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of one stream; none if it does not exist."""
        if partition.value is None:
            return
        with self._options.client() as client:
            rows = list(ROWS[self._options.view](client, partition.value))
        yield batch_of(SCHEMAS[self._options.view], rows).select(self._names)


def batch_of(schema: t.StructType, rows: list[Row]) -> Any:
    """Rows as a record batch."""
    wanted = schemas.arrow_schema(
        schemas.Column(f.name, schemas.Meaning.FIELD, schemas.arrow_type(f.name, f.dataType))
        for f in schema
    )
    columns = zip(*rows, strict=True) if rows else [()] * len(wanted)
    arrays = [column_of(c, f.type) for c, f in zip(columns, wanted, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def column_of(values: Sequence[Any], kind: Any) -> Any:
    """Values as a column of Arrow type *kind*."""
    if pa.types.is_string(kind):
        values = [value and utf8(value) for value in values]
    return pa.array(values, kind)


def stream_rows(client: redis.Redis, stream: str) -> Iterator[Row]:
    """The one row of a stream."""
    state = stream_info.stream_state(client, stream)
    if state.exists:
        first, last = state.first_entry, state.last_entry
        yield (
            stream, state.length, state.added, state.groups,
            first and str(first), last and str(last), str(state.last_id),
            first and time_of(first), last and time_of(last),
        )  # fmt: skip


def group_rows(client: redis.Redis, stream: str) -> Iterator[Row]:
    """One row for each group."""
    for g in groups_of(client, stream):
        yield (
            stream, g.name, g.consumers, g.pending, str(g.last_delivered), g.entries_read, g.lag
        )  # fmt: skip


def consumer_rows(client: redis.Redis, stream: str) -> Iterator[Row]:
    """One row for each consumer."""
    for group in groups_of(client, stream):
        for c in stream_info.consumer_states(client, stream, group.name):
            yield stream, group.name, c.name, c.pending, c.idle_ms, c.inactive_ms


def pending_rows(client: redis.Redis, stream: str) -> Iterator[Row]:
    """One row for each pending entry."""
    for group in groups_of(client, stream):
        for consumer, entry, idle_ms, deliveries in pending_entries(client, stream, group.name):
            time = time_of(entry)
            yield stream, group.name, consumer, str(entry), time, idle_ms, deliveries


def groups_of(client: redis.Redis, stream: str) -> list[stream_info.GroupState]:
    """The groups of a stream; none if it does not exist."""
    exists = stream_info.stream_state(client, stream).exists
    return stream_info.group_states(client, stream) if exists else []


def pending_entries(
    client: redis.Redis, stream: str, group: str
) -> Iterator[tuple[str, EntryId, int, int]]:
    """The pending entries of a group, ordered by id: consumer, id, idle time, deliveries."""
    entry = FIRST
    found: Any = client.xpending_range
    while entry != LAST and (
        page := found(key(stream), key(group), f"({entry}", "+", PENDING_PAGE)
    ):
        for p in page:
            entry = EntryId.parse(p["message_id"])
            consumer = text(p["consumer"])
            yield consumer, entry, p["time_since_delivered"], p["times_delivered"]


def time_of(entry: EntryId) -> int | None:
    """The time in the id, in microseconds; None if it is too late for a timestamp."""
    return entry.ms * 1_000 if entry.ms < (1 << 63) // 1_000 else None


ROWS: dict[str, Callable[[redis.Redis, str], Iterator[Row]]] = {
    "streams": stream_rows,
    "groups": group_rows,
    "consumers": consumer_rows,
    "pending": pending_rows,
}
