"""A table that draws only the lines that are seen: 10,000 rows cost what 40 cost.

Line 0 has the titles, and stays. The cursor stays on its row, wherever new figures move it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

T = TypeVar("T")

TITLES = Style(bold=True)
SORTED = Style(bold=True, underline=True)
PLAIN = Style()
CURSOR = Style(reverse=True)


@dataclass(frozen=True, slots=True)
class Head:
    """The title of a column, and how wide it is."""

    title: str
    width: int
    is_right: bool = False
    is_sorted: bool = False


class Grid(ScrollView, Generic[T], can_focus=True):
    """Rows in columns, with a cursor."""

    DEFAULT_CSS = """
    Grid { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "move_page(-1)", "page up", show=False),
        Binding("pagedown", "move_page(1)", "page down", show=False),
        Binding("home", "move_to(0)", "first", show=False),
        Binding("end", "move_to(-1)", "last", show=False),
        Binding("enter", "open", "open", show=False),
    ]

    class Opened(Message):
        """The row under the cursor shall be shown by itself."""

    class Moved(Message):
        """The cursor stands on another row."""

    def __init__(self, name: str, empty: str = "nothing") -> None:
        super().__init__(id=name)
        self.rows: Sequence[T] = ()
        self.heads: Sequence[Head] = ()
        self.empty = empty  # what is said if there are no rows
        self._at = 0
        self._cursor_key: Hashable = None

    # ------------------------------------------------------------------ what a table defines

    @abstractmethod
    def key_of(self, row: T) -> Hashable:
        """What tells *row* from others."""

    @abstractmethod
    def cells_of(self, row: T) -> Sequence[str]:
        """One text for each head."""

    def style_of(self, row: T) -> Style:
        """The colour of a row."""
        return PLAIN

    # ------------------------------------------------------------------ rows and cursor

    def show(self, rows: Sequence[T], heads: Sequence[Head]) -> None:
        """These are the rows now. The cursor goes where its row has gone."""
        self.rows, self.heads = rows, heads
        width = sum(head.width + 2 for head in heads)
        self.virtual_size = Size(max(0, width - 2), len(rows) + 1)
        at = next(
            (at for at, row in enumerate(rows) if self.key_of(row) == self._cursor_key), self._at
        )
        has_moved = at != self._at
        self._at = max(0, min(at, len(rows) - 1))
        self._remember()
        if has_moved:
            self._reveal()
        self.refresh()

    @property
    def cursor(self) -> T | None:
        """The row under the cursor."""
        return self.rows[self._at] if self._at < len(self.rows) else None

    @property
    def seen(self) -> Sequence[T]:
        """The rows that are on the screen."""
        top = int(self.scroll_y)
        return self.rows[top : top + max(1, self.size.height - 1)]

    def action_move(self, by: int) -> None:
        self._go(self._at + by)

    def action_move_page(self, by: int) -> None:
        self._go(self._at + by * max(1, self.size.height - 2))

    def action_move_to(self, at: int) -> None:
        self._go(at if at >= 0 else len(self.rows) + at)

    def action_open(self) -> None:
        if self.cursor is not None:
            self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """A click chooses a row; a second one opens it."""
        at = int(self.scroll_y) + event.y - 1
        if event.y == 0 or not 0 <= at < len(self.rows):
            return
        is_second = event.chain == 2
        self._go(at)
        if is_second:
            self.action_open()

    def _go(self, at: int) -> None:
        self._at = max(0, min(at, len(self.rows) - 1))
        self._remember()
        self._reveal()
        self.refresh()
        self.post_message(self.Moved())

    def _remember(self) -> None:
        row = self.cursor
        if row is not None:
            self._cursor_key = self.key_of(row)

    def _reveal(self) -> None:
        """Scroll so that the cursor's row is seen below the titles."""
        height = max(1, self.size.height - 1)
        top = int(self.scroll_y)
        if self._at < top:
            top = self._at
        elif self._at >= top + height:
            top = self._at - height + 1
        self.scroll_to(y=top, animate=False, immediate=True)

    # ------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        """One line of what is seen."""
        width = self.size.width
        if y == 0:
            return self._strip([head.title for head in self.heads], None, width)
        at = int(self.scroll_y) + y - 1
        if at >= len(self.rows):
            said = f"  {self.empty}" if not self.rows and y == 1 else ""
            return Strip([Segment(said.ljust(width)[:width], self.rich_style)])
        row = self.rows[at]
        style = self.style_of(row)
        if at == self._at:
            style += CURSOR
        return self._strip(self.cells_of(row), style, width)

    def _strip(self, cells: Sequence[str], style: Style | None, width: int) -> Strip:
        """*style* of a row; None: these are the titles."""
        segments = []
        for head, cell in zip(self.heads, cells, strict=True):
            chosen = style
            if chosen is None:
                chosen = SORTED if head.is_sorted else TITLES
            part = cell if len(cell) <= head.width else cell[: head.width - 1] + "…"
            part = part.rjust(head.width) if head.is_right else part.ljust(head.width)
            segments += [Segment(part, chosen), Segment("  ", style or PLAIN)]
        left = int(self.scroll_x)
        strip = Strip(segments[:-1]).crop_extend(left, left + width, style)
        return strip.apply_style(self.rich_style)
