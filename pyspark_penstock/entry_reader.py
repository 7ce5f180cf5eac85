"""What a task does that reads: one range of a stream, as record batches."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from pyspark_penstock.columns import BatchBuilder
from pyspark_penstock.loss import shortage
from pyspark_penstock.plan import Range
from pyspark_penstock.scan import Scan
from pyspark_penstock.schema import Column
from pyspark_penstock.source_options import ReadOptions

ROWS = 10_000
BYTES = 4 << 20

logger = logging.getLogger(__name__)


def read_range(task: Range, columns: list[Column], options: ReadOptions) -> Iterator[Any]:
    """The batches of *task*. Raises DataLossError if entries that were planned are gone."""
    with collector_paused():
        yield from joined(page_batches(task, columns, options))


def page_batches(task: Range, columns: list[Column], options: ReadOptions) -> Iterator[Any]:
    """A batch a page."""
    scan = Scan(options.server, task.stream, task.after, task.upto, options.fetch_size)
    builder = BatchBuilder(task.stream, columns, options.mode)
    throttle = Throttle(options.max_entries_per_second)
    count = 0
    for page in scan:
        count += len(page)
        yield builder.batch(page)
        throttle.pause_after(len(page))
    if builder.bad_values:
        logger.warning("stream %r: %d bad values", task.stream, builder.bad_values)
    if task.expected is not None and count < task.expected:
        loss = shortage(task.stream, task.after, task.upto, task.expected, count)
        if options.fail_on_data_loss:
            raise loss
        logger.warning("%s", loss)


def joined(batches: Iterator[Any]) -> Iterator[Any]:
    """The same rows in fewer batches: each one on its way costs Spark as much as many rows."""
    held: list[Any] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= ROWS or size >= BYTES:
            yield from one_of(held)
            held, rows, size = [], 0, 0
    if held:
        yield from one_of(held)


def one_of(batches: list[Any]) -> list[Any]:
    """Several batches as one; as none, if there is no row in them."""
    if len(batches) == 1:
        return batches
    batch: list[Any] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return batch


class Throttle:
    """Spares the server: no more than *rate* entries a second, if there is a rate."""

    def __init__(self, rate: int | None) -> None:
        self._rate = rate
        self._due = time.monotonic()

    def pause_after(self, entries: int) -> None:
        """Sleep as long as *entries* should have taken."""
        if self._rate is not None:
            self._due += entries / self._rate
            time.sleep(max(0.0, self._due - time.monotonic()))


@contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic collection: a page read by hiredis is many containers, and none in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
