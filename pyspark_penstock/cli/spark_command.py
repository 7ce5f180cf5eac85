"""What commands that need Spark have in common: the session, progress lines, the way to stop."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping

from pyspark.sql import SparkSession

from pyspark_penstock.cli.output import Output
from pyspark_penstock.jobs.progress import Report, progress_of
from pyspark_penstock.jobs.session import session
from pyspark_penstock.offsets import Offset


def open_session(
    given: argparse.Namespace, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The session that the arguments ask for; those of the command line win."""
    chosen = {**(settings or {}), **dict(given.conf)}
    return session(
        f"penstock {given.command}",
        master=given.master,
        settings=chosen,
        log_level=given.log_level,
    )


def batch_printer(output: Output) -> Callable[[Report], None]:
    """Prints a line a stream after each batch."""

    def after_batch(report: Report) -> None:
        for progress in progress_of(report):
            output.say([progress.line()], {"event": "batch", **progress.to_json()})

    return after_batch


def say_where(output: Output, offsets: Iterable[Offset]) -> None:
    """Print where a query stands in the end."""
    for offset in offsets:
        for stream, position in offset.streams.items():
            output.say(
                [f"{stream} is done up to {position.id}, {position.n:,} entries"],
                {"event": "end", "stream": stream, "id": str(position.id), "entries": position.n},
            )
