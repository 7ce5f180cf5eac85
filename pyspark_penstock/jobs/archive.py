"""Archiving: writes streams to Parquet, exactly once, and optionally trims them on the server."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import redis
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.stream_info import is_glob
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.archive_layout import ENTRY, checkpoint_of, to_archive
from pyspark_penstock.jobs.checkpoint import has_checkpoint, read_checkpoint
from pyspark_penstock.jobs.hadoop_files import HadoopFiles
from pyspark_penstock.jobs.progress import Report
from pyspark_penstock.jobs.runner import StopSignal, run_query
from pyspark_penstock.jobs.server_options import ServerOptions, connect
from pyspark_penstock.jobs.session import quick_checkpoint
from pyspark_penstock.jobs.trim import Trimmed, trim
from pyspark_penstock.local_paths import is_local
from pyspark_penstock.names import key
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.position_group import PositionGroup
from pyspark_penstock.read.source_options import stream_options

NAMELESS = ("", "__HIVE_DEFAULT_PARTITION__")  # Spark gives both one folder, and reads it as null


@dataclass(frozen=True)
class ArchiveJob:
    """What to archive, and where to.

    *streams* are names, or a single glob. *every* is an interval in Spark's form (``10 minutes``);
    without it, the job archives the entries that exist at its start, and ends. *keep_ms*: entries
    that are younger stay on the server, although they are archived.
    """

    streams: tuple[str, ...]
    to: str
    server: ServerOptions = field(default_factory=dict)
    trim: bool = False
    keep_ms: int | None = None
    every: str = ""
    group: str = ""  # a consumer group that shows the position
    group_takeover: bool = False  # even if others have created it, or read by it
    source: Mapping[str, str] = field(default_factory=dict)  # more options for the source


def archive(
    spark: SparkSession,
    job: ArchiveJob,
    *,
    on_batch: Callable[[Report], None] = lambda _: None,
    on_trim: Callable[[Trimmed], None] = lambda _: None,
    stop: StopSignal | None = None,
) -> tuple[Offset, ...]:
    """Archive, and trim what is committed. Returns how far the streams are archived.

    Raises DataLossError, CheckpointError (other streams), OptionError, ServerError, JobError.
    """
    files, options = HadoopFiles(spark), source_options(job)
    with connect(job.server) as client:
        check_names(stream_options(options).subscription.names(client))

    def after_batch(report: Report) -> None:
        on_batch(report)
        if job.every:
            settle(archived(files, job), job, on_trim)

    run_query(start(spark, job, options), after_batch, stop or StopSignal())
    offsets = archived(files, job)
    settle(offsets, job, on_trim)  # an earlier run may have archived entries without trimming them
    return offsets


def start(spark: SparkSession, job: ArchiveJob, options: Mapping[str, str]) -> StreamingQuery:
    """Start the query that archives. *options* are those of the source."""
    reader = spark.readStream.format("penstock").options(**options)
    rows = to_archive(reader.schema(ENTRY).load())
    writer = rows.writeStream.format("parquet").partitionBy("stream", "date")
    writer = writer.option("path", job.to).option("compression", "zstd")
    writer = writer.option("checkpointLocation", checkpoint_of(job.to))
    trigger = {"processingTime": job.every} if job.every else {"availableNow": True}
    quick_checkpoint(spark, job.to)
    return writer.trigger(**trigger).start()


def source_options(job: ArchiveJob) -> dict[str, str]:
    """The options of the source. Raises OptionError for a start other than the earliest.

    Asks the server whether a name that looks like a glob is a stream's. Raises ServerError.
    """
    for option in job.source:
        if option.lower().startswith("starting"):
            raise OptionError(
                f"an archive has no {option!r}: it begins with the oldest entry, or trim loses some"
            )
    group = {"group": job.group} if job.group else {}
    if job.group_takeover:
        group["groupTakeover"] = "true"
    return {**job.server, **job.source, **group, **subscription(job)}


def subscription(job: ArchiveJob) -> dict[str, str]:
    """The options that say which streams to read, and that they are read from the beginning."""
    with connect(job.server) as client:
        if len(job.streams) == 1 and is_glob(client, job.streams[0]):
            return {"subscribePattern": job.streams[0], "startingOffsets": "earliest"}
    return {"assign": json.dumps({stream: ["earliest", "latest"] for stream in job.streams})}


def check_names(streams: Iterable[str]) -> None:
    """Raises OptionError for a stream whose name cannot be the name of a folder."""
    for stream in streams:
        if key(stream) != stream.encode("utf-8", "replace"):
            raise no_folder(stream, "is not UTF-8")
        if stream in NAMELESS:
            raise no_folder(stream, "stands for none in the folders of Spark")


def no_folder(stream: str, why: str) -> OptionError:
    """The error for a stream whose name cannot be the name of a folder."""
    return OptionError(
        f"stream {key(stream)!r} has a name that {why}, so that an archive cannot tell it from "
        "others; rename it, or archive the others by their names"
    )


def archived(files: HadoopFiles, job: ArchiveJob) -> tuple[Offset, ...]:
    """How far whole batches have archived the streams."""
    folder = checkpoint_of(job.to)
    return read_checkpoint(files, folder).offsets if has_checkpoint(files, folder) else ()


def settle(offsets: Sequence[Offset], job: ArchiveJob, on_trim: Callable[[Trimmed], None]) -> None:
    """After a commit: move the group, then trim."""
    for offset in offsets:
        check_names(offset.streams)  # a stream may have been created since the job began
    with connect(job.server, Preference.PRIMARY) as client:
        for offset in offsets:
            if job.group:  # first, since a group that lags behind would limit the trim
                PositionGroup(job.group, job.group_takeover).publish(client, offset)
            if job.trim:
                trim_archived(client, offset, job, on_trim)


def trim_archived(
    client: redis.Redis, offset: Offset, job: ArchiveJob, on_trim: Callable[[Trimmed], None]
) -> None:
    """Trim each stream up to where it is archived."""
    if is_local(job.to):
        os.sync()  # Spark does not; after the trim, the archive has the only copy
    keep_from = None if job.keep_ms is None else time.time_ns() // 1_000_000 - job.keep_ms
    for stream, position in offset.streams.items():
        on_trim(trim(client, stream, position, keep_from))
