"""What a reading task does: it reads one range of a stream, as record batches."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark_penstock.read.columns import BatchBuilder
from pyspark_penstock.read.data_loss import missing
from pyspark_penstock.read.page import Page, as_one
from pyspark_penstock.read.plan import Range
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import ReadOptions
from pyspark_penstock.schema import Column

ROWS = 10_000
BYTES = 4 << 20

logger = logging.getLogger(__name__)


def read_range(
    task: Range, columns: list[Column], options: ReadOptions
) -> Generator[Any, None, str]:
    """Yield the batches of *task*; return a message if entries were removed before they were read.

    If the entries of the task were not counted, that is checked with ``failOnDataLoss`` only.
    """
    scan = Scan(
        options.server, task.stream, task.after, task.upto, options.fetch_size,
        wait=options.fail_on_data_loss,
    )  # fmt: skip
    yield from batches(scan, task.stream, columns, options)
    return missing(task, scan, options)


def batches(
    pages: Iterable[Page], stream: str, columns: list[Column], options: ReadOptions
) -> Iterator[Any]:
    """Pages of one stream as record batches."""
    builder = BatchBuilder(stream, columns, options.mode)
    with collector_paused():
        for page in joined(throttled(pages, options.max_entries_per_second)):
            yield builder.batch(page)
    if builder.bad_values:
        logger.warning("stream %r: %d bad values", stream, builder.bad_values)


def throttled(pages: Iterable[Page], rate: int | None) -> Iterator[Page]:
    """*pages*, slowed down to *rate* entries a second."""
    throttle = Throttle(rate)
    for page in pages:
        yield page
        throttle.pause_after(len(page))


def joined(pages: Iterable[Page]) -> Iterator[Page]:
    """*pages* joined to larger ones, since each page has a fixed cost in all later steps."""
    held: list[Page] = []
    rows = size = 0
    for page in pages:
        if held and (rows + len(page) > ROWS or size + page.size > BYTES):
            yield as_one(held)
            held, rows, size = [], 0, 0
        held.append(page)
        rows, size = rows + len(page), size + page.size
    if held:
        yield as_one(held)


class Throttle:
    """Limits reading to *rate* entries a second, to spare the server; None means no limit."""

    def __init__(self, rate: int | None) -> None:
        self._rate = rate
        self._due = time.monotonic()

    def pause_after(self, entries: int) -> None:
        """Sleep until *entries* more are due."""
        if self._rate is not None:
            self._due += entries / self._rate
            time.sleep(max(0.0, self._due - time.monotonic()))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic collector: pages hold many containers, and none of them is in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
