"""The first screen: all streams, or all groups, by trouble."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from penstock.top import columns
from penstock.top.actions import Target
from penstock.top.board import Row
from penstock.top.columns import OF_GROUPS, OF_STREAMS, TROUBLE, Column, in_order, matching
from penstock.top.screens.dialogs import Ask
from penstock.top.screens.grid import Grid
from penstock.top.screens.grids import BoardGrid
from penstock.top.screens.group import GroupScreen
from penstock.top.screens.live import LiveScreen, Watch
from penstock.top.screens.stream import StreamScreen


class StreamsScreen(LiveScreen):
    """A table of streams; g makes it one of groups."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter"),
        Binding("s", "sort(1)", "sort"),
        Binding("S", "sort(-1)", "sort"),
        Binding("r", "reverse", "reverse"),
        Binding("g", "groups", "groups"),
        Binding("d", "db", "database"),
    ]
    acts = "pRmt"
    more_keys = (
        ("enter", "open"),
        ("/", "filter"),
        ("s", "sort"),
        ("r", "reverse"),
        ("g", "groups/streams"),
        ("d", "db"),
    )

    def __init__(self, watch: Watch, sort: str = TROUBLE.title) -> None:
        super().__init__(watch)
        self.has_groups = False
        self.filter = ""
        self.is_reversed = False
        self.by = next(each for each in columns.sortable(OF_STREAMS) if each.title == sort)
        self._grid = BoardGrid("streams", "no streams")
        self._shown = 0

    def body(self) -> Widget:
        return self._grid

    def show_figures(self) -> None:
        board = self.feed.board
        some = board.groups() if self.has_groups else board.streams()
        rows = in_order(matching(some, self.filter), self.by, self.is_reversed)
        self._shown = len(rows)
        waiting = "" if self.feed.figures.looks else "looking ..."
        self._grid.empty = waiting or ("no groups" if self.has_groups else "no streams")
        self._grid.show_rows(rows, self._columns, self.by)

    def state(self) -> Iterator[str]:
        what = "groups" if self.has_groups else "streams"
        yield f"{self._shown:,} {what}"
        yield f"by {self.by.title}{', reversed' if self.is_reversed else ''}"
        if self.filter:
            yield f"filter: {self.filter}"

    def target(self) -> Target | None:
        row = self._grid.cursor
        return None if row is None else Target(row)

    def wanted(self) -> Collection[bytes]:
        return dict.fromkeys(row.stream.key for row in self._grid.seen)

    def on_grid_opened(self, _: Grid.Opened) -> None:
        row = self._grid.cursor
        if row is not None:
            self.app.push_screen(self._screen_of(row))

    def _screen_of(self, row: Row) -> LiveScreen:
        if row.group is None:
            return StreamScreen(self.watch_feed, row.stream.key)
        return GroupScreen(self.watch_feed, row.stream.key, row.group.name)

    @property
    def _columns(self) -> tuple[Column, ...]:
        return OF_GROUPS if self.has_groups else OF_STREAMS

    # ------------------------------------------------------------------ keys

    @work(exclusive=True, group="ask")
    async def action_filter(self) -> None:
        said = await self.app.push_screen_wait(Ask("Show what has this in its name:", self.filter))
        if said is not None:
            self.filter = said.strip()
            self.update_figures()

    def action_sort(self, by: int) -> None:
        choices = columns.sortable(self._columns)
        at = choices.index(self.by) if self.by in choices else 0
        self.by = choices[(at + by) % len(choices)]
        self.update_figures()

    def action_reverse(self) -> None:
        self.is_reversed = not self.is_reversed
        self.update_figures()

    def action_groups(self) -> None:
        self.has_groups = not self.has_groups
        if self.by not in columns.sortable(self._columns):
            self.by = TROUBLE
        self.update_figures()

    @work(exclusive=True, group="ask")
    async def action_db(self) -> None:
        said = await self.app.push_screen_wait(Ask("Which database?", str(self.feed.db)))
        if said is None:
            return
        if not said.strip().isdecimal():
            self.say(f"{said!r} is no number of a database")
            return
        self.watch_feed.wanted_db = int(said)
        self.watch_feed.look_now()
