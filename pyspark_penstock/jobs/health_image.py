"""The health of groups as a PNG, drawn with Pillow: the table, then the charts."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import accumulate

from PIL import Image, ImageDraw, ImageFont

from pyspark_penstock.jobs.health import GroupHealth
from pyspark_penstock.jobs.health_charts import (
    COLUMNS,
    NAMES,
    Chart,
    charts,
    lags,
    name_of,
    shortened,
    texts,
)

MOST_GROUPS = 40  # a larger picture is of no use, and its memory grows with its area

SIZE, LINE, MARGIN = 26, 44, 48  # pixels: twice those of the page, for high-resolution screens
CHART, LABEL, BAR = 1120, 400, 28
PAPER, INK, RULE, BLUE, RED = "#ffffff", "#222222", "#cccccc", "#3572b0", "#c0392b"
FONT = ImageFont.load_default(SIZE)
TITLE = ImageFont.load_default(SIZE * 3 // 2)


def png(groups: Sequence[GroupHealth], when: str) -> bytes:
    """The picture at the time *when*, of at most MOST_GROUPS groups: those with most to do."""
    worst = sorted(groups, key=lambda group: -((group.lag or 0) + group.pending))[:MOST_GROUPS]
    shown = [group for group in groups if group in worst]
    left_out = len(groups) - len(shown)
    title = f"Consumer groups, {when}" + (f", and {left_out:,} more" if left_out else "")
    data = BytesIO()
    Sheet(shown).draw(title).save(data, "PNG", optimize=True)
    return data.getvalue()


class Sheet:
    """One picture, drawn from top to bottom."""

    def __init__(self, groups: Sequence[GroupHealth]) -> None:
        self._rows = [COLUMNS, *map(texts, groups)]
        self._sections = [("", [lags(groups)]), *((name_of(g), charts(g)) for g in groups)]
        self._sections = [(name, drawn) for name, drawn in self._sections if drawn]
        columns = zip(*self._rows, strict=True)
        self._widths = [max(map(FONT.getlength, texts)) + MARGIN for texts in columns]
        self._top = MARGIN

    def draw(self, title: str) -> Image.Image:
        """The whole picture."""
        image = Image.new("RGB", (self._width(), self._height()), PAPER)
        self._pen = ImageDraw.Draw(image)
        self._pen.text((MARGIN, self._top), title, INK, TITLE)
        self._top += 2 * LINE
        for row in self._rows:
            self._table_row(row)
        for name, drawn in self._sections:
            self._section(name, drawn)
        return image

    def _width(self) -> int:
        beside = max(len(drawn) for _, drawn in self._sections)
        return 2 * MARGIN + max(int(sum(self._widths)), beside * (CHART + MARGIN))

    def _height(self) -> int:
        tables = 2 + len(self._rows)
        sections = sum(4 + max(len(chart.bars) for chart in drawn) for _, drawn in self._sections)
        return 2 * MARGIN + (tables + sections) * LINE

    def _table_row(self, row: Sequence[str]) -> None:
        ends = list(accumulate(self._widths, initial=float(MARGIN)))
        for at, text in enumerate(row):
            left = at < NAMES
            place = (ends[at] if left else ends[at + 1] - MARGIN / 2, self._top)
            self._pen.text(place, text, INK, FONT, anchor="la" if left else "ra")
        bottom = self._top + LINE - 8
        self._pen.line((MARGIN, bottom, ends[-1], bottom), RULE, 2)
        self._top += LINE

    def _section(self, name: str, drawn: Sequence[Chart]) -> None:
        self._top += LINE
        if name:
            self._pen.text((MARGIN, self._top), name, INK, TITLE)
            self._top += LINE * 3 // 2
        for at, chart in enumerate(drawn):
            self._chart(chart, MARGIN + at * (CHART + MARGIN))
        self._top += LINE * (1 + max(len(chart.bars) for chart in drawn))

    def _chart(self, chart: Chart, left: int) -> None:
        self._pen.text((left, self._top), chart.title, INK, FONT)
        start, room = left + LABEL, CHART - LABEL - 2 * MARGIN
        for at, (label, value) in enumerate(chart.bars, 1):
            top = self._top + at * LINE
            end = start + room * value / chart.most
            self._pen.text((start - 16, top), shortened(label), INK, FONT, anchor="ra")
            self._pen.rectangle((start, top, end, top + BAR), RED if chart.bad else BLUE)
            self._pen.text((end + 12, top), f"{value:,}", INK, FONT)
