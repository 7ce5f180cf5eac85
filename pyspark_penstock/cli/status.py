"""``status``: how far a query is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from pyspark_penstock.cli.arguments import server_of
from pyspark_penstock.cli.output import Output
from pyspark_penstock.figures import BYTES_WRITTEN, ROWS_REPEATED, ROWS_WRITTEN, WRITE_RETRIES
from pyspark_penstock.jobs.archive_layout import checkpoint_of
from pyspark_penstock.jobs.checkpoint import has_checkpoint
from pyspark_penstock.jobs.files import LocalFiles
from pyspark_penstock.jobs.status import ClaimStatus, Status, status
from pyspark_penstock.jobs.text_tables import counted, number, size, table
from pyspark_penstock.write.batch_sums import SinkSums


def run(given: argparse.Namespace, output: Output) -> None:
    """Print the status of a checkpoint, or of an archive by the checkpoint in it."""
    inside = checkpoint_of(given.checkpoint)
    folder = inside if has_checkpoint(LocalFiles(), inside) else given.checkpoint
    found = status(folder, server_of(given))
    output.say(lines(found), found.to_json())


def lines(found: Status) -> Iterator[str]:
    """The status for people."""
    yield f"query {found.query}"
    yield committed_line(found)
    if found.unfinished is not None:
        yield f"batch {found.unfinished} is planned, not committed: the next start runs it again"
    rows = [[s.server, s.stream, s.id, number(s.entries), number(s.lag)] for s in found.streams]
    if rows or not found.claims:
        first = 0 if any(s.server for s in found.streams) else 1  # the column of servers
        header = ["server", "stream", "id", "entries", "lag"]
        if len(rows) > 1:
            rows.append(total_of(found))
        yield from table(header[first:], [row[first:] for row in rows])
    yield from map(claim_line, found.claims)
    if found.sink is not None:
        yield from sink_lines(found.sink)
    if found.sink_problem:
        yield f"(what was written is not known: {found.sink_problem})"
    if found.server_problem:
        yield f"(no lag: {found.server_problem})"


def total_of(found: Status) -> list[str]:
    """The last row of the table. A lag that is not known is left out of its sum."""
    lags = [each.lag for each in found.streams if each.lag is not None]
    entries = sum(each.entries for each in found.streams)
    name = f"({counted(len(found.streams), 'stream')})"
    return ["", name, "", number(entries), number(sum(lags) if lags else None)]


def sink_lines(sink: SinkSums) -> Iterator[str]:
    """What our sink has written."""
    streams = counted(sink.streams, "stream")
    yield f"batch {sink.batch} has written {written(sink.last)} to {streams}"
    yield f"all batches have written {written(sink.all)}"


def written(sums: Mapping[str, float]) -> str:
    """Rows and bytes, and what is not usual."""
    rows, repeated, retries = (
        int(sums.get(name, 0)) for name in (ROWS_WRITTEN, ROWS_REPEATED, WRITE_RETRIES)
    )
    text = f"{counted(rows, 'row')}, {size(sums.get(BYTES_WRITTEN, 0))}"
    text += f", {repeated:,} of them there already" if repeated else ""
    return text + (f", after {counted(retries, 'lost connection')}" if retries else "")


def claim_line(claim: ClaimStatus) -> str:
    """What the last batch has claimed of a shared group."""
    place = f"{claim.stream}  group {claim.group!r}  consumer {claim.consumer!r}"
    if not claim.entries:
        return f"{place}  claimed nothing"
    return f"{place}  claimed {claim.entries:,} entries up to {claim.upto}"


def committed_line(found: Status) -> str:
    """How far the query is."""
    if found.committed is None:
        return "no batch is committed yet"
    planned = datetime.fromtimestamp((found.planned_ms or 0) / 1_000, UTC)
    return f"batch {found.committed} is committed, planned at {planned:%Y-%m-%d %H:%M:%S} UTC"
