"""The two tables: streams and groups, and the entries of a backlog."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

from rich.style import Style

from penstock.top.backlog import Entry, Part
from penstock.top.board import Row
from penstock.top.columns import Column, fitting
from penstock.top.screens.grid import PLAIN, Grid, Head
from penstock.top.trouble import Level

COLOURS = {
    Level.CALM: PLAIN,
    Level.WARN: Style(color="yellow"),
    Level.BAD: Style(color="red", bold=True),
}
GONE = Style(dim=True)


class BoardGrid(Grid[Row]):
    """Streams, or groups."""

    def __init__(self, name: str, empty: str) -> None:
        super().__init__(name, empty)
        self._columns: Sequence[Column] = ()

    def show_rows(self, rows: Sequence[Row], columns: Sequence[Column], by: Column) -> None:
        """These rows, in as many of these columns as there is room for, sorted by one of them."""
        width = self.size.width or self.app.size.width
        chosen = fitting(columns, rows, width)
        self._columns = [column for column, _ in chosen]
        heads = [
            Head(column.title, width, column.is_number, is_sorted=column is by)
            for column, width in chosen
        ]
        self.show(rows, heads)

    def key_of(self, row: Row) -> Hashable:
        return row.key

    def cells_of(self, row: Row) -> Sequence[str]:
        return [column.cell(row) for column in self._columns]

    def style_of(self, row: Row) -> Style:
        return COLOURS[row.trouble.level]


class EntryGrid(Grid[Entry]):
    """Entries of one part of a backlog."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.part = Part.PENDING

    def show_entries(self, part: Part, entries: Sequence[Entry], empty: str) -> None:
        self.part, self.empty = part, empty
        about = max([len(_TITLES[part]), *(len(self._about(entry)) for entry in entries)])
        ids = max([4, *(len(entry.entry_id) for entry in entries)])
        rest = max(10, (self.size.width or self.app.size.width) - min(about, 44) - ids - 5)
        heads = [Head("id", ids), Head(_TITLES[part], min(about, 44)), Head("fields", rest)]
        self.show(entries, heads)

    def key_of(self, row: Entry) -> Hashable:
        return row.entry_id

    def cells_of(self, row: Entry) -> Sequence[str]:
        return [row.entry_id, self._about(row), row.shown_fields()]

    def style_of(self, row: Entry) -> Style:
        return GONE if row.fields is None else PLAIN

    def _about(self, entry: Entry) -> str:
        return entry.about(self.part, int(time.time() * 1000))


_TITLES = {
    Part.PENDING: "to whom, since when, how often",
    Part.WAITING: "since when",
    Part.DEAD: "why, how often",
    Part.SCHEDULED: "when",
}
