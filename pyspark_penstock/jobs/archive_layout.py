"""The archive: Parquet, partitioned by stream and date, with all that restoring a stream needs.

    DIR/stream=orders/date=2026-11-21/part-....parquet    id, timestamp, fields, names
    DIR/_spark_metadata/                                  which files count: those of whole batches
    DIR/_checkpoint/                                      how far the streams have been archived

*fields* keeps order and repeated names. *names* is null, unless the name of a field is not UTF-8:
then it has the names of all fields of the entry as bytes, and *fields* has them with replacement
characters. *date* is the date of the id in UTC, whatever the session's time zone is.

Readers other than Spark do not know ``_spark_metadata``, and may see the files of a batch that is
being written.
"""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.failures import telling_line

FIELDS = "array<struct<name:string,value:binary>>"
EXACT_FIELDS = "array<struct<name:binary,value:binary>>"
ENTRY = f"stream string, id string, timestamp timestamp, fields {EXACT_FIELDS}"
SCHEMA = (
    f"id string, timestamp timestamp, fields {FIELDS}, names array<binary>, "
    "stream string, date date"
)
CHECKPOINT = "_checkpoint"
DAY_MS = 86_400_000
LARGE = "decimal(20,0)"  # each part of an id is an unsigned 64-bit number


def checkpoint_of(folder: str) -> str:
    """The checkpoint of the query that writes the archive."""
    return f"{folder.rstrip('/')}/{CHECKPOINT}"


def read_archive(spark: SparkSession, folder: str) -> DataFrame:
    """The archived entries. Raises OptionError if *folder* is not an archive."""
    try:
        return spark.read.schema(SCHEMA).parquet(folder)
    except AnalysisException as problem:
        why = telling_line(str(problem))
        raise OptionError(f"{folder!r} is not an archive: {why}") from problem


def to_archive(entries: DataFrame) -> DataFrame:
    """From entries as the source reads them (``ENTRY``) to rows of the archive (``SCHEMA``)."""
    fields, names = f.col("fields"), f.col("fields.name")
    is_text = f.is_valid_utf8(f.array_join(names.cast("array<string>"), ","))
    return entries.select(
        "stream",
        "id",
        "timestamp",
        f.when(is_text, fields.cast(FIELDS))
        .otherwise(f.transform(fields, readable))
        .alias("fields"),
        f.when(~is_text, names).alias("names"),
        utc_date("timestamp").alias("date"),
    )


def utc_date(timestamp: str) -> Column:
    """The UTC date of a timestamp column. ``to_date`` would use the session's time zone."""
    return f.expr(f"date_from_unix_date(CAST(unix_millis({timestamp}) DIV {DAY_MS} AS INT))")


def readable(field: Column) -> Column:
    """A field with a name that is valid UTF-8."""
    name = f.make_valid_utf8(field["name"].cast("string"))
    return f.struct(name.alias("name"), field["value"].alias("value"))


def from_archive(archived: DataFrame) -> DataFrame:
    """The original entries, from the rows of an archive."""
    named = f.zip_with(
        "names",
        "fields",
        lambda name, field: f.struct(name.alias("name"), field["value"].alias("value")),
    )
    fields = f.coalesce(named, f.col("fields").cast(EXACT_FIELDS))
    return archived.select("stream", "id", "timestamp", fields.alias("fields"))


def ms() -> Column:
    """The milliseconds of an entry's id."""
    return f.split_part(f.col("id"), f.lit("-"), f.lit(1)).cast(LARGE)


def seq() -> Column:
    """The sequence of an entry's id."""
    return f.split_part(f.col("id"), f.lit("-"), f.lit(2)).cast(LARGE)


def later_than(entry: EntryId) -> Column:
    """Whether an archived entry comes after *entry*."""
    base_ms, base_seq = (f.lit(str(part)).cast(LARGE) for part in entry)
    return (ms() > base_ms) | ((ms() == base_ms) & (seq() > base_seq))
