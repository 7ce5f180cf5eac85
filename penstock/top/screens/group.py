"""One group: its backlog as entries, in four parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from penstock.shown import text
from penstock.top import cells
from penstock.top.actions import Target
from penstock.top.backlog import Backlog, Page, Part
from penstock.top.board import Row
from penstock.top.screens.entry import EntryScreen
from penstock.top.screens.grid import Grid
from penstock.top.screens.grids import EntryGrid
from penstock.top.screens.live import LiveScreen, Watch
from penstock.top.server import LOST

PARTS = tuple(Part)


class GroupScreen(LiveScreen):
    """Entries that are pending, not delivered, dead, or scheduled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(at + 1), f"part({at})", part.value) for at, part in enumerate(PARTS)),
        Binding("tab", "next_part", "next part", priority=True),
        Binding("right_square_bracket", "page(1)", "next page"),
        Binding("left_square_bracket", "page(-1)", "previous page"),
    ]
    acts = "pRancmx"
    more_keys = (("1-4", "part"), ("[ ]", "page"), ("enter", "open"))

    def __init__(self, watch: Watch, key: bytes, group: bytes) -> None:
        super().__init__(watch)
        self.key, self.group = key, group
        self.part = Part.PENDING
        self.page: Page | None = None
        self._starts = [""]  # what each page so far begins after
        self._backlog = Backlog(watch.feed.server, key, group)
        self._grid = EntryGrid("entries")

    def body(self) -> Widget:
        return self._grid

    @property
    def row(self) -> Row | None:
        return self.feed.board.group(self.key, self.group)

    def show_figures(self) -> None:
        if not self.watch_feed.is_paused or self.page is None:
            self._load()
        self._show_page()

    def _show_page(self) -> None:
        page = self.page
        if page is None:
            self._grid.show_entries(self.part, (), "looking ...")
        else:
            self._grid.show_entries(page.part, page.entries, page.why_not or "nothing")

    @work(exclusive=True, group="page")
    async def _load(self) -> None:
        """Ask for the entries of this page. If the server is lost, the last ones stay."""
        row = self.row
        if row is None or row.group is None:
            return
        part, group = self.part, row.group
        try:
            page = await self._backlog.page(
                part, self._starts[-1], group.last_delivered_id, group.dead_letter
            )
        except LOST:
            return
        if part is self.part and self._is_there:
            self.page = page
            self._show_page()

    def state(self) -> Iterator[str]:
        row = self.row
        yield f"stream {text(self.key)}"
        yield f"group {text(self.group)}" if row else "the group is no more"
        if len(self._starts) > 1:
            yield f"page {len(self._starts)}"

    def about(self) -> Text:
        row = self.row
        if row is None or row.group is None:
            return Text()
        group = row.group
        said = Text(
            f"consumers {cells.count(group.consumers)}  last delivered {group.last_delivered_id}"
        )
        if group.policy:
            said.append(f"\n{' '.join(group.policy)}")
        if row.trouble.words:
            said.append(f"\n{', '.join(row.trouble.words)}", style="bold")
        said.append("\n")
        for at, part in enumerate(PARTS):
            chosen = part is self.part
            said.append(f" {at + 1} ", style="bold")
            said.append(f" {part.value} {self._count(part, row)} ", "reverse" if chosen else "")
        return said

    def _count(self, part: Part, row: Row) -> str:
        if part is Part.DEAD:
            return cells.count(row.dead) if row.has_dead else ""
        number = {
            Part.PENDING: row.pending,
            Part.WAITING: row.lag,
            Part.SCHEDULED: row.stream.scheduled,
        }[part]
        return cells.count(number)

    def target(self) -> Target | None:
        row, entry = self.row, self._grid.cursor
        if row is None:
            return None
        can_be_chosen = entry is not None and self.part is not Part.SCHEDULED
        return Target(row, entry if can_be_chosen else None)

    def wanted(self) -> Collection[bytes]:
        return (self.key,)

    def on_grid_opened(self, _: Grid.Opened) -> None:
        entry, row = self._grid.cursor, self.row
        if entry is not None and row is not None:
            self.app.push_screen(EntryScreen(self.watch_feed, row, entry, self.part))

    # ------------------------------------------------------------------ keys

    def action_part(self, at: int) -> None:
        self.part, self.page, self._starts = PARTS[at], None, [""]
        self.notice = ""
        self.update_figures()

    def action_next_part(self) -> None:
        self.action_part((PARTS.index(self.part) + 1) % len(PARTS))

    def action_page(self, by: int) -> None:
        page = self.page
        if by > 0 and page is not None and page.has_more and page.last_id:
            self._starts.append(page.last_id)
        elif by < 0 and len(self._starts) > 1:
            self._starts.pop()
        else:
            self.say("there is no such page")
            return
        self.page = None
        self.update_figures()
