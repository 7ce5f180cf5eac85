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
from pyspark_penstock.read.offsets import Position

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


def shortage(
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
