"""One entry: its fields, its trace, and how far each group is with it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from penstock.shown import span, text
from penstock.top.actions import Target
from penstock.top.backlog import Entry, Part
from penstock.top.board import Row
from penstock.top.entry_ids import entry_time_ms
from penstock.top.life import Life, life_of
from penstock.top.screens.live import LiveScreen, Watch
from penstock.top.server import LOST
from penstock.top.trace import trace_of

MOST_SHOWN = 16_384  # bytes of a field: more of it would only make the screen slow


class EntryScreen(LiveScreen):
    """All that is known of one entry of a backlog."""

    BINDINGS: ClassVar[list[BindingType]] = []
    acts = "ancx"
    more_keys = (("escape", "back"),)

    def __init__(self, watch: Watch, row: Row, entry: Entry, part: Part) -> None:
        super().__init__(watch)
        self._row, self._entry, self._part = row, entry, part
        self._life: Life | None = None
        self._text = Static(id="entry")

    def body(self) -> Widget:
        return VerticalScroll(self._text)

    @property
    def row(self) -> Row:
        """The group's row now, or as it was when the entry was opened."""
        return self.feed.board.group(*self._row.key) or self._row

    def show_figures(self) -> None:
        if self._part is not Part.SCHEDULED and not (self._life and self.watch_feed.is_paused):
            self._load()
        self._text.update(self._said())

    @work(exclusive=True, group="life")
    async def _load(self) -> None:
        place = self._entry.stream or self.row.stream.key
        row = self.row if place == self.row.stream.key else self.feed.board.stream(place)
        if row is None:
            return
        try:
            self._life = await life_of(self.feed.server, row, self._entry)
        except LOST:
            return
        if self._is_there:
            self._text.update(self._said())

    def _said(self) -> Text:
        entry = self._life.entry if self._life else self._entry
        said = Text()
        when_ms = entry_time_ms(entry.entry_id)
        stamp = _stamp(when_ms)
        age_ms = int(time.time() * 1000) - when_ms
        about = f"{span(age_ms)} ago" if age_ms >= 0 else f"in {span(-age_ms)}"
        said.append(f"{entry.entry_id}", style="bold")
        said.append(f"  {stamp}  {about}\n" if stamp else "\n")
        trace = trace_of(entry.fields or {})
        if trace is not None:
            sampled = "sampled" if trace.is_sampled else "not sampled"
            said.append(f"trace {trace.trace_id}  span {trace.span_id}  {sampled}\n", "bold cyan")
        said.append("\n")
        if entry.fields is None:
            said.append("the stream has this entry no more\n")
        for name, value in (entry.fields or {}).items():
            said.append(text(name[:MOST_SHOWN]), style="bold")
            said.append(f"  {text(value[:MOST_SHOWN])}")
            left = len(value) - MOST_SHOWN
            said.append(f" ... {left:,} bytes more\n" if left > 0 else "\n", style="dim")
        said.append("\n")
        for group, state in self._life.groups if self._life else ():
            said.append(f"{group}: {state}\n")
        return said

    def state(self) -> Iterator[str]:
        yield f"entry of {text(self._entry.stream or self._row.stream.key)}"

    def target(self) -> Target | None:
        return None if self._part is Part.SCHEDULED else Target(self.row, self._entry)

    def wanted(self) -> Collection[bytes]:
        return (self._row.stream.key,)


def _stamp(when_ms: int) -> str:
    """A time as people write it here; empty if it is none that a calendar has."""
    try:
        return datetime.fromtimestamp(when_ms / 1000).astimezone().isoformat(" ", "milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""
