"""``archive``: write streams to Parquet, and trim them."""

from __future__ import annotations

import argparse

from pyspark_penstock.cli.arguments import server_of
from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import note_missing, open_session, say_where
from pyspark_penstock.cli.watch import Watch
from pyspark_penstock.errors import DataLossError
from pyspark_penstock.jobs.archive import ArchiveJob, archive, source_options
from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.runner import StopSignal
from pyspark_penstock.jobs.trim import Trimmed
from pyspark_penstock.read.source_options import stream_options


def run(given: argparse.Namespace, output: Output) -> None:
    """Archive once, or continue until a signal comes."""
    if given.keep is not None and not given.trim:
        raise UsageError("--keep says what --trim leaves: give both")
    if given.group_takeover and not given.group:
        raise UsageError("--group-takeover is about --group: give both")
    job = ArchiveJob(
        streams=tuple(given.streams),
        to=given.to,
        server=server_of(given),
        trim=given.trim,
        keep_ms=given.keep,
        every=f"{given.every} milliseconds" if given.every else "",
        group=given.group,
        group_takeover=given.group_takeover,
        source={"failOnDataLoss": "false"} if given.go_on_after_loss else {},
    )

    def on_trim(trimmed: Trimmed) -> None:
        output.say([line(trimmed)], {"event": "trim", **as_json(trimmed)})

    note_missing(output, stream_options(source_options(job)))
    stop = StopSignal()
    try:
        with Watch(given, output) as watch:
            spark = open_session(given)
            watch.begin(spark)
            with stop.on_signals():
                printer = watch.after_batch
                offsets = archive(spark, job, on_batch=printer, on_trim=on_trim, stop=stop)
    except DataLossError as problem:
        raise DataLossError(f"{problem} (--go-on-after-loss)") from problem
    say_where(output, offsets)


def line(trimmed: Trimmed) -> str:
    """The result of a trim for people."""
    hold = trimmed.hold
    return (
        f"trim  {trimmed.stream}  -{trimmed.removed:,}  keeps {hold.first_kept} on: {hold.reason}"
    )


def as_json(trimmed: Trimmed) -> dict[str, object]:
    """The result of a trim for programs."""
    return {
        "stream": trimmed.stream,
        "removed": trimmed.removed,
        "bound": trimmed.hold.reason,
        "first_kept": str(trimmed.hold.first_kept),
    }
