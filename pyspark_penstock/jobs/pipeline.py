"""Live pipelines: streams, through SQL or a function, to streams, files or the console."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyspark_penstock.jobs import quick_start
from pyspark_penstock.jobs.checkpoint import has_checkpoint, read_checkpoint
from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.hadoop_files import HadoopFiles
from pyspark_penstock.jobs.job_file import FORMAT, PipelineJob, Sink, Source
from pyspark_penstock.jobs.progress import Report, committed_offsets
from pyspark_penstock.jobs.runner import StopSignal, run_query
from pyspark_penstock.jobs.session import quick_checkpoint
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.source_options import (
    ReadOptions,
    StreamOptions,
    batch_options,
    stream_options,
)
from pyspark_penstock.source import PenstockDataSource
from pyspark_penstock.write.sink_options import sink_options


@dataclass(frozen=True)
class Plan:
    """What a job would do."""

    schema: str
    resumes: bool  # from the checkpoint, whatever starting offsets say
    explained: str


def run(
    spark: SparkSession,
    job: PipelineJob,
    *,
    on_batch: Callable[[Report], None] = lambda _: None,
    stop: StopSignal | None = None,
) -> tuple[Offset, ...]:
    """Run the job until it ends or is stopped. Returns how far its sources are read.

    Raises DataLossError, CheckpointError, OptionError, SinkError, UsageError, JobError.
    """

    def after_batch(report: Report) -> None:
        on_batch(report)
        publish_groups(job, committed_offsets(report))

    run_query(start(spark, job), after_batch, stop or StopSignal())
    offsets = committed(spark, job)
    publish_groups(job, offsets)  # even if this run had no batch
    return offsets


def plan(spark: SparkSession, job: PipelineJob) -> Plan:
    """Check the job as its start would, without starting it.

    Raises OptionError, UsageError, ServerError, and PySparkException for what Spark cannot plan.
    """
    check_options(job)
    frames = read_sources(spark, job)
    check_readers(job, frames)
    rows = rows_of(spark, job, frames)
    with_trigger(rows.writeStream, job)
    check_writer(spark, job.sink, rows)
    schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)
    check_groups(job, committed(spark, job))
    resumes = has_checkpoint(HadoopFiles(spark), job.checkpoint)
    return Plan(schema, resumes, explain(rows))


def check_options(job: PipelineJob) -> None:
    """Raises OptionError for an option that a source or sink does not take."""
    for source in job.sources:
        if source.format == FORMAT:
            read_options(source)
    if job.sink.format == FORMAT:
        sink_options(job.sink.options)


def check_readers(job: PipelineJob, frames: Mapping[str, DataFrame]) -> None:
    """Create the readers as the start would. Raises OptionError."""
    for source in job.sources:
        if source.format == FORMAT:
            made = PenstockDataSource(dict(source.options))
            schema = frames[source.name].schema
            made.reader(schema) if source.static else made.streamReader(schema)


def check_writer(spark: SparkSession, sink: Sink, rows: DataFrame) -> None:
    """Create the writer as the start would, for rows that Spark can write in this output mode.

    Raises OptionError, PySparkException.
    """
    jvm: Any = spark._jvm  # noqa: SLF001  (nothing else checks this before the query starts)
    mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, sink.output_mode.capitalize())()
    checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    checker.checkForStreaming(analyzed(rows), mode)
    if sink.format == FORMAT:
        PenstockDataSource(dict(sink.options)).streamWriter(rows.schema, overwrite=False)


def read_options(source: Source) -> ReadOptions:
    """The options of one source. Raises OptionError."""
    return batch_options(source.options) if source.static else stream_options(source.options)


def explain(rows: DataFrame) -> str:
    """The analyzed plan of *rows* as text."""
    plan: str = analyzed(rows).toString()
    return plan


def analyzed(rows: DataFrame) -> Any:
    """The analyzed plan of *rows* in the JVM."""
    return rows._jdf.queryExecution().analyzed()  # noqa: SLF001  (only this way)


def start(spark: SparkSession, job: PipelineJob) -> StreamingQuery:
    """Start the query of the job."""
    make_active(spark)
    sink = job.sink
    writer = build(spark, job).writeStream.format(sink.format).outputMode(sink.output_mode)
    writer = writer.options(**sink.options).queryName(job.name)
    writer = writer.option("checkpointLocation", job.checkpoint)
    if sink.partition_by:
        writer = writer.partitionBy(*sink.partition_by)
    quick_checkpoint(spark, job.checkpoint)
    return with_trigger(writer, job).start()


def make_active(spark: SparkSession) -> None:
    """Make *spark* the active session of the JVM thread that serves this Python thread.

    Spark looks up the sink's format in the active session. Each Python thread has its own JVM
    thread, without a session until a call sets one. Without it: DATA_SOURCE_NOT_FOUND.
    """
    spark.createDataFrame([], "none int")


def with_trigger(writer: DataStreamWriter, job: PipelineJob) -> DataStreamWriter:
    """The writer with the job's trigger; without one, batches follow each other at once.

    Raises UsageError if *every* is not an interval.
    """
    if job.once:
        return writer.trigger(availableNow=True)
    try:
        return writer.trigger(processingTime=job.every) if job.every else writer
    except IllegalArgumentException as problem:
        raise UsageError(f"[trigger]: every={job.every!r} must be a time: 5 seconds") from problem


def build(spark: SparkSession, job: PipelineJob) -> DataFrame:
    """The data frame to write. Nothing is read yet."""
    return rows_of(spark, job, read_sources(spark, job))


def read_sources(spark: SparkSession, job: PipelineJob) -> dict[str, DataFrame]:
    """The data frames of all sources, by name."""
    return {source.name: read_source(spark, source) for source in job.sources}


def rows_of(spark: SparkSession, job: PipelineJob, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The data frame that the SQL or the function makes of the sources."""
    if job.python:
        return function_of(job)(**frames)
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    return spark.sql(job.sql)


