"""All streams with their figures: gone through in parts, and told of where they have changed.

    XINFO STREAMS 0 MATCH * COUNT 50 GROUPS  ->  50 rows, each compared with what was sent of it
    XINFO STREAMS 51 ...                          in another turn
    ... the end: who was not seen is gone

A part is as long as fits into a slice of time. Of each row a hash is kept, of the bytes as they are
answered: only what has changed is looked into, by stream_rows.py.

The sweep waits while a browser has not taken what was found. So no more than that is kept for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import thread_time_ns
from typing import Any

from server.console.answers import json_text
from server.console.local_client import TOO_LONG, LocalClient
from server.console.pace import SLICE_NS
from server.console.replies import error_text, is_error, text_value
from server.console.runner import Steps, in_database
from server.console.stream_rows import Page, key_of, mark_of, read_page, row_text
from server.console.task import Streams, Task

# These defend the server's memory against a browser that reads slowly, and against many streams.
MOST_UNSENT = 500  # rows; then the sweep waits
MOST_UNSENT_BYTES = 4 * 1024**2  # of them: a row has all groups of its stream
MOST_STREAMS = 50_000  # that are followed; further ones are not shown

FIRST_COUNT = 20
MOST_COUNT = 1000
EVENT_NS = SLICE_NS // 2  # for which rows are put into one event


class StreamSweep(Task):
    """Sweeps the streams of *subject*."""

    def __init__(self, client: LocalClient, tell: Callable[[], None], subject: Streams) -> None:
        super().__init__(client, tell)
        self.subject: Streams = subject
        self._sent: dict[bytes, int] = {}  # a hash of the row of each stream
        self._rows: dict[bytes, bytes] = {}  # that are to be sent
        self._gone: list[bytes] = []
        self._error = ""
        self._told_error = ""
        self._count = FIRST_COUNT  # streams in a part
        self._is_new = True  # nothing was told yet of any sweep
        self._has_changes = False  # something was found in this sweep
        self._is_whole = False  # the end of a sweep is to be told
        self._is_cut = False  # there are more streams than are followed

    # ------------------------------------------------------------------ the sweep

    def steps(self) -> Steps:
        error = yield from in_database(self.client, self.subject.db)
        seen: set[bytes] = set()
        cursor = b"0"
        while error is None:
            while self.is_paused or self._is_full:
                if self._is_cancelled:
                    return
                yield None
            if self._is_cancelled:
                return
            spent_ns = self.cost_ns
            reply = yield self._command(cursor)
            if reply == TOO_LONG and self._count > 1:
                self._count = 1
                continue
            if reply == TOO_LONG:  # this stream has groups without end: the others are shown
                reply = yield self._command(cursor)[:-1]
            if is_error(reply):
                error = reply
                break
            page = read_page(reply)
            cursor = page.cursor
            self._take(page, seen)
            self._adapt(self.cost_ns - spent_ns)
            if cursor == b"0":
                self._end(seen)
                break
        self._error = "" if error is None else error_text(error)

    @property
    def _is_full(self) -> bool:
        """Whether the browser has to take what was found first."""
        rows = self._rows
        return len(rows) >= MOST_UNSENT or sum(map(len, rows.values())) >= MOST_UNSENT_BYTES

    def _command(self, cursor: bytes) -> list[bytes]:
        match, count = self.subject.watched.match, b"%d" % self._count
        return [b"XINFO", b"STREAMS", cursor, b"MATCH", match, b"COUNT", count, b"GROUPS"]

    def _adapt(self, spent_ns: int) -> None:
        """Let the next part be as long as fits into a slice; *spent_ns* is what this one took."""
        fitting = self._count * SLICE_NS // max(spent_ns, 1)
        self._count = max(1, min(fitting, 2 * self._count, MOST_COUNT))

    def _take(self, page: Page, seen: set[bytes]) -> None:
        """Compare the rows of *page* with what was sent."""
        ran_ms = self.client.ran_ms
        for row in page.rows:
            key, mark = key_of(row), mark_of(row, ran_ms)
            if key not in self._sent and len(self._sent) >= MOST_STREAMS:
                self._is_cut = True
                continue
            seen.add(key)
            if self._sent.get(key) != mark:
                self._sent[key] = mark
                self._rows[key] = row
                self._has_changes = True
        if self._rows:
            self._tell()

    def _end(self, seen: set[bytes]) -> None:
        """Find out who is gone."""
        if len(seen) < len(self._sent):
            gone = [key for key in self._sent if key not in seen]
            for key in gone:
                del self._sent[key]
                self._rows.pop(key, None)
            self._gone += gone
            self._has_changes = True
        self._is_whole = self._has_changes or self._is_new
        self._is_new = self._has_changes = False

    # ------------------------------------------------------------------ what is told

    @property
    def has_news(self) -> bool:
        is_refused = self._error != self._told_error
        return bool(self._rows) or self._is_whole or is_refused

    def event(self) -> Iterator[str]:
        rows = self._some_rows()
        told: dict[str, Any] = {"db": self.subject.db, "at": self.client.ran_ms}
        told["gone"], told["complete"] = [], False
        if not self._rows:
            told["gone"] = [text_value(key) for key in self._gone]
            told["complete"] = self._is_whole
            self._gone, self._is_whole = [], False
        if self.subject.watched.name:
            told["name"] = self.subject.watched.name
        if self._is_cut:
            told["most"] = MOST_STREAMS
        if self._error:
            told["error"] = self._error
        self._told_error = self._error
        yield f'event: streams\ndata: {json_text(told)[:-1]},"rows":[{",".join(rows)}]}}\n\n'

    def _some_rows(self) -> list[str]:
        """The JSON of as many rows as fit into an event."""
        texts: list[str] = []
        until_ns = thread_time_ns() + EVENT_NS
        while self._rows and (not texts or thread_time_ns() < until_ns):
            row = self._rows.pop(next(iter(self._rows)))
            texts.append(row_text(row))
        return texts
