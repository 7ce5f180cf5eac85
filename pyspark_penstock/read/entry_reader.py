"""What a reading task does: it reads ranges of streams, as record batches."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from pyspark_penstock.connect.connection import Word
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.errors import ServerError
from pyspark_penstock.figures import BYTES_READ, ENTRIES_LOST, OTHERS, READ_MS, Sums
from pyspark_penstock.names import key
from pyspark_penstock.read.bad_rows import DeadLetters
from pyspark_penstock.read.columns import BadRow, BatchBuilder, Origin
from pyspark_penstock.read.data_loss import Shortage, missing
from pyspark_penstock.read.offsets import ONLY
from pyspark_penstock.read.page import MixedPage, Page, as_one
from pyspark_penstock.read.plan import Bundle, Range
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import ReadOptions
from pyspark_penstock.schema import Column

ROWS = 10_000
BYTES = 4 << 20
BAD_AT_ONCE = 1_000  # rows held before they are written

logger = logging.getLogger(__name__)


Piece = tuple[Page, list[Origin]]  # the rows of a page, and where they are from
Missing = Generator[Piece, None, list[Shortage]]  # returns which entries were removed


def read_bundle(
    task: Bundle, columns: list[Column], options: ReadOptions, sums: Sums | None = None
) -> Generator[Any, None, list[str]]:
    """Yield the batches of *task*; return messages if entries were removed before they were read.

    If the entries of a range were not counted, that is checked with ``failOnDataLoss`` only. What
    was read is counted in *sums*.
    """
    sums = Sums() if sums is None else sums
    options = options.at(task.server)
    links = Links(options.server, Preference.ANY, "reading streams")
    writing = Links(options.server, Preference.PRIMARY, "writing bad rows")
    letters = (
        DeadLetters(writing, options.dead_letters, task.server, task.reader)
        if options.dead_letters
        else None
    )
    builder = BatchBuilder(
        "", columns, options.mode, server=task.server, keeps_bad=letters is not None, sums=sums
    )
    told = Told(pieces(links, task.ranges, options), task.server, sums)
    try:
        yield from timed(built(told, builder, options, letters), task.server, sums)
    finally:
        links.close()
        writing.close()
    return [each.text for each in told.missing]


class Told:
    """Iterates over *pieces* of a server and counts them in *sums*. *missing* is what they lack."""

    def __init__(self, pieces: Missing, server: str, sums: Sums) -> None:
        self.missing: list[Shortage] = []
        self._pieces = pieces
        self._server = server
        self._sums = sums

    def __iter__(self) -> Iterator[Piece]:
        for page, origins in self._told():
            for origin in origins:
                self._sums.add((self._server, origin.stream), BYTES_READ, origin.bytes)
            yield page, origins
        for each in self.missing:
            self._sums.add((self._server, each.stream), ENTRIES_LOST, each.entries)

    def _told(self) -> Iterator[Piece]:
        self.missing = yield from self._pieces


def timed(batches: Iterator[Any], server: str, sums: Sums) -> Iterator[Any]:
    """*batches*, with the time that they take; not the time that Spark takes over each of them."""
    spent = 0.0
    began = time.perf_counter()
    for batch in batches:
        spent += time.perf_counter() - began
        yield batch
        began = time.perf_counter()
    spent += time.perf_counter() - began
    sums.add((server, OTHERS), READ_MS, spent * 1_000)


def read_range(
    task: Range, columns: list[Column], options: ReadOptions
) -> Generator[Any, None, str]:
    """Yield the batches of one range; return a message if entries were removed before."""
    server = options.fleet.names[0]
    messages = yield from read_bundle(Bundle(server, (task,)), columns, options)
    return "; ".join(messages)


def pieces(links: Links, ranges: Sequence[Range], options: ReadOptions) -> Missing:
    """The pages of several ranges, in their order. Small ranges come many in one."""
    shortages = []
    for kind, some in groupby(ranges, key=lambda task: is_small(task, options, len(ranges))):
        if kind:
            shortages += yield from small_pieces(links, list(some), options)
        else:
            for task in some:
                shortages += yield from large_pieces(task, options)
    return shortages


def is_small(task: Range, options: ReadOptions, ranges: int) -> bool:
    """Whether a range of several is read by one command, with others."""
    return ranges > 1 and task.expected is not None and task.expected <= options.fetch_size


def large_pieces(task: Range, options: ReadOptions) -> Missing:
    """The pages of one range."""
    scan = Scan(
        options.server, task.stream, task.after, task.upto, options.fetch_size,
        wait=options.fail_on_data_loss,
    )  # fmt: skip
    for page in scan:
        yield page, [Origin(task.stream, len(page), task.part, page.size)]
    found = missing(task, scan, options)
    return [found] if found else []


def small_pieces(links: Links, ranges: list[Range], options: ReadOptions) -> Missing:
    """The entries of small ranges, those of many in one page.

    A range that lacks entries is read again by itself: a replica that lags is waited for.
    """
    shortages = []
    for some in portions(ranges, max(options.fetch_size, ROWS)):
        replies = links.ask([(task.stream, range_command(task)) for task in some])
        entries: list[Any] = []
        origins: list[Origin] = []
        for task, reply in zip(some, replies, strict=True):
            if isinstance(reply, ServerError):
                raise ServerError(f"stream {task.stream!r}: {reply}")
            if len(reply) == task.expected:
                entries += reply
                origins.append(Origin(task.stream, len(reply), task.part, size_of(reply)))
                continue
            if entries:
                yield page_of(entries, origins), origins
                entries, origins = [], []
            shortages += yield from large_pieces(task, options)
        if entries:
            yield page_of(entries, origins), origins
    return shortages


def portions(ranges: list[Range], most: int) -> Iterator[list[Range]]:
    """Ranges of about *most* entries, or that many ranges, at a time."""
    some: list[Range] = []
    entries = 0
    for task in ranges:
        some.append(task)
        entries += max(1, task.expected or 0)
        if entries >= most:
            yield some
            some, entries = [], 0
    if some:
        yield some


def range_command(task: Range) -> tuple[Word, ...]:
    """The command that reads a small range; one entry more than expected would be seen."""
    return (
        "XRANGE",
        key(task.stream),
        f"({task.after}",
        str(task.upto),
        "COUNT",
        (task.expected or 0) + 1,
    )


def size_of(entries: list[Any]) -> int:
    """How many bytes parsed entries have."""
    return sum(len(text) for _, fields in entries for text in fields)


def page_of(entries: list[Any], origins: list[Origin]) -> MixedPage:
    """Parsed entries as a page."""
    return MixedPage(entries, sum(origin.bytes for origin in origins))


def batches(
    pages: Iterable[Page],
    stream: str,
    columns: list[Column],
    options: ReadOptions,
    sums: Sums | None = None,
) -> Iterator[Any]:
    """Pages of one stream as record batches, counted in *sums*."""
    sums = Sums() if sums is None else sums
    builder = BatchBuilder(stream, columns, options.mode, sums=sums)
    told = Told(of_one_stream(pages, stream), ONLY, sums)
    return timed(built(told, builder, options, None), ONLY, sums)


def of_one_stream(pages: Iterable[Page], stream: str) -> Missing:
    """The pages of one stream."""
    for page in pages:
        yield page, [Origin(stream, len(page), bytes=page.size)]
    return []


def built(
    pieces: Iterable[Piece],
    builder: BatchBuilder,
    options: ReadOptions,
    letters: DeadLetters | None,
) -> Iterator[Any]:
    """Record batches of *pieces*; their bad rows go to *letters*."""
    bad: list[BadRow] = []
    where = ""
    with collector_paused():
        for page, origins in joined(throttled(pieces, options.max_entries_per_second)):
            where = where or f"stream {origins[0].stream!r}"
            batch = builder.batch(page, origins)
            if letters is not None:
                bad += builder.bad_rows
                builder.bad_rows = []
                if len(bad) >= BAD_AT_ONCE:
                    letters.write(bad)
                    bad = []
            yield batch
    if letters is not None:
        letters.write(bad)
    if builder.bad_values:
        logger.warning("%s: %d bad values", where, builder.bad_values)


def throttled(pieces: Iterable[Piece], rate: int | None) -> Iterator[Piece]:
    """*pieces*, slowed down to *rate* entries a second."""
    throttle = Throttle(rate)
    for piece in pieces:
        yield piece
        throttle.pause_after(len(piece[0]))


def joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """*pieces* joined to larger ones, since each page has a fixed cost in all later steps."""
    held: list[Page] = []
    origins: list[Origin] = []
    rows = size = 0
    for page, places in pieces:
        if held and (rows + len(page) > ROWS or size + page.size > BYTES):
            yield as_one(held), origins
            held, origins, rows, size = [], [], 0, 0
        held.append(page)
        origins += places
        rows, size = rows + len(page), size + page.size
    if held:
        yield as_one(held), origins


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
