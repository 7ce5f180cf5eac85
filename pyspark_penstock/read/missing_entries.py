"""Shortages: what a task finds missing of what was planned for it.

A task that was counted knows by its count. One that was cut by time knows that nothing had been
removed from the stream when it was planned. If something has been by now, that need not be in its
range; then it counts what lies in the batch around it.
"""

from __future__ import annotations

from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.read.data_loss import shortage
from pyspark_penstock.read.entry_count import count_entries
from pyspark_penstock.read.offsets import Cut
from pyspark_penstock.read.plan import Range
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import ReadOptions


def missing(task: Range, scan: Scan, options: ReadOptions) -> str:
    """What to say if entries of *task* were removed before *scan* read them; else nothing.

    Where the task was not counted, that shows only to a scan that has looked at the stream.
    """
    if task.expected is not None:
        lost = task.expected - scan.entries
        return shortage(task.stream, task.after, task.upto, task.expected, lost)
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
    return shortage(task.stream, begin.id, end.id, expected, lost, at_most=True)
