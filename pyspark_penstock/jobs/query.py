"""Queries: SQL over streams as they are now, over their archive, and over both together.

orders, ...                 a stream by its name, with its fields as typed columns, and _stream, _id
                            and _ts. With an archive: first its archived entries, then later ones,
                            each entry once
entries                     all streams: stream, id, timestamp, fields map<string,string>
streams groups consumers pending      the views of the data source
archive                     the archived entries, as they are stored
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, DataFrameReader, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from pyspark_penstock import schema as schemas
from pyspark_penstock.connect.stream_info import matching_streams, stream_state
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.archive_layout import checkpoint_of, later_than, read_archive
from pyspark_penstock.jobs.checkpoint import read_checkpoint
from pyspark_penstock.jobs.failures import JobError
from pyspark_penstock.jobs.hadoop_files import HadoopFiles
from pyspark_penstock.jobs.server_options import ServerOptions, connect
from pyspark_penstock.read.data_loss import lost_entries
from pyspark_penstock.read.infer_schema import SAMPLE, infer_schema, schema_of
from pyspark_penstock.read.positions import Position
from pyspark_penstock.read.source_options import VIEWS, batch_options

RESERVED = frozenset({*VIEWS, "entries", "archive"})
METADATA = tuple(schemas.METADATA)
ATTEMPTS = 5

Positions = Mapping[str, Position]


@dataclass(frozen=True)
class QueryJob:
    """A query. *schemas* gives the types of streams whose types are not to be inferred."""

    sql: str
    server: ServerOptions = field(default_factory=dict)
    archive: str = ""
    schemas: Mapping[str, str] = field(default_factory=dict)


def answer(spark: SparkSession, job: QueryJob, limit: int = 0) -> tuple[list[str], list[Row]]:
    """The columns of the result, and its rows; at most *limit*, unless that is 0.

    If the archive job trims meanwhile, entries may be gone that were neither read nor archived when
    the query began. Then the query is run again. Raises OptionError, JobError.
    """
    gone: list[str] = []
    for _ in range(ATTEMPTS):
        positions = archived_positions(spark, job)
        frame = query_from(spark, job, positions)
        rows = (frame.limit(limit) if limit else frame).collect()
        gone = overtaken(spark, job, positions)
        if not gone:
            return frame.columns, rows
    raise JobError(
        f"the archive was trimmed of entries of {', '.join(gone)} that were not read yet, "
        f"{ATTEMPTS} times: have it --keep what is young, or ask when it does not run"
    )


def overtaken(spark: SparkSession, job: QueryJob, positions: Positions) -> list[str]:
    """The streams of which entries were archived after *positions* and trimmed unread."""
    now = archived_positions(spark, job)
    moved = [s for s in mentioned(job.sql, now) if now[s].id > positions.get(s, Position()).id]
    if not moved:
        return []
    with connect(job.server) as client:
        states = {stream: stream_state(client, stream) for stream in moved}
    return [s for s in moved if lost_entries(positions.get(s, Position()), states[s])]


def query(spark: SparkSession, job: QueryJob) -> DataFrame:
    """The result as a data frame. Nothing is read yet. Raises OptionError.

    If an archive job may trim meanwhile, use ``answer``.
    """
    return query_from(spark, job, archived_positions(spark, job))


def query_from(spark: SparkSession, job: QueryJob, positions: Positions) -> DataFrame:
    """The result, with archived entries up to *positions* and live entries after them."""
    for name, table in tables(spark, job, positions):
        table.createOrReplaceTempView(f"`{name.replace('`', '``')}`")
    return spark.sql(job.sql)


def tables(
    spark: SparkSession, job: QueryJob, positions: Positions
) -> Iterator[tuple[str, DataFrame]]:
    """The tables that the SQL mentions. No others are created."""
    sql = job.sql.lower()  # Spark's names have no case
    for view in VIEWS:
        if view in sql:
            yield view, reader(spark, job, view=view).load()
    if "entries" in sql:
        yield "entries", reader(spark, job, subscribePattern="*", valueFormat="string").load()
    if job.archive and "archive" in sql:
        yield "archive", read_archive(spark, job.archive)
    for stream in mentioned(job.sql, {*stream_names(job), *positions}):
        archived = positions[stream].id if stream in positions else None
        yield stream, stream_table(spark, job, stream, archived)


def mentioned(sql: str, streams: Iterable[str]) -> list[str]:
    """The streams that the SQL mentions, in any case.

    If names differ only in case, Spark keeps the last table, so the one that is spelled as in the
    SQL comes last. The empty name is left out: it is part of every text, and no table can have it.
    """
    found = [s for s in streams if s and s.lower() in sql.lower() and s.lower() not in RESERVED]
    return sorted(found, key=lambda stream: (stream in sql, stream))


def reader(spark: SparkSession, job: QueryJob, **options: str) -> DataFrameReader:
    """A reader of the server.

    Filters are not pushed down: Spark would use the filters of one use of a table for all of its
    uses.
    """
    return spark.read.format("penstock").options(**job.server, **options)


def only(stream: str, start: str = "earliest") -> dict[str, str]:
    """The options to read one stream, whose name may contain commas, after *start*."""
    return {"assign": json.dumps({stream: [start, "latest"]})}


def stream_names(job: QueryJob) -> list[str]:
    """The names of all streams, as of now."""
    with connect(job.server) as client:
        return matching_streams(client, "*")


def archived_positions(spark: SparkSession, job: QueryJob) -> dict[str, Position]:
    """How far each stream is archived."""
    if not job.archive:
        return {}
    checkpoint = read_checkpoint(HadoopFiles(spark), checkpoint_of(job.archive))
    return {s: p for offset in checkpoint.offsets for s, p in offset.streams.items()}


def stream_table(
    spark: SparkSession, job: QueryJob, stream: str, archived: EntryId | None
) -> DataFrame:
    """A stream with its fields as columns: archived entries, then live ones."""
    fields = field_types(spark, job, stream)
    typed = schemas.with_metadata(fields)
    start = "earliest" if archived is None else f"({archived}"
    live: DataFrame = reader(spark, job, **only(stream, start)).schema(typed).load()
    if archived is None:
        return live
    old = read_archive(spark, job.archive).where(f.col("stream") == stream)
    old = old.where(~later_than(archived))  # a batch that is not committed is still live
    return old.select(*archived_columns(fields)).unionByName(live)


def field_types(spark: SparkSession, job: QueryJob, stream: str) -> t.StructType:
    """The fields of a stream: those given, or inferred from entries."""
    if stream in job.schemas:
        return spark.createDataFrame([], job.schemas[stream]).schema
    try:
        return infer_schema(batch_options({**job.server, **only(stream)}))
    except OptionError:  # there are no live entries
        return archived_field_types(spark, job, stream)


def archived_field_types(spark: SparkSession, job: QueryJob, stream: str) -> t.StructType:
    """The fields of a stream, inferred from a sample of archived entries."""
    if not job.archive:
        return t.StructType()
    old = read_archive(spark, job.archive).where(f.col("stream") == stream)
    pairs = old.limit(SAMPLE).select(f.inline("fields"))
    samples = pairs.groupBy("name").agg(f.collect_list("value").alias("sample"))
    rows = samples.orderBy("name").collect()
    return schema_of({row["name"].encode(): [bytes(v) for v in row["sample"]] for row in rows})


def archived_columns(fields: t.StructType) -> list[Column]:
    """The columns of a live table, made of archived entries. Bad values are null."""
    by_name = f.map_from_entries("fields")
    found = ((field.dataType, f.element_at(by_name, f.lit(field.name))) for field in fields)
    values = (
        value if isinstance(kind, t.BinaryType) else value.cast("string").try_cast(kind)
        for kind, value in found
    )
    metadata = zip(METADATA, ("stream", "id", "timestamp"), strict=True)
    return [
        *(f.col(archived).alias(name) for name, archived in metadata),
        *(v.alias(field.name) for v, field in zip(values, fields, strict=True)),
    ]
