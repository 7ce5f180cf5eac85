"""All streams with their figures: gone through in parts, and told of where they have changed.

    XINFO STREAMS 0 MATCH * COUNT 50 GROUPS  ->  50 rows, each compared with what was sent of it
    XINFO STREAMS 51 ...                          in another turn
    ... the end: who was not seen is gone

A part is as long as fits into a slice of time. Of each row a hash is kept. The age of the oldest
pending entry grows by itself, and is no change: when it was delivered is compared instead.

The sweep waits while a browser has not taken what was found. So no more than that is kept for it.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import hiredis

from server.console.answers import json_text
from server.console.local_client import LocalClient
from server.console.pace import SLICE_NS
from server.console.replies import error_text, integer_value, is_error, text_value
from server.console.runner import Steps, in_database
from server.console.task import Streams, Task
from server.process import ticks

# These defend the server's memory against a browser that reads slowly, and against many streams.
MOST_UNSENT = 500  # rows; then the sweep waits
MOST_STREAMS = 50_000  # that are followed; further ones are not shown

FIRST_COUNT = 20
MOST_COUNT = 1000
EVENT_NS = SLICE_NS // 2  # for which rows are put into one event

KEY, GROUPS, AGE = b"key", b"group-list", b"oldest-pending-ms"
OLD_MARSHAL = 2  # of which equal values always make equal bytes

Row: TypeAlias = dict[bytes, Any]


class StreamSweep(Task):
    """Sweeps the streams of *subject*."""

    def __init__(self, client: LocalClient, tell: Callable[[], None], subject: Streams) -> None:
        super().__init__(client, tell)
        self.subject: Streams = subject
        self._sent: dict[bytes, int] = {}  # a hash of the row of each stream
        self._rows: dict[bytes, Row] = {}  # that are to be sent
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
            while self.is_paused or len(self._rows) >= MOST_UNSENT:
                if self._is_cancelled:
                    return
                yield None
            if self._is_cancelled:
                return
            spent_ns = self.cost_ns
            reply = yield self._command(cursor)
            if is_error(reply):
                error = reply
                break
            cursor, rows = parsed(reply)
            self._take(rows, seen)
            self._adapt(self.cost_ns - spent_ns)
            if cursor == b"0":
                self._end(seen)
                break
        self._error = "" if error is None else error_text(error)

    def _command(self, cursor: bytes) -> list[bytes]:
        match, count = self.subject.watched.match, b"%d" % self._count
        return [b"XINFO", b"STREAMS", cursor, b"MATCH", match, b"COUNT", count, b"GROUPS"]

    def _adapt(self, spent_ns: int) -> None:
        """Let the next part be as long as fits into a slice; *spent_ns* is what this one took."""
        fitting = self._count * SLICE_NS // max(spent_ns, 1)
        self._count = max(1, min(fitting, 2 * self._count, MOST_COUNT))

    def _take(self, rows: list[Row], seen: set[bytes]) -> None:
        """Compare *rows* with what was sent."""
        ran_ms = self.client.ran_ms
        for row in rows:
            key = row[KEY]
            mark = _mark(row, ran_ms)
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
        until_ns = ticks.now_ns() + EVENT_NS
        while self._rows and (not texts or ticks.now_ns() < until_ns):
            row = self._rows.pop(next(iter(self._rows)))
            texts.append(json_text(row_value(row)))
        return texts


def parsed(reply: bytes) -> tuple[bytes, list[Row]]:
    """The next cursor, and the rows."""
    reader = hiredis.Reader()
    reader.feed(reply)
    cursor, rows = reader.gets()
    return cursor, rows


def _mark(row: Row, ran_ms: int) -> int:
    """A hash of *row*, which was made at *ran_ms*; equal as long as nothing has happened."""
    steady = {**row, AGE: _since(row, ran_ms)}
    if GROUPS in row:
        steady[GROUPS] = [{**group, AGE: _since(group, ran_ms)} for group in row[GROUPS]]
    return hash(marshal.dumps(steady, OLD_MARSHAL))


def _since(row: Row, ran_ms: int) -> int | None:
    age_ms: int | None = row.get(AGE)
    return None if age_ms is None else ran_ms - age_ms


def row_value(value: Any) -> Any:
    """A row, or a part of it, as JSON has it: maps become objects."""
    if isinstance(value, bytes):
        return text_value(value)
    if isinstance(value, dict):
        return {key.decode(): row_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [row_value(item) for item in value]
    return integer_value(value) if isinstance(value, int) else value