def read_source(spark: SparkSession, source: Source) -> DataFrame:
    """The data frame of one source."""
    reader = spark.read if source.static else spark.readStream
    reader = reader.format(source.format).options(**source.options)
    rows = (reader.schema(source.schema) if source.schema else reader).load()
    if source.watermark:
        return rows.withWatermark(source.watermark_column, source.watermark)
    return rows


def function_of(job: PipelineJob) -> Callable[..., DataFrame]:
    """The function that *python* names. Its module may be beside the job file.

    Raises UsageError.
    """
    module, colon, name = job.python.partition(":")
    if not colon:
        raise UsageError(f"python={job.python!r}: must be 'module:function'")
    quick_start.add_to_path(job.folder)
    try:
        function: Callable[..., DataFrame] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise UsageError(f"python={job.python!r}: {problem}") from problem
    return function


def starting_from(job: PipelineJob, spark: SparkSession, where: str) -> PipelineJob:
    """The job with another start: ``earliest``, ``latest``, or milliseconds.

    Raises UsageError if a checkpoint has a position already.
    """
    if has_checkpoint(HadoopFiles(spark), job.checkpoint):
        raise UsageError(f"{job.checkpoint!r} says where to go on: --from needs a new checkpoint")
    sources = (source if source.static else moved(source, where) for source in job.sources)
    return replace(job, sources=tuple(sources))


def moved(source: Source, where: str) -> Source:
    """The source with another start."""
    if source.format != FORMAT:
        return source
    kept = {n: v for n, v in source.options.items() if not n.lower().startswith("starting")}
    name = "startingTimestamp" if where.isdecimal() else "startingOffsets"
    return replace(source, options={**kept, name: where})


def committed(spark: SparkSession, job: PipelineJob) -> tuple[Offset, ...]:
    """How far the sources are read, up to the last batch done."""
    files = HadoopFiles(spark)
    if not has_checkpoint(files, job.checkpoint):
        return ()
    return read_checkpoint(files, job.checkpoint).offsets


def publish_groups(job: PipelineJob, offsets: Iterable[Offset]) -> None:
    """Move the position groups of the sources, each on its own server.

    An offset names its streams, but not their server. If two sources read streams of the same
    names, only their readers can move the groups, when they plan the next batch.
    """
    for offset in offsets:
        found = [r for r in live_readings(job) if r.subscription.source() == offset.source]
        if len(found) == 1 and found[0].position_group.group:
            with found[0].client() as client:
                found[0].position_group.publish(client, offset)


def check_groups(job: PipelineJob, offsets: Iterable[Offset]) -> None:
    """Raises OptionError for groups that the start would refuse to move; ServerError."""
    for reading in live_readings(job):
        same = [o.query for o in offsets if o.source == reading.subscription.source()]
        if reading.position_group.group and len(same) <= 1:  # of two, it is unknown which one it is
            with reading.client() as client:
                streams = reading.subscription.names(client)
                reading.position_group.check(client, streams, "".join(same))


def live_readings(job: PipelineJob) -> list[StreamOptions]:
    """The options of the streaming sources."""
    live = [s for s in job.sources if s.format == FORMAT and not s.static]
    return [stream_options(source.options) for source in live]
