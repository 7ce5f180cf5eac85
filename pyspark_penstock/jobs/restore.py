"""Restoring: makes a stream from its archive, with the original ids, in order.

A stream takes ids in ascending order only. So one task writes one day at a time, sorted. A restore
that was broken off can continue after the last id that it wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pyspark_penstock.connect.stream_info import stream_state
from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.archive_layout import from_archive, later_than, ms, read_archive, seq
from pyspark_penstock.jobs.server_options import ServerOptions, connect


@dataclass(frozen=True)
class RestoreJob:
    """What to restore *into* a stream: entries of *stream* from *from_ms* to before *to_ms*."""

    folder: str
    stream: str
    into: str
    server: ServerOptions = field(default_factory=dict)
    from_ms: int | None = None
    to_ms: int | None = None
    resume: bool = False


def restore(
    spark: SparkSession, job: RestoreJob, *, on_day: Callable[[str, int], None] = lambda *_: None
) -> int:
    """Write the archived entries; call *on_day* with each date and its count. Returns how many in
    all.

    Raises OptionError if the folder is not an archive or has no such entries, or if the stream has
    entries and *resume* is not set.
    """
    entries = archived_entries(spark, job)
    days = entries.groupBy("date").count().orderBy(f.asc_nulls_last("date")).collect()
    if not days:
        raise OptionError(f"{job.folder!r} has no such entries of stream {job.stream!r}")
    after = restored_up_to(job)
    total = 0
    for day in days:
        rows = entries.where(f.col("date").eqNullSafe(f.lit(day["date"])) & later_than(after))
        count = write_day(rows, job)
        total += count
        on_day(str(day["date"]), count)
    return total


def archived_entries(spark: SparkSession, job: RestoreJob) -> DataFrame:
    """The entries to restore, in any order."""
    entries = read_archive(spark, job.folder).where(f.col("stream") == job.stream)
    if job.from_ms is not None:
        entries = entries.where(ms() >= job.from_ms)
    if job.to_ms is not None:
        entries = entries.where(ms() < job.to_ms)
    return entries


def restored_up_to(job: RestoreJob) -> EntryId:
    """The id after which to continue. Raises OptionError."""
    with connect(job.server) as client:
        state = stream_state(client, job.into)
    if state.last_id != FIRST and not job.resume:
        raise OptionError(
            f"stream {job.into!r} has had entries up to {state.last_id}; restore into a new one, "
            "or resume after that id with --resume"
        )
    return state.last_id


def write_day(rows: DataFrame, job: RestoreJob) -> int:
    """Write rows in the order of their ids. Returns how many there were."""
    with connect(job.server) as client:
        before = stream_state(client, job.into).added
        ordered = from_archive(rows).repartition(1)
        ordered = ordered.sortWithinPartitions(ms(), seq())
        writer = ordered.write.format("penstock").options(**job.server, stream=job.into)
        writer.mode("append").save()
        return stream_state(client, job.into).added - before
