"""One stream: what is known of it, and its groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.widget import Widget

from penstock.top import cells
from penstock.top.actions import Target
from penstock.top.columns import OF_ONE_STREAM, TROUBLE, in_order
from penstock.top.screens.grid import Grid
from penstock.top.screens.grids import BoardGrid
from penstock.top.screens.group import GroupScreen
from penstock.top.screens.live import LiveScreen, Watch


class StreamScreen(LiveScreen):
    """The groups of one stream, by trouble."""

    BINDINGS: ClassVar[list[BindingType]] = []
    acts = "pRmt"
    more_keys = (("enter", "open"), ("escape", "back"))

    def __init__(self, watch: Watch, key: bytes) -> None:
        super().__init__(watch)
        self.key = key
        self._grid = BoardGrid("groups", "no groups")

    def body(self) -> Widget:
        return self._grid

    def show_figures(self) -> None:
        rows = in_order(self.feed.board.groups(self.key), TROUBLE)
        self._grid.show_rows(rows, OF_ONE_STREAM, TROUBLE)

    def state(self) -> Iterator[str]:
        row = self.feed.board.stream(self.key)
        yield f"stream {row.name}" if row else "the stream is no more"

    def about(self) -> Text:
        row = self.feed.board.stream(self.key)
        if row is None:
            return Text()
        stream = row.stream
        said = (
            f"length {cells.count(stream.length)}  bytes {cells.octets(stream.octets)}  "
            f"rate/s {cells.rate(row.rate)} {cells.spark(row.rates, 30)}  "
            f"last id {stream.last_id}  scheduled {cells.count(stream.scheduled)}"
        )
        if stream.policy:
            said += f"\n{' '.join(stream.policy)}"
        return Text(said)

    def target(self) -> Target | None:
        row = self._grid.cursor or self.feed.board.stream(self.key)
        return None if row is None else Target(row)

    def wanted(self) -> Collection[bytes]:
        return (self.key,)

    def on_grid_opened(self, _: Grid.Opened) -> None:
        row = self._grid.cursor
        if row is not None and row.group is not None:
            self.app.push_screen(GroupScreen(self.watch_feed, self.key, row.group.name))
