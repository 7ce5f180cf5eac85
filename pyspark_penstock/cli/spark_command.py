"""Functions for all commands with Spark: the session, progress lines, interrupts."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from pyspark_penstock.cli.output import Output
from pyspark_penstock.connect.stream_info import stream_state
from pyspark_penstock.jobs.session import session
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.source_options import ReadOptions

PROGRESS = "spark.ui.showConsoleProgress"


def open_session(
    given: argparse.Namespace, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The session with these settings. Those of the command line override those of a job file."""
    shown = {PROGRESS: "true"} if _waits_for_files(given) else {}
    chosen = {**shown, **(settings or {}), **dict(given.conf)}
    spark = session(
        f"penstock {given.command}",
        master=given.master,
        settings=chosen,
        log_level=given.log_level,
    )
    end_by_interrupt()
    return spark


def _waits_for_files(given: argparse.Namespace) -> bool:
    """Whether a person at a terminal waits for files to be read or written, all at once.

    Then Spark's own bar says how many tasks are done. Other commands have a line for each batch.
    """
    return given.command in ("load", "restore") and not given.json and sys.stderr.isatty()


def end_by_interrupt() -> None:
    """Let SIGINT end the program at once and quietly.

    Spark's handler asks the JVM to cancel its jobs, over a connection that is busy with another
    call, and fails with a long traceback. The JVM ends when this process does.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger().addFilter(no_interrupt)  # Py4J's, which logs by the root itself


def no_interrupt(record: logging.LogRecord) -> bool:
    """Whether a log record is not about an interrupt."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))


def note_missing(output: Output, options: ReadOptions) -> None:
    """Say which streams do not exist: their first entry may still come, or a name is misspelled."""
    subscription = options.subscription
    with options.client() as client:
        if subscription.pattern and not subscription.names(client):
            output.note(f"no stream matches {subscription.pattern!r} yet")
        for stream in subscription.streams:
            if not stream_state(client, stream).exists:
                output.note(f"there is no stream {stream!r} yet")


def say_where(output: Output, offsets: Iterable[Offset]) -> None:
    """Print how far a query is at its end."""
    for offset in offsets:
        for stream, position in offset.streams.items():
            output.say(
                [f"{stream} is done up to {position.id}, {position.n:,} entries"],
                {"event": "end", "stream": stream, "id": str(position.id), "entries": position.n},
            )
