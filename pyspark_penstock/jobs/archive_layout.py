"""The archive: Parquet, partitioned by stream and date, complete enough to make the stream again.

    DIR/stream=orders/date=2026-11-21/part-....parquet    id, timestamp, fields
    DIR/_spark_metadata/                                  which files count: those of whole batches
    DIR/_checkpoint/                                      how far the streams have been archived

*fields* keeps order and repeated names, *date* is that of the id, in UTC. Readers other than Spark
do not know ``_spark_metadata``, and may see the files of a batch that is being written.
"""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from pyspark_penstock.errors import OptionError

SCHEMA = (
    "id string, timestamp timestamp, fields array<struct<name:string,value:binary>>, "
    "stream string, date date"
)
CHECKPOINT = "_checkpoint"
LARGE = "decimal(20,0)"  # a part of an id has 64 bits and no sign


def checkpoint_of(folder: str) -> str:
    """Where the archive's query keeps how far it is."""
    return f"{folder.rstrip('/')}/{CHECKPOINT}"


def read_archive(spark: SparkSession, folder: str) -> DataFrame:
    """The archived entries. Raises OptionError if *folder* is no archive."""
    try:
        return spark.read.schema(SCHEMA).parquet(folder)
    except AnalysisException as problem:
        raise OptionError(f"{folder!r} is not an archive: {problem}") from problem


def ms() -> Column:
    """The milliseconds of an entry's id."""
    return f.split_part(f.col("id"), f.lit("-"), f.lit(1)).cast(LARGE)


def seq() -> Column:
    """The sequence of an entry's id."""
    return f.split_part(f.col("id"), f.lit("-"), f.lit(2)).cast(LARGE)
