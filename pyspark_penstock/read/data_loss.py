"""Loss: what a stream says about entries that a query has not read yet.

Of the entries ever added, *n* had been when the query was at its position. If more than *n* were
removed since the stream began, the surplus was removed unread. Trimming takes the oldest first, so
the surplus is exact.

Single deletions do not show in the counters while older entries are there. They show to whoever
counts what is left: between two places there have to be as many entries as their *n* differ by.
"""

from __future__ import annotations

import logging

from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError, DataLossError
from pyspark_penstock.read.entry_count import count_entries
from pyspark_penstock.read.offsets import Cut, Position
from pyspark_penstock.read.plan import Range
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import ReadOptions

ADVICE = "failOnDataLoss=false would go on without them"

logger = logging.getLogger(__name__)


def check_same_stream(stream: str, position: Position, state: StreamState) -> None:
    """Raises CheckpointError if *position* cannot be one in the stream that is there now."""
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
    """How many entries after *position* were removed before they were read."""
    return max(0, state.removed - position.n)


def check_nothing_lost(stream: str, position: Position, state: StreamState) -> None:
    """Raises DataLossError with the count if entries after *position* were removed."""
    lost = lost_entries(position, state)
    if lost:
        raise DataLossError(
            f"stream {stream!r}: {lost} entries after {position.id} were trimmed or deleted "
            f"before they were read (the oldest now is {state.first_entry}); {ADVICE}"
        )


def shortage_text(
    stream: str, after: EntryId, upto: EntryId, expected: int, lost: int, *, at_most: bool = False
) -> str:
    """What to say of a range that lacks *lost* of the entries it should have; else nothing."""
    if lost <= 0:
        return ""
    return (
        f"stream {stream!r}: {'up to ' if at_most else ''}{lost} of {expected} entries after "
        f"{after} up to {upto} were trimmed or deleted before they were read"
    )


def tell(problem: str, *, fail: bool) -> None:
    """Raises DataLossError with *problem*, or warns of it."""
    if fail:
        raise DataLossError(f"{problem}; {ADVICE}")
    logger.warning("%s", problem)


# ---------------------------------------------------------------------- found by a task


def missing(task: Range, scan: Scan, options: ReadOptions) -> str:
    """What to say if entries of *task* were removed before *scan* read them; else nothing.

    Where the task was not counted, that shows only to a scan that has looked at the stream.
    """
    if task.expected is not None:
        lost = task.expected - scan.entries
        return shortage_text(task.stream, task.after, task.upto, task.expected, lost)
    if scan.state is None or not has_lost(scan.state, task):
        return ""
    if task.batch is not None:
        return missing_of_batch(task, task.batch, scan.entries, options)
    return (
        f"stream {task.stream!r}: {scan.state.removed - task.removed} entries were trimmed or "
        "deleted since this read was planned; up to as many may be missing here, after "
        f"{task.after} up to {task.upto}"
    )


def has_lost(state: StreamState, task: Range) -> bool:
    """Whether the stream has lost entries since *task* was planned, or is another one."""
    added_then = task.batch[1].n or 0 if task.batch else 0
    return state.removed > task.removed or state.added < added_then


def missing_of_batch(
    task: Range, batch: tuple[Cut, Cut], entries: int, options: ReadOptions
) -> str:
    """What to say of a task that read *entries* of a *batch* of which only the whole was counted.

    Nothing is missing if these and what lies around the task make up the batch. What the others
    have read need not lie there any more: so this is the most that may be missing.
    """
    begin, end = batch
    around = sum(
        count_entries(options.server, task.stream, after, upto, options.fetch_size, wait=True)
        for after, upto in ((begin.id, task.after), (task.upto, end.id))
    )
    expected = (end.n or 0) - (begin.n or 0)
    lost = expected - around - entries
    return shortage_text(task.stream, begin.id, end.id, expected, lost, at_most=True)
