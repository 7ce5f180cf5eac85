"""The page of metrics, made in steps: one is made for all who ask for it at the same time.

    Page    steps -> pieces: [..., ..., ...]     a step takes SLICE_S, so that others are served
              Reader  at = 2                     each peer takes the pieces at its own pace
              Reader  at = 3                     who is ahead has the next step made

The pieces are kept until all readers have them: not more than metrics-max-series allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from server.http.messages import Body, Exchange
from server.metrics import (
    fact_metrics,
    key_metrics,
    own_metrics,
    server_metrics,
    stream_metrics,
    time_metrics,
)
from server.metrics.exposition import Form, Writer, labels_text
from server.metrics.family import Family, Readings, Row, Table, alone, column
from server.metrics.key_metrics import KeyGroups
from server.metrics.own_metrics import Sum
from server.metrics.stream_metrics import Streams
from server.parts.state import ServerState

SLICE_S = 0.001  # of a step: defends clients against the page
ROWS = 50  # that are written between two looks at the clock
PIECE = 32 * 1024  # bytes that are sent at once: each write costs the server as much as 50 lines

SERVER_TABLES: tuple[Table[Any, Any], ...] = (
    *fact_metrics.tables(), *server_metrics.TABLES,
)  # fmt: skip
OWN_TABLES: tuple[Table[Any, Any], ...] = (*own_metrics.TABLES, key_metrics.KEYS)


class Scrapes:
    """What is counted of the pages themselves."""

    def __init__(self) -> None:
        self.asked = 0
        self.ended = 0
        self.failed = 0
        self.has_failed = False  # the last one
        self.seconds = 0.0  # that all pages took which have ended
        self.last_s = 0.0


SCRAPES = Table(
    [
        *own_metrics.summary(
            "redis_exporter_scrape_duration_seconds", "How long these pages took to be made",
            lambda scrapes: Sum(scrapes.ended, scrapes.seconds),
        ),
        column("redis_exporter_scrapes_total", "number", "Times that this page was asked for",
               lambda scrapes: scrapes.asked),
        column("redis_exporter_last_scrape_duration_seconds", "seconds",
               "How long the page took that was made last",
               lambda scrapes: scrapes.last_s if scrapes.ended else None),
        column("redis_target_scrape_request_errors_total", "number",
               "Pages that could not be made", lambda scrapes: scrapes.failed),
    ],
    alone(lambda scrapes: scrapes),
)  # fmt: skip
LAST_ERROR = Table(
    [column("redis_exporter_last_scrape_error", "0 or 1", "Whether the last page failed: then it"
            " was broken off", lambda scrapes: scrapes.has_failed, ("err",))],
    lambda scrapes: [Row(("",), scrapes)],
)  # fmt: skip
LEFT_OUT = (
    column("penstock_metrics_streams_left_out", "number",
           "Streams that this page has no room for: metrics-max-series",
           lambda streams: streams.left_out),
)  # fmt: skip


class Page:
    """The text of all metrics at this time, by *writer*."""

    def __init__(
        self, state: ServerState, writer: Writer, scrapes: Scrapes, monotonic_s: Callable[[], float]
    ) -> None:
        self._state = state
        self._scrapes = scrapes
        self._monotonic_s = monotonic_s
        writer.begin_page()
        self._steps = self._made(writer)
        self._begun_s = monotonic_s()
        self.pieces: list[bytes] = []
        self.is_done = False
        self.is_broken = False  # it cannot be made: nobody may take a part of it for the whole
        self.readers = 0
        self._asked: set[Reader] = set()  # for more, since the last step was made

    def is_turn_of(self, reader: Reader) -> bool:
        """Whether *reader* may have a step made: once for all, between two looks at the sockets.

        Each asks once in between. So who asks again is the first after such a look.
        """
        if self._asked and reader not in self._asked:
            self._asked.add(reader)
            return False
        self._asked = {reader}
        return True

    def go_on(self) -> None:
        """Make the page for a slice of time. What goes wrong is raised, to all who read it."""
        if self.is_broken:
            raise RuntimeError("the page of metrics is broken off")
        end_s = self._monotonic_s() + SLICE_S
        made = []
        while not self.is_done:
            piece = next(self._steps, None)
            if piece is None:
                self._end()
            else:
                made.append(piece)
                if self._monotonic_s() >= end_s:
                    break
        text = b"".join(made)
        if text:
            self.pieces.append(text)

    def _end(self) -> None:
        self.is_done = True
        scrapes = self._scrapes
        scrapes.ended += 1
        scrapes.last_s = self._monotonic_s() - self._begun_s
        scrapes.seconds += scrapes.last_s
        scrapes.has_failed = False

    def _made(self, writer: Writer) -> Iterator[bytes]:
        """The text, in small steps; b"" where something was looked at, and nothing written."""
        state = self._state
        for table in SERVER_TABLES:
            yield from _table(table, state, writer)
        yield from time_metrics.pieces(state, writer)
        for table in OWN_TABLES:
            yield from _table(table, state, writer)
        yield from _table(SCRAPES, self._scrapes, writer)
        yield from _table(LAST_ERROR, self._scrapes, writer)
        if not state.restrictions.loading:
            yield from self._of_keys(writer)
        yield writer.form.end

    def _of_keys(self, writer: Writer) -> Iterator[bytes]:
        """What all streams, or all keys, are looked at for."""
        state = self._state
        groups = KeyGroups(state.config.metrics_key_groups)
        streams = Streams(state.config)
        for steps in (groups.collect(state), streams.collect(state)):
            for _ in steps:
                yield b""
        for readings in (groups.readings(), *streams.readings, left_out(streams)):
            yield from _lines(readings, writer)


def left_out(streams: Streams) -> Readings[Streams]:
    """How many streams have no room."""
    readings = Readings(LEFT_OUT)
    readings.add("", streams)
    return readings


def _table(table: Table[Any, Any], world: Any, writer: Writer) -> Iterator[bytes]:
    readings = Readings(table.columns)
    for row in table.rows(world):
        readings.add(labels_text(row.labels), row.subject)
    yield from _lines(readings, writer)


def _lines(readings: Readings[Any], writer: Writer) -> Iterator[bytes]:
    """The samples, column by column; a family without any is left out."""
    told = None
    labels = readings.labels
    for each, values in readings.of_columns():
        family = each.family
        for at in range(0, len(labels), ROWS):
            lines = writer.lines(family, each.name, labels[at : at + ROWS], values[at : at + ROWS])
            if lines and told is not family:
                told = family
                lines = writer.head(family) + lines
            yield lines


class Reader(Body):
    """What one peer has taken of a page. *left* is told when it takes no more."""

    def __init__(self, page: Page, exchange: Exchange, pages: Pages) -> None:
        self._page = page
        self._exchange = exchange
        self._pages = pages
        self._at = 0
        page.readers += 1

    def more(self) -> bytes | None:
        page = self._page
        if not page.is_done and self._size() < PIECE and page.is_turn_of(self):
            self._pages.go_on(page)
        if not page.is_done and self._size() < PIECE:
            self._exchange.wake()
            return b""
        begin = self._at
        while self._at < len(page.pieces) and self._taken(begin) < PIECE:
            self._at += 1
        return b"".join(page.pieces[begin : self._at]) or None

    def _size(self) -> int:
        """Bytes that are made and not taken."""
        return sum(map(len, self._page.pieces[self._at :]))

    def _taken(self, begin: int) -> int:
        return sum(map(len, self._page.pieces[begin : self._at]))

    def gone(self) -> None:
        self._page.readers -= 1
        self._pages.left(self._page)


class Pages:
    """The pages that are being made: one of each form, at most."""

    def __init__(self, state: ServerState, monotonic_s: Callable[[], float]) -> None:
        self._state = state
        self._monotonic_s = monotonic_s
        self._scrapes = Scrapes()
        self._made: dict[Form, Page] = {}
        self._writers: dict[Form, Writer] = {}

    def begin(self, form: Form, exchange: Exchange) -> None:
        """Answer *exchange* with the page that is being made, or with a new one."""
        exchange.begin(self.reader(form, exchange), form.value)

    def reader(self, form: Form, exchange: Exchange) -> Reader:
        """Who takes such a page for *exchange*."""
        self._scrapes.asked += 1
        page = self._made.get(form)
        if page is None:
            writer = self._writers.setdefault(form, Writer(form))
            page = Page(self._state, writer, self._scrapes, self._monotonic_s)
            self._made[form] = page
        return Reader(page, exchange, self)

    def go_on(self, page: Page) -> None:
        """Make more of *page*. One that is done, or has failed, is not given to new readers."""
        try:
            page.go_on()
        except Exception:
            if not page.is_broken:  # else another reader has seen to it
                self._scrapes.failed += 1
                self._scrapes.has_failed = True
                self._forget(page)
                page.is_broken = True
            raise
        if page.is_done:
            self._forget(page)

    def left(self, page: Page) -> None:
        """A reader of *page* has gone: after the last one nobody makes it any further."""
        if not page.readers:
            self._forget(page)

    def _forget(self, page: Page) -> None:
        for form, each in list(self._made.items()):
            if each is page:
                del self._made[form]


def families() -> list[Family]:
    """All that may be on a page, in the order of the page."""
    tables = (*SERVER_TABLES, *OWN_TABLES, SCRAPES, LAST_ERROR)
    columns = (
        *key_metrics.GROUP_COLUMNS, *stream_metrics.STREAM_COLUMNS, *stream_metrics.GROUP_COLUMNS,
        *stream_metrics.CONSUMER_COLUMNS, *LEFT_OUT,
    )  # fmt: skip
    of_tables = [family for table in tables for family in table.families]
    return list(dict.fromkeys([
        *of_tables, *time_metrics.FAMILIES, *(column.family for column in columns),
    ]))  # fmt: skip
