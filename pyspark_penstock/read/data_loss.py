"""Data loss: entries that were trimmed or deleted before a query has read them.

A position knows *n*, how many entries had been added to the stream by then. If the stream has
removed more than *n* since it began, the difference was removed unread. Trimming removes the oldest
entries first, so this number is exact.

The counters do not show a single deletion while older entries are still there. Counting the entries
does: between two positions there must be as many as their *n* differ by.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError, DataLossError
from pyspark_penstock.read.entry_count import count_entries
from pyspark_penstock.read.plan import Range
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import ReadOptions

ADVICE = "failOnDataLoss=false would go on without them"

logger = logging.getLogger(__name__)


class Shortage(NamedTuple):
    """Entries of a stream that a task did not find: at most so many, and what to say of it."""

    stream: str
    entries: int
    text: str


def check_same_stream(stream: str, position: Position, state: StreamState) -> None:
    """Raises CheckpointError if the stream that is there now cannot be the one that was read."""
    if position == Position():
        return
    if not state.exists:
        problem = "it does not exist any more"
    elif state.last_id < position.id:
        problem = f"the server has nothing after {state.last_id}: it lost data, or it is another"
    elif state.added < position.n:
        problem = f"{position.n} entries had been added then, now it is {state.added}: it is new"
    else:
        return
    raise CheckpointError(
        f"stream {stream!r}: the query has read up to {position.id}, but {problem}; "
        "to start over, give the query a new checkpoint and startingOffsets"
    )


def lost_entries(position: Position, state: StreamState) -> int:
    """How many entries after *position* were removed unread."""
    return max(0, state.removed - position.n)


def check_nothing_lost(stream: str, position: Position, state: StreamState) -> None:
    """Raises DataLossError, with their number, if entries after *position* were removed."""
    lost = lost_entries(position, state)
    if lost:
        raise DataLossError(
            f"stream {stream!r}: {lost} entries after {position.id} were trimmed or deleted "
            f"before they were read (the oldest now is {state.first_entry}); {ADVICE}"
        )


def shortage(
    stream: str, after: EntryId, upto: EntryId, expected: int, lost: int, *, at_most: bool = False
) -> Shortage | None:
    """What it is that a range lacks *lost* of its *expected* entries; None if it lacks none."""
    if lost <= 0:
        return None
    text = (
        f"stream {stream!r}: {'up to ' if at_most else ''}{lost} of {expected} entries after "
        f"{after} up to {upto} were trimmed or deleted before they were read"
    )
    return Shortage(stream, lost, text)


def tell(problem: str, *, fail: bool) -> None:
    """Raise DataLossError with *problem*, or log it as a warning."""
    if fail:
        raise DataLossError(f"{problem}; {ADVICE}")
    logger.warning("%s", problem)


# ---------------------------------------------------------------------- found by a task


def missing(task: Range, scan: Scan, options: ReadOptions) -> Shortage | None:
    """What is missing if entries of *task* were removed before *scan* read them.

    If the entries of the task were not counted, this needs the state of the stream after the scan.
    """
    if task.expected is not None:
        lost = task.expected - scan.entries
        return shortage(task.stream, task.after, task.upto, task.expected, lost)
    if scan.state is None or not has_lost(scan.state, task):
        return None
    if task.batch is not None:
        return missing_of_batch(task, task.batch, scan.entries, options)
    most = scan.state.removed - task.removed
    text = (
        f"stream {task.stream!r}: {most} entries were trimmed or deleted since this read was "
        f"planned; up to as many may be missing here, after {task.after} up to {task.upto}"
    )
    return Shortage(task.stream, most, text)


def has_lost(state: StreamState, task: Range) -> bool:
    """Whether entries were removed since *task* was planned, or the stream was created again."""
    added_then = task.batch[1].n or 0 if task.batch else 0
    return state.removed > task.removed or state.added < added_then


def missing_of_batch(
    task: Range, batch: tuple[Cut, Cut], entries: int, options: ReadOptions
) -> Shortage | None:
    """What a task lacks of a *batch* of which only the whole was counted; it has read *entries*.

    Nothing is missing if these, and the entries around the task, make up the batch. Entries of
    other tasks may have been removed after they were read. So the number is the most that can be
    missing.
    """
    begin, end = batch
    around = sum(
        count_entries(Scan(options.server, task.stream, after, upto, options.fetch_size, wait=True))
        for after, upto in ((begin.id, task.after), (task.upto, end.id))
    )
    expected = (end.n or 0) - (begin.n or 0)
    lost = expected - around - entries
    return shortage(task.stream, begin.id, end.id, expected, lost, at_most=True)
