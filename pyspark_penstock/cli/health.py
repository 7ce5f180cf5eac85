"""``health``: the state of consumer groups as a table, as a page, and as a picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pyspark_penstock.cli.arguments import server_of
from pyspark_penstock.cli.output import Output
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.health import GroupHealth, health
from pyspark_penstock.jobs.health_charts import COLUMNS, texts
from pyspark_penstock.jobs.health_page import page
from pyspark_penstock.jobs.text_tables import duration, table


def run(given: argparse.Namespace, output: Output) -> None:
    """Print the table; write the page and the picture."""
    groups = health(server_of(given), given.streams, given.group, given.min_idle)
    output.say(lines(groups), *(group.to_json() for group in groups))
    when = datetime.now(UTC).isoformat(" ", "seconds")
    if given.html:
        Path(given.html).write_text(page(groups, when), "utf-8")
    if given.png:
        Path(given.png).write_bytes(picture_maker()(groups, when))


def picture_maker() -> Callable[[list[GroupHealth], str], bytes]:
    """The function that draws a PNG. Raises OptionError if Pillow is not installed."""
    try:
        from pyspark_penstock.jobs.health_image import png  # noqa: PLC0415
    except ImportError:
        raise OptionError("--png needs Pillow: pip install 'penstock[png]'") from None
    return png


def lines(groups: list[GroupHealth]) -> list[str]:
    """The table, and below it the entries that were redelivered most."""
    if not groups:
        return ["no consumer groups"]
    return [
        *table(COLUMNS, [texts(group) for group in groups]),
        *(
            f"{group.stream} / {group.group}: {entry.id} was given out {entry.deliveries} times, "
            f"last to {entry.consumer} {duration(entry.idle_ms)} ago"
            for group in groups
            for entry in group.most_redelivered
        ),
    ]
