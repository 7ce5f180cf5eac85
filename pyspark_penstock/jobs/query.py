"""Queries: SQL over streams as they are now, over their archive, and over both as one.

orders, ...                 a stream, by its name: its fields as columns, typed by what is in
                            them; _stream, _id and _ts. With an archive, all that was archived
                            and what came since, each entry once.
entries                     all streams: stream, id, timestamp, fields map<string,string>
streams groups consumers pending      what the server knows about them
archive                     the archived entries, as they lie there
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
from pyspark_penstock.read.offsets import Position
from pyspark_penstock.read.source_options import VIEWS, batch_options

RESERVED = frozenset({*VIEWS, "entries", "archive"})
METADATA = tuple(schemas.METADATA)
ATTEMPTS = 5

Positions = Mapping[str, Position]


@dataclass(frozen=True)
class QueryJob:
    """SQL, and what it may ask about; *schemas* gives types where they shall not be guessed."""

    sql: str
    server: ServerOptions = field(default_factory=dict)
    archive: str = ""
    schemas: Mapping[str, str] = field(default_factory=dict)


def answer(spark: SparkSession, job: QueryJob, limit: int = 0) -> tuple[list[str], list[Row]]:
    """The columns of the answer and its rows, at most *limit* if that is not 0.

    An archive that is trimmed meanwhile can take entries away that were not read yet, and were not
    archived when the query began; then it is run again. Raises OptionError, JobError.
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
    """The streams whose tables lack what was archived, and trimmed, since it was at *positions*."""
    now = archived_positions(spark, job)
    moved = [s for s in mentioned(job.sql, now) if now[s].id > positions.get(s, Position()).id]
    if not moved:
        return []
    with connect(job.server) as client:
        states = {stream: stream_state(client, stream) for stream in moved}
    return [s for s in moved if lost_entries(positions.get(s, Position()), states[s])]


def query(spark: SparkSession, job: QueryJob) -> DataFrame:
    """The answer, as a data frame that no one has asked for yet. Raises OptionError.

    ``answer`` is for where an archive may be trimmed before all is read.
    """
    return query_from(spark, job, archived_positions(spark, job))


def query_from(spark: SparkSession, job: QueryJob, positions: Positions) -> DataFrame:
    """The answer by tables that are archived up to *positions*, and live behind them."""
    for name, table in tables(spark, job, positions):
        table.createOrReplaceTempView(f"`{name.replace('`', '``')}`")
    return spark.sql(job.sql)


def tables(
    spark: SparkSession, job: QueryJob, positions: Positions
) -> Iterator[tuple[str, DataFrame]]:
    """The tables that the SQL mentions; the others are not even looked at."""
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

    Of names that differ in case only Spark keeps the last table: the one that the SQL has so. The
    empty name is in every text, and no table's.
    """
    found = [s for s in streams if s and s.lower() in sql.lower() and s.lower() not in RESERVED]
    return sorted(found, key=lambda stream: (stream in sql, stream))


def reader(spark: SparkSession, job: QueryJob, **options: str) -> DataFrameReader:
    """A reader of the server.

    Filters are not pushed down: a table may be used twice in the SQL, and Spark would read both
    with the filters of one.
    """
    return spark.read.format("penstock").options(**job.server, **options)


def only(stream: str, start: str = "earliest") -> dict[str, str]:
    """The options that read one stream from *start* on; there may be commas in its name."""
    return {"assign": json.dumps({stream: [start, "latest"]})}


def stream_names(job: QueryJob) -> list[str]:
    """The streams that are there now."""
    with connect(job.server) as client:
        return matching_streams(client, "*")


def archived_positions(spark: SparkSession, job: QueryJob) -> dict[str, Position]:
    """Up to where each stream is archived."""
    if not job.archive:
        return {}
    checkpoint = read_checkpoint(HadoopFiles(spark), checkpoint_of(job.archive))
    return {s: p for offset in checkpoint.offsets for s, p in offset.streams.items()}


def stream_table(
    spark: SparkSession, job: QueryJob, stream: str, archived: EntryId | None
) -> DataFrame:
    """A stream with its fields as columns: what is archived, and behind that what is live."""
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
    """The fields of a stream: as told, or guessed by entries that are there."""
    if stream in job.schemas:
        return spark.createDataFrame([], job.schemas[stream]).schema
    try:
        return infer_schema(batch_options({**job.server, **only(stream)}))
    except OptionError:  # nothing is live
        return archived_field_types(spark, job, stream)


def archived_field_types(spark: SparkSession, job: QueryJob, stream: str) -> t.StructType:
    """The fields of a stream, guessed by a sample of what is archived."""
    if not job.archive:
        return t.StructType()
    old = read_archive(spark, job.archive).where(f.col("stream") == stream)
    pairs = old.limit(SAMPLE).select(f.inline("fields"))
    samples = pairs.groupBy("name").agg(f.collect_list("value").alias("sample"))
    rows = samples.orderBy("name").collect()
    return schema_of({row["name"].encode(): [bytes(v) for v in row["sample"]] for row in rows})


def archived_columns(fields: t.StructType) -> list[Column]:
    """The columns of a live table, out of archived entries; what is no such value is null."""
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
