"""What a task does that reads: one range of a stream, as record batches."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark_penstock.columns import BatchBuilder
from pyspark_penstock.loss import shortage
from pyspark_penstock.page import Page, as_one
from pyspark_penstock.plan import Range
from pyspark_penstock.scan import Scan
from pyspark_penstock.schema import Column
from pyspark_penstock.source_options import ReadOptions

ROWS = 10_000
BYTES = 4 << 20

logger = logging.getLogger(__name__)


def read_range(task: Range, columns: list[Column], options: ReadOptions) -> Iterator[Any]:
    """The batches of *task*. Raises DataLossError if entries that were planned are gone."""
    builder = BatchBuilder(task.stream, columns, options.mode)
    count = 0
    with collector_paused():
        for page in joined(pages(task, options)):
            count += len(page)
            yield builder.batch(page)
    if builder.bad_values:
        logger.warning("stream %r: %d bad values", task.stream, builder.bad_values)
    if task.expected is not None and count < task.expected:
        loss = shortage(task.stream, task.after, task.upto, task.expected, count)
        if options.fail_on_data_loss:
            raise loss
        logger.warning("%s", loss)


def pages(task: Range, options: ReadOptions) -> Iterator[tuple[Page, int]]:
    """The pages of *task*, with their bytes, no faster than they may be read."""
    scan = Scan(options.server, task.stream, task.after, task.upto, options.fetch_size)
    throttle = Throttle(options.max_entries_per_second)
    before = 0
    for page in scan:
        yield page, scan.bytes - before
        before = scan.bytes
        throttle.pause_after(len(page))


def joined(pages: Iterable[tuple[Page, int]]) -> Iterator[Page]:
    """The same entries in fewer pages: all that is done to a page has a price of its own."""
    held: list[Page] = []
    rows = size = 0
    for page, page_size in pages:
        if held and (rows + len(page) > ROWS or size + page_size > BYTES):
            yield as_one(held)
            held, rows, size = [], 0, 0
        held.append(page)
        rows, size = rows + len(page), size + page_size
    if held:
        yield as_one(held)


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
