"""What a task does that reads a part of a claimed batch: pending entries, as record batches."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from pyspark_penstock.errors import DataLossError
from pyspark_penstock.read.data_loss import ADVICE
from pyspark_penstock.read.entry_reader import batches
from pyspark_penstock.read.source_options import ReadOptions
from pyspark_penstock.schema import Column
from pyspark_penstock.shared.group_offsets import ClaimedRange, Place
from pyspark_penstock.shared.pending_scan import PendingScan

logger = logging.getLogger(__name__)


def read_claimed(task: ClaimedRange, columns: list[Column], options: ReadOptions) -> Iterator[Any]:
    """The batches of *task*. Raises DataLossError if others have taken entries of it."""
    scan = PendingScan(options.server, task, options.fetch_size)
    yield from batches(scan, task.place.stream, columns, options)
    if scan.listed > scan.found:
        logger.warning(
            "stream %r: %d of %d entries that were claimed had been deleted; they are no rows",
            task.place.stream, scan.listed - scan.found, scan.listed,
        )  # fmt: skip
    check_all_there(task.place, task.entries, scan.listed, options.fail_on_data_loss)


def check_all_there(place: Place, entries: int, found: int, fail: bool) -> None:
    """Raises DataLossError, or warns, if fewer than *entries* are pending any more."""
    if found >= entries:
        return
    problem = (
        f"stream {place.stream!r}: {entries - found} of {entries} entries that {place.consumer!r} "
        f"had claimed are not pending for it any more: others of group {place.group!r} have taken "
        f"them over or acknowledged them; {ADVICE}"
    )
    if fail:
        raise DataLossError(problem)
    logger.warning("%s", problem)
