"""``restore``: make a stream from its archive."""

from __future__ import annotations

import argparse

from pyspark_penstock.cli.arguments import server_of
from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import open_session
from pyspark_penstock.jobs.restore import RestoreJob, restore


def run(given: argparse.Namespace, output: Output) -> None:
    """Restore, and print a line for each day."""
    job = RestoreJob(
        folder=given.folder,
        stream=given.stream,
        into=given.into,
        server=server_of(given),
        from_ms=given.start,
        to_ms=given.end,
        resume=given.resume,
    )

    def on_day(date: str, entries: int) -> None:
        value = {"event": "day", "date": date, "entries": entries}
        output.say([f"{date}  {job.into}  +{entries:,}"], value)

    total = restore(open_session(given), job, on_day=on_day)
    output.say(
        [f"{job.into} has {total:,} more entries"],
        {"event": "end", "stream": job.into, "entries": total},
    )
