"""``load``: write files to a stream."""

from __future__ import annotations

import argparse
import time

from pyspark_penstock.cli.arguments import server_of
from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import open_session
from pyspark_penstock.jobs.load import LoadJob, load
from pyspark_penstock.jobs.progress import rate


def run(given: argparse.Namespace, output: Output) -> None:
    """Load all files as one write."""
    wanted = {
        "delivery": given.delivery,
        "maxLen": given.max_len,
        "txnAppId": given.txn_app_id,
        "txnVersion": given.txn_version,
    }
    job = LoadJob(
        files=tuple(given.files),
        stream=given.stream,
        server=server_of(given),
        format=given.format,
        columns=dict(given.map),
        id_column=given.id_column,
        schema=given.schema,
        reading=dict(given.read),
        writing={name: value for name, value in wanted.items() if value},
    )
    spark = open_session(given)
    began = time.monotonic()
    entries = load(spark, job)
    per_s = entries / max(time.monotonic() - began, 1e-3)
    output.say(
        [f"{job.stream} has {entries:,} more entries ({rate(per_s)})"],
        {"event": "end", "stream": job.stream, "entries": entries, "entries_per_s": round(per_s)},
    )
