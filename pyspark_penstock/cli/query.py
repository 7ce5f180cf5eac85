"""``query``: SQL over streams and their archive."""

from __future__ import annotations

import argparse
from typing import Any

from pyspark.sql import Row

from pyspark_penstock.cli.arguments import server_of
from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import open_session
from pyspark_penstock.jobs.query import QueryJob, answer
from pyspark_penstock.jobs.text_tables import table


def run(given: argparse.Namespace, output: Output) -> None:
    """Print the result."""
    job = QueryJob(
        sql=given.sql,
        server=server_of(given),
        archive=given.archive,
        schemas=dict(given.schema),
    )
    columns, rows = answer(open_session(given), job, given.limit)
    shown = table(columns, [[text(value) for value in row] for row in rows])
    output.say(shown, *(as_json(row) for row in rows))


def text(value: Any) -> str:
    """A value in a cell of a table."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)


def as_json(row: Row) -> dict[str, Any]:
    """A row for programs."""
    return {name: plain(value) for name, value in row.asDict(recursive=True).items()}


def plain(value: Any) -> Any:
    """A value for JSON. Bytes become text, with escapes for what is not UTF-8."""
    if isinstance(value, bytes | bytearray):
        return text(value)
    if isinstance(value, dict):
        return {text(name): plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value
