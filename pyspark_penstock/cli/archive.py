"""``archive``: streams into Parquet, and out of memory."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from pyspark_penstock.cli.arguments import server_options
from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import batch_printer, open_session, say_where
from pyspark_penstock.jobs.archive import ArchiveJob, archive
from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.runner import StopSignal
from pyspark_penstock.jobs.server_options import with_environment
from pyspark_penstock.jobs.trim import Trimmed


def run(given: argparse.Namespace, output: Output) -> None:
    """Archive once, or go on until a signal says stop."""
    if given.keep is not None and not given.trim:
        raise UsageError("--keep says what --trim leaves: give both")
    job = ArchiveJob(
        streams=tuple(given.streams),
        to=given.to,
        server=with_environment(server_options(given)),
        trim=given.trim,
        keep_ms=given.keep,
        every=f"{given.every} milliseconds" if given.every else "",
        group=given.group,
    )

    def on_trim(trimmed: Trimmed) -> None:
        output.say([line(trimmed)], {"event": "trim", **as_json(trimmed)})

    spark = open_session(given)
    stop = StopSignal()
    with stop.on_signals():
        offsets = archive(spark, job, on_batch=batch_printer(output), on_trim=on_trim, stop=stop)
    say_where(output, offsets)


def line(trimmed: Trimmed) -> str:
    """What was trimmed, and what stopped it there."""
    bound = trimmed.bound
    return (
        f"trim  {trimmed.stream}  -{trimmed.removed:,}  keeps {bound.first_kept} on: {bound.reason}"
    )


def as_json(trimmed: Trimmed) -> dict[str, object]:
    """It as programs read it."""
    value = asdict(trimmed)
    return value | {
        "bound": trimmed.bound.reason,
        "first_kept": str(trimmed.bound.first_kept),
    }
