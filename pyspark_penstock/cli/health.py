"""``health``: the state of consumer groups as a table, as a page, and as a picture."""

from __future__ import annotations

import argparse
import importlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark_penstock.cli.arguments import server_options
from pyspark_penstock.cli.output import Output
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.health import GroupHealth, health
from pyspark_penstock.jobs.health_charts import columns, redeliveries, rows
from pyspark_penstock.jobs.server_options import with_environment
from pyspark_penstock.jobs.text_tables import table


def run(given: argparse.Namespace, output: Output) -> None:
    """Print the table; write the page and the picture."""
    if given.html or given.png:
        drawing("health_picture")  # whether it can be drawn is said before the servers are asked
    server = with_environment(server_options(given))
    groups = health(server, given.streams, given.group, given.min_idle)
    output.say(lines(groups), *(group.to_json() for group in groups))
    said = groups, datetime.now(UTC).isoformat(" ", "seconds"), given.min_idle
    if given.html:
        Path(given.html).write_text(drawing("health_page").page(*said), "utf-8")
    if given.png:
        Path(given.png).write_bytes(drawing("health_picture").png(*said))


def drawing(module: str) -> Any:
    """A module that draws. Raises OptionError if matplotlib is not installed."""
    try:
        return importlib.import_module(f"pyspark_penstock.jobs.{module}")
    except ImportError:
        raise OptionError(
            "--html and --png need matplotlib: pip install 'penstock[charts]'"
        ) from None


def lines(groups: list[GroupHealth]) -> list[str]:
    """The table, and below it the entries that were redelivered most."""
    if not groups:
        return ["no consumer groups"]
    return [*table(columns(groups), rows(groups)), *redeliveries(groups)]
