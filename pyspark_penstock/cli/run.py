"""``run``: run a live pipeline from a job file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from pyspark_penstock.cli.arguments import server_options
from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import note_missing, open_session, say_where
from pyspark_penstock.cli.watch import Watch
from pyspark_penstock.connect.address import Server
from pyspark_penstock.jobs import pipeline
from pyspark_penstock.jobs.job_file import FORMAT, PipelineJob, read_job
from pyspark_penstock.jobs.runner import StopSignal


def run(given: argparse.Namespace, output: Output) -> None:
    """Run the job until it ends, or a signal comes."""
    job = read_job(Path(given.job), server_options(given))
    Server.from_environment(job.server)  # refuses wrong options before Spark is started
    if given.once or given.continuous:
        job = replace(job, once=given.once)
    with Watch(given, output) as watch:
        spark = open_session(given, job.spark)
        if given.start:
            job = pipeline.starting_from(job, spark, given.start)
        if given.dry_run:
            show_plan(pipeline.plan(spark, job), job, output)
            return
        for source in job.sources:
            if source.format == FORMAT:
                note_missing(output, pipeline.read_options(source))
        watch.begin(spark)
        stop = StopSignal()
        with stop.on_signals():
            offsets = pipeline.run(spark, job, on_batch=watch.after_batch, stop=stop)
    say_where(output, offsets)


def show_plan(plan: pipeline.Plan, job: PipelineJob, output: Output) -> None:
    """Print what the job would do."""
    how = "goes on from" if plan.resumes else "starts a new"
    output.say(
        [
            *plan.explained.splitlines(),
            f"{job.name}: {how} checkpoint {job.checkpoint}",
            f"writes ({plan.schema}) to {job.sink.format} in mode {job.sink.output_mode}",
        ],
        {"event": "plan", "name": job.name, "schema": plan.schema, "resumes": plan.resumes},
    )
